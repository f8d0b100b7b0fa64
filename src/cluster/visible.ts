import { merged, type Range } from '../lib/ranges.ts'

/** Documents of the cluster that no search may show: those that a write in hand, a crash or a reorganisation left there. */
export interface Hidden {
  /** Least and greatest number of the batches that wrote them. */
  batches: Range
  /** Only those of blocks above this one; -1: all. */
  above: number
  /** Only those of blocks up to this one. */
  below?: number
  /** Tokens are shown all the same: one document of each is written again and again. */
  butTokens?: true
}

/** What of a network's documents a search sees at a moment. */
export interface Visible {
  hidden: readonly Hidden[]
  /** Blocks whose documents are all there, ascending, merged. */
  ranges: readonly Range[]
}

export const visibleOf = (hidden: readonly Hidden[], ranges: readonly Range[]): Visible => ({
  hidden,
  ranges: merged([...ranges]),
})
