/**
 * Hands over the values of an object that may have any members, as Elasticsearch's `flattened` does: without steps all of them, and with
 * steps those that stand right there. Lists on the way are gone through, null is no value, and an object is none either.
 */
export const eachLeaf = (value: unknown, steps: readonly string[], found: (leaf: unknown) => void, step = 0): void => {
  if (value === null || value === undefined) return
  if (Array.isArray(value)) {
    for (const element of value) eachLeaf(element, steps, found, step)
    return
  }
  if (typeof value !== 'object') {
    if (step === steps.length) found(value)
    return
  }
  // Names come from outside.
  if (step < steps.length) {
    const name = steps[step]!
    if (Object.hasOwn(value, name)) eachLeaf((value as Record<string, unknown>)[name], steps, found, step + 1)
  } else if (steps.length === 0) for (const inner of Object.values(value)) eachLeaf(inner, steps, found)
}
