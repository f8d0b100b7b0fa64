import type { SearchRequest, Slice } from '../../../query/request.ts'
import type { SegmentHeader } from '../../index/segment.ts'
import type { Plan } from '../plan/plan.ts'

/** The blocks in which a search looks, whatever it asks for; all of them where nothing is said. */
export type Among = Pick<SearchRequest, 'within' | 'slice'>

/** Whether all that a query matches is found. */
export const isEverywhere = ({
  within,
  slice,
  terminateAfter,
}: Among & Pick<SearchRequest, 'terminateAfter'>): boolean =>
  within === undefined && slice === undefined && terminateAfter === undefined

/** What a plan finds in these blocks. */
export const among = ({ within, slice }: Among, plan: Plan): Plan => {
  const of: Plan[] = [
    ...(within ? [{ by: 'blocks' as const, runs: within.map(([from, to]): [number, number] => [from, to]) }] : []),
    ...(slice ? [{ by: 'headers' as const, test: inSlice(slice) }] : []),
    plan,
  ]
  return of.length === 1 ? plan : { by: 'and', of }
}

/** Neighbouring blocks are in slices that have nothing to do with each other. */
const inSlice =
  ({ id, max }: Slice) =>
  ({ first }: SegmentHeader, index: number): boolean => {
    const mixed = Math.imul(first + index, 0x9e3779b1)
    return ((mixed ^ (mixed >>> 15)) >>> 0) % max === id
  }
