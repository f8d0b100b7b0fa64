/** A seeded generator: the same demo chain comes out of every recording. */
export interface Random {
  /** At least 0, below 1. */
  next(): number
  /** Both ends included. */
  int(low: number, high: number): number
  chance(probability: number): boolean
  pick<T>(list: readonly T[]): T
  /** Picks a key by its weight. */
  weighted<T extends string>(weights: Record<T, number>): T
  /** A part of a whole, spread evenly over orders of magnitude, cut to three digits as people do. */
  part(whole: bigint, low: number, high: number): bigint
}

/** Mulberry32. */
export const createRandom = (seed: number): Random => {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (low: number, high: number) => low + Math.floor(next() * (high - low + 1))
  return {
    next,
    int,
    chance: probability => next() < probability,
    pick: list => list[int(0, list.length - 1)]!,
    weighted(weights) {
      const entries = Object.entries(weights) as [keyof typeof weights, number][]
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
      for (const [key, weight] of entries) {
        left -= weight
        if (left < 0) return key
      }
      return entries[0]![0]
    },
    part(whole, low, high) {
      const factor = low * (high / low) ** next()
      const exact = (whole * BigInt(Math.round(factor * 1e9))) / 1_000_000_000n
      const unit = 10n ** BigInt(Math.max(0, exact.toString().length - 3))
      return (exact / unit) * unit
    },
  }
}
