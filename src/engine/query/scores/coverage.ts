import type { Run, SearchRequest } from '../../../query/request.ts'
import type { Reader, Segment } from '../../reader.ts'
import { type Numbered, ordinalsWithin } from '../fields/ordinals.ts'

/** The documents that scores are counted from: those of all blocks, or of some. */
export interface Coverage {
  /** The same for the same blocks. */
  text: string
  of(segment: Segment): 'all' | 'none' | 'some'
  /** Where it is some of a segment: ordinals, each from one up to and without another. */
  ordinals(segment: Segment, numbered: Numbered): Run[]
  /** Numbers of blocks; undefined: all. */
  blocks: readonly Run[] | undefined
}

export const coverageOf = (within: SearchRequest['within'], reader: Reader): Coverage => {
  if (within === undefined) return EVERYTHING
  const runsIn = ({ first, last }: Segment) => within.filter(([from, to]) => from <= last && to >= first)
  return {
    text: within.map(run => run.join('-')).join(),
    blocks: within,
    of(segment) {
      const runs = runsIn(segment)
      if (runs.length === 0) return 'none'
      return runs.some(([from, to]) => from <= segment.first && to >= segment.last) ? 'all' : 'some'
    },
    ordinals(segment, numbered) {
      const header = reader.header(segment)
      return runsIn(segment).map((one): Run => [...ordinalsWithin(header, numbered, one)])
    },
  }
}

const EVERYTHING: Coverage = { text: '', blocks: undefined, of: () => 'all', ordinals: () => [] }

/** How many of some ordinals lie in runs of them. */
export const countIn = (ordinals: Uint32Array, runs: readonly Run[]): number => {
  let count = 0
  for (const ordinal of ordinals) for (const [from, to] of runs) if (ordinal >= from && ordinal < to) count++
  return count
}
