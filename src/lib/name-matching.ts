/** Compiles a glob with `*` for any characters; a regular expression could be slow (ReDoS). */
export const compileGlob = (pattern: string): ((name: string) => boolean) => {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return name => name === pattern
  const least = first.length + last.length
  return name => {
    if (name.length < least || !name.startsWith(first) || !name.endsWith(last)) return false
    let at = first.length
    const end = name.length - last.length
    for (const part of rest) {
      const found = name.indexOf(part, at)
      if (found < 0 || found + part.length > end) return false
      at = found + part.length
    }
    return true
  }
}

export const matchesGlob = (name: string, pattern: string): boolean => compileGlob(pattern)(name)

/** Whether a name matches any pattern. All patterns without `*` cost one look-up. */
export const compileGlobs = (patterns: Iterable<string>): ((name: string) => boolean) => {
  const names = new Set(patterns)
  const tests = [...names].filter(name => name.includes('*')).map(compileGlob)
  return name => names.has(name) || tests.some(fits => fits(name))
}

/**
 * Nearest name in any letter case; undefined if more than a third of the letters differ. A swap of
 * neighbours counts as one difference.
 */
export const nearestName = (name: string, known: Iterable<string>): string | undefined => {
  const asked = name.toLowerCase()
  let best: string | undefined
  let least = Math.max(1, Math.floor(asked.length / 3)) + 1
  for (const candidate of known) {
    const differences = editDistance(asked, candidate.toLowerCase(), { most: least - 1, transpositions: true })
    if (differences < least) [best, least] = [candidate, differences]
  }
  return best
}

/** Suggestion to append to a sentence: ` Did you mean "x"?`, or nothing. */
export const didYouMean = (name: string, known: Iterable<string>): string => {
  const best = nearestName(name, known)
  return best === undefined ? '' : ` Did you mean "${best}"?`
}

export interface DistanceOptions {
  /** Greater distances are infinite. */
  most: number
  /** Whether a swap of neighbours is one edit, not two. */
  transpositions: boolean
}

/**
 * Levenshtein distance, or optimal string alignment with `transpositions`. Compares UTF-16 units
 * of a text; `Array.from` splits it into characters.
 */
export const editDistance = (
  a: ArrayLike<string>,
  b: ArrayLike<string>,
  { most, transpositions }: DistanceOptions,
): number => {
  if (Math.abs(a.length - b.length) > most) return Number.POSITIVE_INFINITY
  const width = b.length + 1
  let older = new Array<number>(width).fill(Number.POSITIVE_INFINITY)
  let row = Array.from({ length: width }, (_, j) => j)
  let next = new Array<number>(width)
  for (let i = 1; i <= a.length; i++) {
    // Cells further than `most` from the diagonal exceed the limit.
    const first = Math.max(1, i - most)
    const last = Math.min(b.length, i + most)
    next.fill(Number.POSITIVE_INFINITY)
    if (i <= most) next[0] = i
    let least = next[0]!
    for (let j = first; j <= last; j++) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (same ? 0 : 1))
      if (transpositions && i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, older[j - 2]! + 1)
      next[j] = cost
      if (cost < least) least = cost
    }
    // Paths with a swap pass this row too, at no higher cost.
    if (least > most) return Number.POSITIVE_INFINITY
    ;[older, row, next] = [row, next, older]
  }
  const found = row[b.length]!
  return found <= most ? found : Number.POSITIVE_INFINITY
}
