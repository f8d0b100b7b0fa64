/**
 * The known name that a misspelt one most likely meant, or undefined where none is near: at most a third of the letters
 * may differ, a swap of neighbours counting as one difference. Letter case is no difference.
 */
export const nearest = (name: string, known: Iterable<string>): string | undefined => {
  const asked = name.toLowerCase()
  let best: string | undefined
  let least = Math.max(1, Math.floor(asked.length / 3)) + 1
  for (const candidate of known) {
    if (Math.abs(candidate.length - asked.length) >= least) continue
    const distance = differences(asked, candidate.toLowerCase())
    if (distance < least) [best, least] = [candidate, distance]
  }
  return best
}

/** ` Did you mean "x"?`, or nothing where no known name is near: to be appended to a sentence. */
export const didYouMean = (name: string, known: Iterable<string>): string => {
  const best = nearest(name, known)
  return best === undefined ? '' : ` Did you mean "${best}"?`
}

/** Optimal string alignment distance: insertions, deletions, replacements and swaps of neighbours. */
const differences = (a: string, b: string): number => {
  let older: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, older[j - 2]! + 1)
      next.push(cost)
    }
    ;[older, row] = [row, next]
  }
  return row[b.length]!
}
