import { gapsIn, mergeRanges, type Range } from '../../lib/ranges.ts'
import type { ShipContext } from './context.ts'

/** Blocks that are stored and not shipped, and which of them go next. `whole`: blocks that are stored whole. */
export const createBacklog = ({ partial, visible }: Pick<ShipContext, 'partial' | 'visible'>, whole: () => Range[]) => {
  /** Of the head since the start. */
  let headFrom = Number.POSITIVE_INFINITY
  /** Blocks of the head came since it was last looked what goes next. */
  let hasHead = false
  /** All that are stored, whole or in part. */
  const ranges = () => mergeRanges([...whole(), ...partial.ranges()])

  /** Of scopes the newest first, however many blocks that hold nothing lie between. */
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
    /** What goes after the blocks under way, if anything; a back-fill gives way where blocks of the head came since. */
    next(underWay: Range | undefined) {
      hasHead = false
      const run = pick(mergeRanges([...visible().ranges, ...(underWay ? [underWay] : [])]))
      if (!run) return undefined
      const isFill = run.from < headFrom
      return { run, givesWay: () => isFill && hasHead }
    },
    /** How many there are. */
    count() {
      const { ranges: there } = visible()
      return ranges()
        .flatMap(({ from, to }) => gapsIn(there, from, to))
        .reduce((sum, gap) => sum + partial.count(gap), 0)
    },
  }
}

/** Blocks of which a batch takes as many as it has room for. */
const MAX_BACKLOG_BLOCKS = 4_096

/**
 * The blocks that are shipped next, lowest first: of the head, which begins at `headFrom`, before those of a back-fill. Undefined where all that are held are
 * there. Lists of ranges ascend.
 */
const pickRun = (held: readonly Range[], there: readonly Range[], headFrom: number): Range | undefined => {
  const gaps = held.flatMap(({ from, to }) => gapsIn(there, from, to))
  const ofHead = gaps.find(({ to }) => to >= headFrom)
  if (ofHead) return cut({ from: Math.max(ofHead.from, headFrom), to: ofHead.to })
  return gaps[0] && cut(gaps[0])
}

const cut = ({ from, to }: Range): Range => ({ from, to: Math.min(to, from + MAX_BACKLOG_BLOCKS - 1) })
