import { firstHolding } from '../../../lib/arrays.ts'
import type { Kind } from '../../../mapping/index.ts'
import type { QueryValue } from '../../../query/ast.ts'
import { placeOfNumber } from '../../../query/hits/paging.ts'
import type { After, BlockRun, SortSpec } from '../../../query/request.ts'
import { blockAt } from '../../index/segment.ts'
import type { StoreReader } from '../../reader.ts'
import { blockOf, PLACES_PER_BLOCK } from '../../schema.ts'
import { INEXACT } from '../fields/field-values.ts'
import { comparePlaces, isByPlace, type MatchKey, type SearchMatch } from '../search-match.ts'
import type { SortOrder } from './sort.ts'
import type { KeyReader } from './sort-keys.ts'

/** Start of a page: after the last hit of the one before. */
export interface SearchAfter {
  /** Whether a match belongs after the cursor; its keys are already read. */
  has(found: SearchMatch): boolean
  /** Set where sort order follows the chain. */
  blocks: BlockRuns | undefined
  /** First key of the cursor. */
  keyOf(kind: Kind): MatchKey | null
}

/** Blocks that may hold the first hits of a page, and blocks after those. */
interface BlockRuns {
  here: BlockRun
  beyond: BlockRun
}

const NO_BLOCKS: BlockRun = [0, -1]

/** Nothing follows. */
export const NOTHING_BEHIND: SearchAfter = {
  has: () => false,
  blocks: { here: NO_BLOCKS, beyond: NO_BLOCKS },
  keyOf: () => null,
}

interface ByKeys {
  after: After
  sorts: readonly SortSpec[]
  order: SortOrder
  readers: ReadonlyMap<Kind, readonly KeyReader[]>
  reader: StoreReader
  compareKeys(a: MatchKey | null, b: MatchKey | null, sort: SortSpec): number
  descending: boolean
  isChain: boolean
}

export const createBehindKeys = ({
  after,
  sorts,
  order,
  readers,
  reader,
  compareKeys,
  descending,
  isChain,
}: ByKeys): SearchAfter => {
  const { values, place } = after
  const keys = new Map(
    order.parts.map(({ kind }) => [
      kind,
      values.map((value, i) => (value === null ? null : readers.get(kind)![i]!.keyOf(value))),
    ]),
  )
  return {
    has(found) {
      const own = keys.get(found.kind)!
      for (const [i, sort] of sorts.entries()) {
        const left = found.keys[i] ?? null
        const right = own[i]!
        const isDoubtful = typeof right === 'bigint' && typeof left === 'number' && left >= INEXACT
        const exact = isDoubtful ? readers.get(found.kind)![i]!.exact?.(found.position) : undefined
        const difference = compareKeys(exact ?? left, right, sort)
        if (difference !== 0) return difference > 0
      }
      return place !== undefined && comparePlaces(found, place, descending) > 0
    },
    blocks: isChain ? blocksAt(values[0]!, sorts[0]!, order, reader) : undefined,
    keyOf: kind => keys.get(kind)?.[0] ?? null,
  }
}

interface ByPlace {
  after: After
  first: SortSpec | undefined
  order: SortOrder
  reader: StoreReader
}

/** For sorts by position alone. */
export const createBehindPlace = ({ after, first, order, reader }: ByPlace): SearchAfter => {
  const descending = first === undefined || first.order === 'desc'
  const value = after.values[0]
  const isShardDoc = first?.by === '_shard_doc' && value !== null && value !== undefined
  const place = isShardDoc
    ? placeOfNumber(
        BigInt(value),
        order.parts.map(({ kind }) => kind),
      )
    : after.place
  const blocks = blocksOf()
  const { here } = blocks
  return {
    has(found) {
      if (first?.by === '_doc' && value !== null && value !== undefined && found.position !== Number(value))
        return found.position < Number(value) === descending
      const block = blockOf(found.position)
      if (block < here[0] || block > here[1]) return isInRun(block, blocks.beyond)
      return place !== undefined && comparePlaces(found, place, descending) > 0
    },
    blocks,
    keyOf: () => null,
  }

  function blocksOf(): BlockRuns {
    if (!first) return around(place ? blockOf(place.position) : -1, descending)
    return isShardDoc ? around(blockOf(place!.position), descending) : blocksAt(value ?? null, first, order, reader)
  }
}

const isInRun = (block: number, [from, to]: BlockRun): boolean => block >= from && block <= to

const around = (block: number, descending: boolean): BlockRuns => ({
  here: [block, block],
  beyond: descending ? [0, block - 1] : [block + 1, Number.POSITIVE_INFINITY],
})

/** Blocks for a first key that follows the chain; missing values sort last or first. */
const blocksAt = (
  value: QueryValue | null,
  { by, fields, order, missing, as }: SortSpec,
  { parts }: SortOrder,
  reader: StoreReader,
): BlockRuns => {
  const descending = order === 'desc'
  if (value === null)
    return { here: NO_BLOCKS, beyond: missing === '_first' ? [0, Number.POSITIVE_INFINITY] : NO_BLOCKS }
  const number = Number(value)
  if (isByPlace({ by })) return around(Math.floor(number / PLACES_PER_BLOCK), descending)
  if (fields[parts[0]!.kind]!.field !== 'timestamp') return around(number, descending)
  const seconds = number / (as === 'date_nanos' ? 1e9 : 1000)
  const from = firstBlock(reader, time => time >= seconds)
  const end = firstBlock(reader, time => time > seconds)
  return { here: [from, end - 1], beyond: descending ? [0, from - 1] : [end, Number.POSITIVE_INFINITY] }
}

/** First stored block from which on the condition holds; infinite if it never does. */
const firstBlock = (reader: StoreReader, holds: (time: number) => boolean): number => {
  const segments = reader.segments()
  const at = firstHolding(segments.length, i => holds(reader.header(segments[i]!).times.at(-1)!))
  const segment = segments[at]
  if (!segment) return Number.POSITIVE_INFINITY
  const header = reader.header(segment)
  const { times } = header
  return blockAt(
    header,
    firstHolding(times.length, i => holds(times[i]!)),
  )
}
