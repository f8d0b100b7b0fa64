import { distance } from './distance.ts'

/**
 * The known name that a misspelt one most likely meant, or undefined where none is near: at most a third of the letters
 * may differ, a swap of neighbours counting as one difference. Letter case is no difference.
 */
export const nearest = (name: string, known: Iterable<string>): string | undefined => {
  const asked = name.toLowerCase()
  let best: string | undefined
  let least = Math.max(1, Math.floor(asked.length / 3)) + 1
  for (const candidate of known) {
    const differences = distance(asked, candidate.toLowerCase(), { most: least - 1, transpositions: true })
    if (differences < least) [best, least] = [candidate, differences]
  }
  return best
}

/** ` Did you mean "x"?`, or nothing where no known name is near: to be appended to a sentence. */
export const didYouMean = (name: string, known: Iterable<string>): string => {
  const best = nearest(name, known)
  return best === undefined ? '' : ` Did you mean "${best}"?`
}
