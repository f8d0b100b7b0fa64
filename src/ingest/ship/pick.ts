import { gapsIn, type Range } from '../../lib/ranges.ts'

/** Blocks of which a batch takes as many as it has room for. */
export const MOST_BLOCKS = 4_096

/**
 * The blocks that are shipped next, lowest first: of the head, which begins at `headFrom`, before those of a back-fill. Undefined where all that are held are
 * there. Lists of ranges ascend.
 */
export const pickRun = (held: readonly Range[], there: readonly Range[], headFrom: number): Range | undefined => {
  const gaps = held.flatMap(({ from, to }) => gapsIn(there, from, to))
  const ofHead = gaps.find(({ to }) => to >= headFrom)
  if (ofHead) return cut({ from: Math.max(ofHead.from, headFrom), to: ofHead.to })
  return gaps[0] && cut(gaps[0])
}

const cut = ({ from, to }: Range): Range => ({ from, to: Math.min(to, from + MOST_BLOCKS - 1) })
