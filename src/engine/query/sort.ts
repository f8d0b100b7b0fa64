import { asJson, long } from '../../documents/show.ts'
import { type FieldPath, KINDS, type Kind } from '../../mapping/index.ts'
import { compareValues, type Value } from '../../query/ast.ts'
import { valuesOf } from '../../query/predicate.ts'
import type { SearchRequest, Sort } from '../../query/request.ts'
import { asFloat } from '../../query/similarity.ts'
import type { Reader, Segment } from '../reader.ts'
import { blockOf } from '../schema.ts'
import type { Documents } from './documents.ts'
import { INEXACT, recordReader } from './field-values.ts'
import { numberedAs, ordinalOfPosition, segmentAt } from './places.ts'
import type { Scoring } from './score/scoring.ts'
import {
  BLOCK_NUMBERS,
  extreme,
  type Key,
  type KeyColumn,
  type KeyReader,
  keyReader,
  shownReader,
} from './sort-keys.ts'

/** A match on its way to become a hit. */
export interface Found {
  kind: Kind
  position: number
  /** What it is sorted by, beside its position. */
  keys: (Key | null)[]
  /** 1 where nothing else is said; where scores differ, once it is known. */
  score?: number
}

export interface SortKeys {
  /** Whether the order is that of the chain, perhaps with another one within each block. */
  chain: boolean
  /** Whether the first key is the time, which several blocks may share. */
  byTime: boolean
  descending: boolean
  /** Compares by keys, where positions do not say it all. */
  compare: ((a: Found, b: Found) => number) | undefined
  /** Reads the keys of matches, of one segment where it is named. */
  fill(found: readonly Found[], segment?: Segment): void
  /** The column of the first key, where it is a number that one holds. */
  column(kind: Kind): KeyColumn | undefined
  /** The first sort, by which columns order. */
  first: Sort | undefined
  /** Whether there is no other: of equal keys positions decide. */
  single: boolean
}

const CHAIN_FIELDS = new Set([...BLOCK_NUMBERS, 'timestamp'])

/** Where one of the kinds does not have the field, all of its documents come first or last. */
const followsChain = ({ by, fields }: Sort, parts: Order['parts']): boolean =>
  by === '_doc' || (by === 'field' && parts.every(({ kind }) => CHAIN_FIELDS.has(fields[kind]?.path ?? '')))

/**
 * Where scores are all the same, sorting by them orders nothing, and neither does a field that no kind has. Nor does sorting once more by
 * what was sorted by before.
 */
const effective = (sort: readonly Sort[], isScored: boolean): Sort[] => {
  const seen = new Set<string>()
  return sort.filter(({ by, fields }) => {
    if (by === '_score' ? !isScored : by !== '_doc' && Object.keys(fields).length === 0) return false
    const key = KINDS.map(kind => fields[kind]?.path ?? by).join()
    return !seen.has(key) && seen.add(key)
  })
}

export type Order = Pick<SearchRequest, 'sort' | 'parts'>

export const isChainOrder = ({ sort, parts }: Order): boolean => {
  const [first] = effective(
    sort,
    parts.some(({ score }) => score !== undefined),
  )
  return first === undefined || followsChain(first, parts)
}

/** Without a sort, the newest comes first. */
export const sortKeysOf = (
  { sort, parts }: Order,
  reader: Reader,
  documents: Documents,
  scoring?: Scoring,
): SortKeys => {
  const sorts = effective(sort, scoring !== undefined && scoring.uniform === undefined)
  const first = sorts[0]
  const descending = first === undefined || first.order === 'desc'
  const column = () => undefined
  // One key that follows the chain, or one that no other can refine, is the position itself.
  if (first === undefined || first.by === '_doc' || (sorts.length === 1 && followsChain(first, parts)))
    return { chain: true, byTime: false, descending, compare: undefined, fill: () => {}, column, first, single: true }
  const readers = new Map(
    KINDS.map((kind): [Kind, KeyReader[]] => [
      kind,
      sorts.map((sort, i) => keyReader(kind, sort, { reader, documents, scoring, last: i === sorts.length - 1 })),
    ]),
  )
  /** Of keys that are the same double the integers are compared. */
  const compareExactly = (a: Found, b: Found, i: number): number => {
    const [left, right] = [a, b].map(({ kind, position }) => readers.get(kind)![i]!.exact?.(position))
    return left === undefined || right === undefined ? 0 : compareKeys(left, right, sorts[i]!)
  }
  return {
    chain: followsChain(first, parts),
    byTime: followsChain(first, parts) && Object.values(first.fields).some(({ field }) => field === 'timestamp'),
    descending,
    first,
    single: sorts.length === 1,
    column: kind => readers.get(kind)![0]!.column,
    compare: (a, b) => {
      for (let i = 0; i < sorts.length; i++) {
        const [left, right] = [a.keys[i] ?? null, b.keys[i] ?? null]
        const difference =
          compareKeys(left, right, sorts[i]!) || (isDoubtful(left) && isDoubtful(right) ? compareExactly(a, b, i) : 0)
        if (difference !== 0) return difference
      }
      return 0
    },
    fill(found, segment) {
      for (const [kind, some] of Map.groupBy(found, ({ kind }) => kind))
        for (const [at, here] of segment ? [[segment, some] as const] : bySegment(some, reader))
          readKeys(here, at, readers.get(kind)!, reader)
    },
  }
}

/** A number that may stand for several integers. */
const isDoubtful = (key: Key | null): boolean => typeof key === 'number' && key >= INEXACT

const bySegment = (found: readonly Found[], reader: Reader): Map<Segment, Found[]> => {
  const groups = new Map<Segment, Found[]>()
  let segment: Segment | undefined
  for (const one of found) {
    const block = blockOf(one.position)
    if (!segment || block < segment.first || block > segment.last) segment = segmentAt(one.position, reader)!
    const group = groups.get(segment)
    if (group) group.push(one)
    else groups.set(segment, [one])
  }
  return groups
}

/** Keys that are read between two looks at whether to go on. */
const READ = 0xf

const readKeys = (found: readonly Found[], segment: Segment, readers: readonly KeyReader[], reader: Reader) => {
  const header = reader.header(segment)
  const reads = readers.map(keys => keys.in(segment))
  for (const [i, { kind, position, keys }] of found.entries()) {
    if ((i & READ) === 0) reader.check()
    const ordinal = ordinalOfPosition(header, numberedAs(kind), position)
    for (const read of reads) keys.push(read(ordinal, position))
  }
}

export const bySortKeys =
  ({ compare, descending }: Pick<SortKeys, 'compare' | 'descending'>) =>
  (a: Found, b: Found): number =>
    compare?.(a, b) ||
    (descending ? -1 : 1) * (a.position - b.position || KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind))

/** What a hit's `sort` shows, as Elasticsearch writes it: dates in milliseconds, and a stand-in for what is missing. */
export const sortValues = (sort: readonly Sort[], from: ValuesFrom): ((found: Found) => unknown[]) => {
  const readers = sort.map(({ order }) => {
    const byKind = new Map<Kind, (position: number) => Value | undefined>()
    return (kind: Kind, field: FieldPath, position: number) => {
      const read = byKind.get(kind) ?? valueReader(kind, field, order, from)
      byKind.set(kind, read)
      return missingOr(read(position), field, order)
    }
  })
  return ({ kind, position, score = 1 }) =>
    sort.map(({ by, fields, order }, i) => {
      if (by === '_score') return asFloat(score)
      if (by === '_doc') return position
      const field = fields[kind]
      if (!field) return missingValue(Object.values(fields)[0], order)
      return BLOCK_NUMBERS.has(field.path) ? blockOf(position) : readers[i]!(kind, field, position)
    })
}

interface ValuesFrom {
  documents: Documents
  reader: Reader
}

const missingOr = (value: Value | undefined, field: FieldPath, order: Sort['order']): unknown => {
  if (value === undefined) return missingValue(field, order)
  if (field.compare === 'integer') return String(value)
  return typeof value === 'bigint' ? long(value, asJson) : value
}

/** Reads the value that a document is sorted by, from a header, a column or its record, or else from all of it. */
const valueReader = (
  kind: Kind,
  field: FieldPath,
  order: Sort['order'],
  { documents, reader }: ValuesFrom,
): ((position: number) => Value | undefined) => {
  const inSegment = shownReader(kind, field, reader)
  const inRecord = recordReader(kind, field, reader)
  return position => {
    const segment = inSegment && segmentAt(position, reader)
    if (inSegment && segment) {
      const ordinal = ordinalOfPosition(reader.header(segment), numberedAs(kind), position)
      const value = inSegment(segment, ordinal, position)
      if (value !== 'unknown') return value
    }
    if (inRecord) return inRecord(position)
    const [document] = documents.load(kind, [position])
    return document && extreme(valuesOf(field, document._source), order)
  }
}

/** What stands for a missing value in a hit's `sort`. */
export const missingValue = (field: FieldPath | undefined, order: Sort['order']): unknown => {
  const last = order === 'asc'
  switch (field?.compare) {
    case 'long':
    case 'instant':
      return asJson(last ? 2n ** 63n - 1n : -(2n ** 63n))
    case 'double':
      return last ? 'Infinity' : '-Infinity'
    default:
      return null
  }
}

const compareKeys = (a: Key | null, b: Key | null, { order, missing }: Sort): number => {
  if (a === null || b === null) return a === b ? 0 : (a === null) === (missing === '_first') ? -1 : 1
  const difference = compareValues(a, b)
  return order === 'desc' ? -difference : difference
}
