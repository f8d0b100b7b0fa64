import type { Blocks } from '../engine/port.ts'
import type { FinalityTag } from '../rules/rule.ts'

/** A block as a node names it. */
export interface MarkedBlock {
  number: number
  /** Lower-case block hash. */
  hash: string
}

/** The newest blocks that nodes tell to be safe and finalized; null where no node has such a tag. */
export interface FinalityMarks extends Readonly<Record<FinalityTag, MarkedBlock | null>> {
  /** Blocks above one that stand in for a mark which no node tells. */
  depth: number
}

export interface MarksOptions {
  blocks: Pick<Blocks, 'hash' | 'floor'>
  /** Number of the newest stored block. */
  newest(): number
}

/** How far the marks reach in what is stored. */
export type Marks = ReturnType<typeof createMarks>

/**
 * A mark counts once its block is the stored one: until then what is stored may be of another branch. It never goes back but with the
 * blocks, so that a node that lags takes nothing back. Of a block that was pruned the hash is not known any more; it was the stored one then.
 */
export const createMarks = ({ blocks, newest }: MarksOptions) => {
  let told: FinalityMarks | undefined
  const heights: Record<FinalityTag, number> = { safe: -1, finalized: -1 }

  const raise = (tag: FinalityTag) => {
    const mark = told?.[tag]
    if (!mark || mark.number <= heights[tag]) return
    if (mark.number < blocks.floor() || blocks.hash(mark.number) === mark.hash) heights[tag] = mark.number
  }

  return {
    tell(marks: FinalityMarks) {
      told = marks
    },
    /** All blocks above this one were removed. */
    lost(to: number) {
      for (const tag of ['safe', 'finalized'] as const) heights[tag] = Math.min(heights[tag], to)
    },
    /** The highest stored block that each mark holds for; none of those that hold for no block. */
    reached(): [FinalityTag, number][] {
      if (!told) return []
      raise('safe')
      raise('finalized')
      const deep = newest() - told.depth
      // A finalized block is safe, and none that is not safe yet is finalized, whichever of both is told.
      const finalized = told.finalized ? heights.finalized : told.safe ? Math.min(deep, heights.safe) : deep
      const safe = told.safe ? Math.max(heights.safe, finalized) : Math.max(deep, finalized)
      const all: [FinalityTag, number][] = [
        ['safe', safe],
        ['finalized', finalized],
      ]
      return all.filter(([, height]) => height >= 0)
    },
  }
}
