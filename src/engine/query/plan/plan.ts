import type { Kind } from '../../../mapping/index.ts'
import type { Node } from '../../../query/ast.ts'
import type { BlockSlice, SearchRequest } from '../../../query/request.ts'
import type { SegmentHeader } from '../../index/segment.ts'
import type { StoreReader } from '../../reader.ts'
import type { ColumnSource, FieldCondition } from '../fields/field-values.ts'
import type { ColumnCondition } from './column-conditions.ts'
import type { Nested } from './nested.ts'

/**
 * A query on one kind, ready to run on each segment: names and addresses are dictionary ids, and
 * each leaf names its access path, cheapest first.
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
  /** Documents of blocks whose header passes a test; `index` is the block's index in it. */
  | { by: 'headers'; test(header: SegmentHeader, index: number): boolean }
  /** Logs or traces of transactions, by the transactions' positions. */
  | { by: 'transactions'; positions: number[] }
  | { by: 'terms'; terms: { term: number; fingerprint: number }[] }
  /** Logs of these signatures. */
  | { by: 'signatures'; ids: ReadonlySet<number> }
  /** Logs emitted by these addresses (dictionary ids), optionally of these signatures only. */
  | { by: 'emitters'; addresses: number[]; signatures: ReadonlySet<number> | undefined }
  /** A range of terms with one fingerprint, filtered by `accept`. */
  | { by: 'termRange'; first: number; last: number; fingerprint: number; accept(term: number): boolean }
  /** Logs with an argument that fulfils conditions, optionally of these signatures only. */
  | { by: 'nested'; nested: Nested; signatures: ReadonlySet<number> | undefined }
  /** Documents with `min` to `max` matching children. */
  | { by: 'children'; kind: Kind; of: Plan; min: number; max: number }
  /** Documents whose parent matches. */
  | { by: 'parent'; kind: Kind; of: Plan }
  /** Documents whose column value fulfils a condition; in doubt the document is read. */
  | { by: 'columns'; source: ColumnSource; condition: ColumnCondition; node: FieldCondition }
  /** Documents are read and tested, since neither index nor column decides. */
  | { by: 'documents'; node: Node }

export const EVERYTHING: Plan = { by: 'all' }
export const NO_DOCUMENTS: Plan = { by: 'none' }

/** Plans a condition on one field; undefined where no special plan exists. */
export type Planner = (leaf: FieldCondition, reader: StoreReader) => Plan | undefined

/** Blocks that a search is limited to; all blocks by default. */
export type Among = Pick<SearchRequest, 'within' | 'slice'>
/** Whether a query matches every document. */
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
/** Neighbouring blocks are in unrelated slices. */
const sliceTest =
  ({ id, max }: BlockSlice) =>
  ({ first }: SegmentHeader, index: number): boolean => {
    const mixed = Math.imul(first + index, 0x9e3779b1)
    return ((mixed ^ (mixed >>> 15)) >>> 0) % max === id
  }
