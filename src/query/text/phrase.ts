interface Phrase {
  readonly words: readonly string[]
  /** Allowed moves of a word by one place. */
  readonly slop: number
  readonly prefix: boolean
}

export const hasPhrase = (words: readonly string[], phrase: Phrase): boolean => phraseFrequency(words, phrase) > 0

/** Phrase frequency as in Lucene: 1 per exact occurrence, 1 / (1 + moves) per sloppy one. */
export const phraseFrequency = (words: readonly string[], { words: asked, slop, prefix }: Phrase): number => {
  const places = asked.map((word, i) => {
    const fits = prefix && i === asked.length - 1 ? (it: string) => it.startsWith(word) : (it: string) => it === word
    // Places are those where the phrase would begin.
    return words.flatMap((it, at) => (fits(it) ? [at - i] : []))
  })
  if (places.some(list => list.length === 0)) return 0
  return slop === 0 ? exactFrequency(places) : sloppyFrequency(asked, places, slop)
}

const exactFrequency = ([first, ...rest]: readonly number[][]): number => {
  const sets = rest.map(list => new Set(list))
  return first!.filter(start => sets.every(set => set.has(start))).length
}

/**
 * Advances the hindmost word until it passes the next; the narrowest width on the way is a match.
 * Words that occur twice in the phrase do not share a position.
 */
const sloppyFrequency = (asked: readonly string[], places: readonly number[][], slop: number): number => {
  const at = asked.map(() => 0)
  const startOf = (i: number) => places[i]![at[i]!]!
  const isShared = (i: number) =>
    asked.some((word, j) => j < i && word === asked[i] && startOf(i) + i === startOf(j) + j)
  const advance = (i: number): boolean => {
    at[i]!++
    return at[i]! < places[i]!.length
  }
  const separate = (): boolean => {
    for (let i = 0; i < asked.length; i++) while (isShared(i)) if (!advance(i)) return false
    return true
  }
  if (!separate()) return 0
  let frequency = 0
  let greatest = Math.max(...asked.map((_, i) => startOf(i)))
  for (;;) {
    const order = asked.map((_, i) => i).sort((a, b) => startOf(a) - startOf(b) || a - b)
    const [least, next = least] = order as [number, number?]
    const limit = startOf(next)
    let width = greatest - startOf(least)
    let goesOn = advance(least) && separate()
    while (goesOn) {
      greatest = Math.max(greatest, startOf(least))
      if (startOf(least) > limit) break
      width = Math.min(width, greatest - startOf(least))
      goesOn = advance(least) && separate()
    }
    if (width <= slop) frequency += 1 / (1 + width)
    if (!goesOn) return frequency
  }
}
