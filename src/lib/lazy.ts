/** Makes a value when it is first asked for: a start pays for nothing that it does not use. */
export const lazy = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** Makes a value of each key when it is first asked for, and remembers `most` of them: then it begins anew. */
export const remembered = <K, V extends NonNullable<unknown> | null>(
  most: number,
  make: (key: K) => V,
): ((key: K) => V) => {
  const known = new Map<K, V>()
  return key => {
    let value = known.get(key)
    if (value === undefined) {
      value = make(key)
      if (known.size >= most) known.clear()
      known.set(key, value)
    }
    return value
  }
}
