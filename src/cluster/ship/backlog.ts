import { gapsIn, mergeRanges, type Range } from '../../lib/ranges.ts'
import type { ShipContext } from './context.ts'

/** Stored blocks that are not shipped yet, and their order. `whole`: blocks stored in full. */
export const createBacklog = ({ partial, visible }: Pick<ShipContext, 'partial' | 'visible'>, whole: () => Range[]) => {
  /** Lowest block of the head since the start. */
  let headFrom = Number.POSITIVE_INFINITY
  /** Whether blocks of the head arrived since the last `next`. */
  let hasHead = false
  /** All stored blocks, whole or partial. */
  const ranges = () => mergeRanges([...whole(), ...partial.ranges()])

  /** Runs of scopes come last, newest first, with any number of empty blocks in between. */
  const pick = (there: readonly Range[]): Range | undefined => {
    const ofScopes = () => partial.ranges().flatMap(({ from, to }) => gapsIn(there, from, to))
    return pickRun(whole(), there, headFrom) ?? ofScopes().at(-1)
  }

  return {
    ranges,
    /** Blocks from this one on were written; those of the head go before others. */
    wrote(first: number, isHead: boolean) {
      if (!isHead) return
      headFrom = Math.min(headFrom, first)
      hasHead = true
    },
    /** Blocks to ship after those under way. A back-fill gives way to new blocks of the head. */
    next(underWay: Range | undefined) {
      hasHead = false
      const run = pick(mergeRanges([...visible().ranges, ...(underWay ? [underWay] : [])]))
      if (!run) return undefined
      const isFill = run.from < headFrom
      return { run, givesWay: () => isFill && hasHead }
    },
    /** Number of stored blocks that are not shipped yet. */
    count() {
      const { ranges: there } = visible()
      return ranges()
        .flatMap(({ from, to }) => gapsIn(there, from, to))
        .reduce((sum, gap) => sum + partial.count(gap), 0)
    },
  }
}

/** Most blocks of a run, of which a batch takes as many as it has room for. */
const MAX_BACKLOG_BLOCKS = 4_096

/**
 * Blocks to ship next, lowest first: the head, which begins at `headFrom`, before back-fill.
 * Undefined if all stored blocks are there. Lists of ranges ascend.
 */
const pickRun = (held: readonly Range[], there: readonly Range[], headFrom: number): Range | undefined => {
  const gaps = held.flatMap(({ from, to }) => gapsIn(there, from, to))
  const ofHead = gaps.find(({ to }) => to >= headFrom)
  if (ofHead) return cut({ from: Math.max(ofHead.from, headFrom), to: ofHead.to })
  return gaps[0] && cut(gaps[0])
}

const cut = ({ from, to }: Range): Range => ({ from, to: Math.min(to, from + MAX_BACKLOG_BLOCKS - 1) })
