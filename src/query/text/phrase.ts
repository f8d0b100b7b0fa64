interface Phrase {
  readonly words: readonly string[]
  /** Allowed moves of a word by one place. */
  readonly slop: number
  readonly prefix: boolean
}

export const hasPhrase = (words: readonly string[], phrase: Phrase): boolean => phraseFrequency(words, phrase) > 0

/** Phrase frequency as in Lucene: 1 per exact occurrence, 1 / (1 + moves) by proximity (slop). */
export const phraseFrequency = (words: readonly string[], phrase: Phrase): number => {
  const { words: asked, slop } = phrase
  const places = startsOf(words, phrase)
  if (places.some(list => list.length === 0)) return 0
  return slop === 0 ? exactStarts(places).length : sloppyFrequency(asked, places, slop)
}

/** Of each word of the phrase, the places where the phrase would begin. */
const startsOf = (words: readonly string[], { words: asked, prefix }: Phrase): number[][] =>
  asked.map((word, i) => {
    const fits = prefix && i === asked.length - 1 ? (it: string) => it.startsWith(word) : (it: string) => it === word
    return words.flatMap((it, at) => (fits(it) ? [at - i] : []))
  })

/**
 * Places of the words that make up the phrase, as Lucene marks them: with slop, any words that
 * stand close enough, in any order, even where the phrase matches elsewhere.
 */
export const phrasePlaces = (words: readonly string[], phrase: Phrase): number[] => {
  const starts = startsOf(words, phrase)
  if (starts.some(list => list.length === 0)) return []
  if (phrase.slop === 0) return exactStarts(starts).flatMap(start => starts.map((_, i) => start + i))
  const queues = starts.map((list, i) => list.map(start => start + i))
  const found = new Set<number>()
  for (;;) {
    const heads = queues.map(queue => queue[0]!)
    const least = Math.min(...heads)
    if (Math.max(...heads) - least + 1 - heads.length <= phrase.slop) for (const head of heads) found.add(head)
    const hindmost = queues[heads.indexOf(least)]!
    hindmost.shift()
    if (hindmost.length === 0) return [...found]
  }
}

const exactStarts = ([first, ...rest]: readonly number[][]): number[] => {
  const sets = rest.map(list => new Set(list))
  return first!.filter(start => sets.every(set => set.has(start)))
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
  let greatest = Math.max(...asked.map((_, i) => startOf(i)))
  const advance = (i: number): boolean => {
    at[i]!++
    if (at[i]! >= places[i]!.length) return false
    greatest = Math.max(greatest, startOf(i))
    return true
  }
  const separate = (): boolean => {
    for (let i = 0; i < asked.length; i++) while (isShared(i)) if (!advance(i)) return false
    return true
  }
  if (!separate()) return 0
  let frequency = 0
  for (;;) {
    const order = asked.map((_, i) => i).sort((a, b) => startOf(a) - startOf(b) || a - b)
    const [least, next = least] = order as [number, number?]
    const limit = startOf(next)
    let width = greatest - startOf(least)
    let goesOn = advance(least) && separate()
    while (goesOn) {
      if (startOf(least) > limit) break
      width = Math.min(width, greatest - startOf(least))
      goesOn = advance(least) && separate()
    }
    if (width <= slop) frequency += 1 / (1 + width)
    if (!goesOn) return frequency
  }
}
