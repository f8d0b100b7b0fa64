import { asJson, formatLong } from '../../../documents/show.ts'
import type { FieldPath, Kind } from '../../../mapping/index.ts'
import type { QueryValue } from '../../../query/ast.ts'
import { hasImplicitKey, numberOfPlace } from '../../../query/hits/paging.ts'
import { type StandInSort, sortDateWriter, standInOf, standsForMissing } from '../../../query/hits/sort-value.ts'
import type { After, ChainPlace, SearchRequest, SortSpec } from '../../../query/request.ts'
import { asFloat } from '../../../query/statistics.ts'
import type { StoreReader } from '../../reader.ts'
import { blockOf } from '../../schema.ts'
import { type Documents, fieldValues } from '../documents.ts'
import { recordReader } from '../fields/field-values.ts'
import { idReader } from '../fields/find-by-id.ts'
import { numberedAs, ordinalOfPosition, segmentAt } from '../fields/ordinals.ts'
import type { SearchMatch } from '../search-match.ts'
import { BLOCK_NUMBERS, extreme, shownReader } from './sort-keys.ts'
import { chosenReader } from './sort-mode.ts'

type SortedRequest = Pick<SearchRequest, 'sort' | 'parts' | 'tiebreak'>

/** A hit, with its score unless that is 1. */
type Scored = Pick<SearchMatch, 'kind' | 'position' | 'score'>

export interface ValuesFrom {
  documents: Documents
  /** Undefined where documents hold all values. */
  reader: StoreReader | undefined
}

/** A hit's `sort` as in Elasticsearch: dates in milliseconds, stand-ins for missing values. */
export const sortValues = (request: SortedRequest, from: ValuesFrom): ((one: Scored) => unknown[]) => {
  const valuesAt = rawValues(request, from)
  const { sort, parts, tiebreak } = request
  const kinds = parts.map(({ kind }) => kind)
  const shows = sort.map(sortShowing)
  const isImplicit = hasImplicitKey(sort, tiebreak)
  return one => {
    const shown: unknown[] = valuesAt(one).map((value, i) =>
      sort[i]!.by === '_shard_doc' ? shardDoc(one, kinds) : shows[i]!(value),
    )
    if (isImplicit) shown.push(shardDoc(one, kinds))
    return shown
  }
}

/** Cursor after this hit. */
export const cursorAfter = (request: SortedRequest, last: Scored, from: ValuesFrom): After => ({
  values: comparedValues(request, from)(last),
  place: { kind: last.kind, position: last.position },
})

/** Sort values of a hit; null where missing. */
export const comparedValues = (request: SortedRequest, from: ValuesFrom): ((one: Scored) => (QueryValue | null)[]) => {
  const valuesAt = rawValues(request, from)
  return one =>
    valuesAt(one).map((value, i) => (value === undefined || standsForMissing(value, request.sort[i]!) ? null : value))
}

/** Beyond 2^53 JavaScript would round it, so it is written as text, which is also accepted. */
export const shardDoc = (place: ChainPlace, kinds: readonly Kind[]): number | string => {
  const number = numberOfPlace(place, kinds)
  return number <= Number.MAX_SAFE_INTEGER ? Number(number) : String(number)
}

/** Formats a value for a hit's `sort`; undefined stands for missing. */
export const sortShowing = (sort: SortSpec): ((value: QueryValue | undefined) => unknown) => {
  const { format, fields, as } = sort
  const print = format === undefined ? undefined : sortDateWriter(format, as)
  const isWide = Object.values(fields)[0]?.compare === 'integer'
  const missing = missingValue(sort)
  return value => {
    if (value === undefined) return missing
    if (print && (typeof value === 'number' || typeof value === 'bigint')) return print(value)
    if (typeof value === 'boolean') return Number(value)
    if (typeof value === 'bigint') return isWide ? String(value) : formatLong(value, asJson)
    return value
  }
}

const rawValues = ({ sort, parts }: SortedRequest, from: ValuesFrom): ((one: Scored) => (QueryValue | undefined)[]) => {
  const kinds = parts.map(({ kind }) => kind)
  const readers = sort.map(one => {
    const byKind = new Map<Kind, (position: number) => QueryValue | undefined>()
    return (kind: Kind, position: number) => {
      const read = byKind.get(kind) ?? sortValueReader(kind, one, from)
      byKind.set(kind, read)
      return read(position)
    }
  })
  return one =>
    sort.map(({ by }, i) => {
      if (by === '_score') return asFloat(one.score ?? 1)
      if (by === '_doc') return one.position
      if (by === '_shard_doc') return numberOfPlace(one, kinds)
      return readers[i]!(one.kind, one.position)
    })
}

const sortValueReader = (
  kind: Kind,
  sort: SortSpec,
  from: ValuesFrom,
): ((position: number) => QueryValue | undefined) => {
  if (sort.by === '_id') return idReader(kind, from)
  const { fields, order, missing } = sort
  const field = fields[kind]
  const instead = typeof missing === 'string' ? undefined : missing.value
  if (!field) return () => instead
  const chosen = chosenReader(kind, sort, from.documents)
  if (!chosen && BLOCK_NUMBERS.has(field.path)) return blockOf
  const read = chosen ?? fieldValueReader(kind, field, order, from)
  return position => read(position) ?? instead
}

/** Reads a sort value from a header, column or record, or else from the whole document. */
const fieldValueReader = (
  kind: Kind,
  field: FieldPath,
  order: SortSpec['order'],
  { documents, reader }: ValuesFrom,
): ((position: number) => QueryValue | undefined) => {
  const values = fieldValues(kind, field, documents)
  const inDocument = (position: number) => extreme(values(position), order)
  if (!reader) return inDocument
  const inSegment = shownReader(kind, field, reader)
  const inRecord = recordReader(kind, field, reader)
  return position => {
    const segment = inSegment && segmentAt(position, reader)
    if (inSegment && segment) {
      const ordinal = ordinalOfPosition(reader.header(segment), numberedAs(kind), position)
      const value = inSegment(segment, ordinal, position)
      if (value !== 'unknown') return value
    }
    return inRecord ? inRecord(position) : inDocument(position)
  }
}

/** Stand-in for a missing value: for numbers, the end of their range that sorts last, or first. */
export const missingValue = (sort: StandInSort & Pick<SortSpec, 'format'>): unknown => {
  const standIn = standInOf(sort)
  if (typeof standIn === 'number') return String(standIn)
  if (typeof standIn !== 'bigint') return null
  return sort.format === undefined ? asJson(standIn) : sortDateWriter(sort.format, sort.as)(standIn)
}
