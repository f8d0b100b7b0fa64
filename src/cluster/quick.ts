/** Which searches were answered quickly of late, by what they have in common with others. */
export interface Quick {
  is(shape: string): boolean
  /** `ms`: how long the cluster took. */
  saw(shape: string, ms: number, bytes: number): void
}

/** From then on a search is none: others would wait for it. */
const SLOW_MS = 25
/** What an answer takes to be sent and read, beside what the cluster takes to find it. */
const BYTES_PER_MS = 20_000
/** What a slow one still counts with the next one of its shape: a few hundred quick ones may follow one that took seconds. */
const FADING = 0.95
const MOST_SHAPES = 1_000

export const createQuick = (): Quick => {
  /** Those that were asked last stand last. */
  const costs = new Map<string, number>()
  return {
    is: shape => (costs.get(shape) ?? Number.POSITIVE_INFINITY) < SLOW_MS,
    saw(shape, ms, bytes) {
      const before = costs.get(shape)
      if (before !== undefined) costs.delete(shape)
      else if (costs.size >= MOST_SHAPES) costs.delete(costs.keys().next().value!)
      costs.set(shape, Math.max(ms + bytes / BYTES_PER_MS, (before ?? 0) * FADING))
    },
  }
}

/** What searches have in common that differ in the values that they ask for alone. */
export const shapeOf = (path: string, body: string): string => `${path} ${body.replace(VALUES, '$1')}`

/** Numbers and texts; names of members stay. */
const VALUES = /("(?:[^"\\]|\\.)*":)|"(?:[^"\\]|\\.)*"|\d+/g
