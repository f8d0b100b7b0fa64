import type { Mark, Run, Seen } from '../../query/request.ts'
import type { Reader, Segment } from '../reader.ts'
import { positionOf } from '../schema.ts'
import { segmentAt } from './fields/ordinals.ts'

/** Neighbouring blocks at the head of which each is marked: as deep as a reorganisation usually goes. */
const DENSE = 64
/** Hex digits of a hash. */
const DIGITS = 8
/** Runs of blocks that are told apart; of more the smallest holes count as stored. */
const MOST_RUNS = 100

/** The blocks that are stored in the state that the reader sees. */
export const seenNow = (reader: Reader): Seen => seenOf(runsOf(reader.segments()), reader)

/** Blocks, ascending, in the state that the reader sees. */
export const seenOf = (blocks: readonly Run[], reader: Reader): Seen => {
  const runs = closed(blocks)
  return { runs, marks: marksOf(runs.at(-1)?.[1] ?? -1, reader) }
}

/** Every one of the newest blocks, and of older ones ever fewer; what is not stored is left out. */
export const marksOf = (newest: number, reader: Reader): Mark[] => {
  const hashOf = hashReader(reader)
  const marks: Mark[] = []
  for (let depth = 0; depth <= newest; depth = depth < DENSE ? depth + 1 : depth * 2) {
    const hash = hashOf(newest - depth)
    if (hash !== undefined) marks.push([newest - depth, hash])
  }
  return marks
}

/**
 * What is still stored of the blocks that were seen: all up to the newest that is the same. Below the last of the marks nothing is known, and
 * nothing is said to be the same where none of them is.
 */
export const stillThere = ({ runs, marks }: Seen, reader: Reader): Run[] => {
  const top = newestSame(marks, reader)
  return runs.flatMap(([from, to]): Run[] => (from > top ? [] : [[from, Math.min(to, top)]]))
}

/** The newest of some marked blocks that is stored as it was; -1 where none is. */
export const newestSame = (marks: readonly Mark[], reader: Reader): number => {
  const hashOf = hashReader(reader)
  // Below a block that is the same all are.
  return marks.find(([number, hash]) => hashOf(number) === hash)?.[0] ?? -1
}

const hashReader = (reader: Reader): ((number: number) => string | undefined) => {
  const select = reader.prepare('SELECT hash FROM block WHERE number = ?').pluck()
  return number => {
    // Blocks above all segments are none that can be found.
    if (!segmentAt(positionOf(number, 0), reader)) return undefined
    return (select.get(number) as Buffer | undefined)?.toString('hex').slice(0, DIGITS)
  }
}

/** Neighbouring blocks of segments as runs. */
export const runsOf = (segments: readonly Segment[]): Run[] => {
  const runs: [number, number][] = []
  for (const { first, last } of segments) {
    const before = runs.at(-1)
    if (before?.[1] === first - 1) before[1] = last
    else runs.push([first, last])
  }
  return runs
}

const closed = (runs: readonly Run[]): Run[] => {
  if (runs.length <= MOST_RUNS) return [...runs]
  const holes = runs.slice(1).map(([from], i) => from - runs[i]![1])
  const least = holes.toSorted((a, b) => b - a)[MOST_RUNS - 2]!
  const kept: [number, number][] = []
  for (const [i, [from, to]] of runs.entries()) {
    if (i === 0 || (holes[i - 1]! >= least && kept.length < MOST_RUNS)) kept.push([from, to])
    else kept.at(-1)![1] = to
  }
  return kept
}
