import type { Kind } from '../../../mapping/index.ts'
import type { Node } from '../../../query/ast.ts'
import type { BlockSlice, SearchRequest } from '../../../query/request.ts'
import type { SegmentHeader } from '../../index/segment.ts'
import type { StoreReader } from '../../reader.ts'
import type { ColumnSource, FieldCondition } from '../fields/field-values.ts'
import type { ColumnCondition } from './column-conditions.ts'
import type { Nested } from './nested.ts'

/**
 * A query on one kind, ready to be evaluated segment by segment: names and addresses are resolved to dictionary ids, and
 * every leaf says by which means it is found, cheapest first.
 */
export type Plan =
  | { by: 'all' }
  | { by: 'none' }
  | { by: 'and' | 'or'; of: Plan[] }
  | { by: 'atLeast'; count: number; of: Plan[] }
  | { by: 'not'; of: Plan }
  /** Documents at these positions, ascending. */
  | { by: 'positions'; positions: number[] }
  /** Documents of blocks in these runs of block numbers. */
  | { by: 'blocks'; runs: [from: number, to: number][] }
  /** Documents of blocks of which the segment's header fulfils a test; `index` is that of the block. */
  | { by: 'headers'; test(header: SegmentHeader, index: number): boolean }
  /** Logs or traces of transactions, named by the transactions' positions. */
  | { by: 'transactions'; positions: number[] }
  | { by: 'terms'; terms: { term: number; fingerprint: number }[] }
  /** Logs of these signatures. */
  | { by: 'signatures'; ids: ReadonlySet<number> }
  /** Logs that these addresses (dictionary ids) emitted, of certain signatures where they are given. */
  | { by: 'emitters'; addresses: number[]; signatures: ReadonlySet<number> | undefined }
  /** A range of terms with one fingerprint, of which those count that are accepted. */
  | { by: 'termRange'; first: number; last: number; fingerprint: number; accept(term: number): boolean }
  /** Logs one of whose arguments fulfils conditions, of certain signatures where they are given. */
  | { by: 'nested'; nested: Nested; signatures: ReadonlySet<number> | undefined }
  /** Documents of which so many children match. */
  | { by: 'children'; kind: Kind; of: Plan; min: number; max: number }
  /** Documents whose parent matches. */
  | { by: 'parent'; kind: Kind; of: Plan }
  /** Documents whose number in a column fulfils a condition. Where that is in doubt they are asked themselves. */
  | { by: 'columns'; source: ColumnSource; condition: ColumnCondition; node: FieldCondition }
  /** Documents are read and tested: neither an index nor a column knows. */
  | { by: 'documents'; node: Node }

export const EVERYTHING: Plan = { by: 'all' }
export const NO_DOCUMENTS: Plan = { by: 'none' }

/** Plans a condition on one field; undefined where it knows no way of its own. */
export type Planner = (leaf: FieldCondition, reader: StoreReader) => Plan | undefined

/** The blocks in which a search looks, whatever it asks for; all of them where nothing is said. */
export type Among = Pick<SearchRequest, 'within' | 'slice'>
/** Whether all that a query matches is found. */
export const isEverywhere = ({
  within,
  slice,
  terminateAfter,
}: Among & Pick<SearchRequest, 'terminateAfter'>): boolean =>
  within === undefined && slice === undefined && terminateAfter === undefined
/** Limits a plan to these blocks. */
export const among = ({ within, slice }: Among, plan: Plan): Plan => {
  const of: Plan[] = [
    ...(within ? [{ by: 'blocks' as const, runs: within.map(([from, to]): [number, number] => [from, to]) }] : []),
    ...(slice ? [{ by: 'headers' as const, test: sliceTest(slice) }] : []),
    plan,
  ]
  return of.length === 1 ? plan : { by: 'and', of }
}
/** Neighbouring blocks are in slices that have nothing to do with each other. */
const sliceTest =
  ({ id, max }: BlockSlice) =>
  ({ first }: SegmentHeader, index: number): boolean => {
    const mixed = Math.imul(first + index, 0x9e3779b1)
    return ((mixed ^ (mixed >>> 15)) >>> 0) % max === id
  }
