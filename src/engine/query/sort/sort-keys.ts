import { coinAmount, rawHex } from '../../../documents/show.ts'
import type { FieldPath, Kind } from '../../../mapping/index.ts'
import { compareValues, type QueryValue } from '../../../query/ast.ts'
import { numberOfPlace } from '../../../query/hits/paging.ts'
import { standInOf } from '../../../query/hits/sort-value.ts'
import type { SortSpec } from '../../../query/request.ts'
import { GREATEST_LONG } from '../../../query/simplify.ts'
import { valueReader } from '../../documents/record-values.ts'
import type { ColumnBounds } from '../../index/column-cache.ts'
import { type ColumnData, MISSING, valueAt } from '../../index/column-codec.ts'
import { indexFrom } from '../../index/segment.ts'
import type { Segment, StoreReader } from '../../reader.ts'
import { blockOf } from '../../schema.ts'
import { type Documents, fieldValues } from '../documents.ts'
import {
  columnSource,
  INEXACT,
  interpreterOf,
  isInexactNumber,
  LONGS_END,
  recordReader,
} from '../fields/field-values.ts'
import { idReader } from '../fields/find-by-id.ts'
import { isRowKind, numberedAs, viewOf } from '../fields/ordinals.ts'
import { sparseReader } from '../fields/row-kinds.ts'
import { isShared } from '../plan/column-conditions.ts'
import type { SearchScoring } from '../scores/scoring.ts'
import type { MatchKey } from '../search-match.ts'
import { chosenReader } from './sort-mode.ts'

export interface KeyReader {
  /** Reads the keys of a segment's documents; null for missing values. */
  in(segment: Segment): (ordinal: number, position: number) => MatchKey | null
  /** The exact integer of a key, where keys are integers rounded to doubles. */
  exact?(position: number): bigint
  /** Set where keys are numbers of a column, to find the first few without sorting all. */
  column?: KeyColumn
  /** The key of a value from a hit's `sort`; integers beyond double precision stay unchanged. */
  keyOf(value: QueryValue): MatchKey
}

export interface KeyColumn {
  /** Undefined where no document of the segment has the field. */
  bounds(segment: Segment): ColumnBounds | undefined
  data(segment: Segment): ColumnData | undefined
  /** Numbers above this are not keys. */
  greatest: number
  /** Whether numbers have fractions. */
  fractions?: true
}

export interface KeyOptions {
  reader: StoreReader
  documents: Documents
  /** Whether no further key breaks ties. */
  last: boolean
  /** Whether to distinguish a missing value from one that sorts equally. */
  apart?: boolean
  /** Set where scores differ. */
  scoring?: SearchScoring | undefined
  /** Kinds of the search. */
  kinds: readonly Kind[]
}

interface ColumnOptions extends Omit<KeyOptions, 'kinds'> {
  /** Value that sorts like a missing one. */
  standIn: ReturnType<typeof standInOf>
}

/** Fields that follow the chain. */
export const BLOCK_NUMBERS: ReadonlySet<string> = new Set(['number.num', 'blockNumber.num', 'firstSeen.num'])

export const keyReader = (kind: Kind, sort: SortSpec, options: KeyOptions): KeyReader => {
  const { missing } = sort
  if (typeof missing === 'string') return plainReader(kind, sort, options)
  // The stand-in for missing values is compared in the form that queries use.
  const plain = plainReader(kind, sort, { ...options, last: false })
  const instead = plain.keyOf(missing.value)
  return {
    ...plain,
    in(segment) {
      const read = plain.in(segment)
      return (ordinal, position) => read(ordinal, position) ?? instead
    },
  }
}

const asItIs = (value: QueryValue): MatchKey => value

const plainReader = (kind: Kind, sort: SortSpec, options: KeyOptions): KeyReader => {
  const { by, fields, order } = sort
  const { reader, documents, last } = options
  const field = fields[kind]
  if (by === '_doc') return { in: () => (_, position) => position, keyOf: asItIs }
  if (by === '_shard_doc')
    return {
      in: () => (_, position) => numberOfPlace({ kind, position }, options.kinds),
      keyOf: asItIs,
    }
  if (by === '_id') {
    const idOf = idReader(kind, options)
    return { in: () => (_, position) => idOf(position) ?? null, keyOf: asItIs }
  }
  if (by === '_score')
    return options.scoring ? scoreKeys(kind, options.scoring) : { in: () => () => null, keyOf: asItIs }
  if (!field) return { in: () => () => null, keyOf: asItIs }
  const standIn = options.apart ? undefined : standInOf(sort)
  const known = (value: QueryValue | undefined): MatchKey | null =>
    value === undefined || value === standIn ? null : value
  const chosen = chosenReader(kind, sort, documents)
  if (chosen) return { in: () => (_, position) => known(chosen(position)), keyOf: asItIs }
  if (BLOCK_NUMBERS.has(field.path)) return { in: () => (_, position) => blockOf(position), keyOf: asItIs }
  if (field.field === 'timestamp')
    return {
      in(segment) {
        const header = reader.header(segment)
        return (_, position) => header.times[indexFrom(header, blockOf(position))]!
      },
      keyOf: value => Number(value) / 1000,
    }
  const column = columnReader(kind, field, { ...options, standIn })
  if (column) return column
  const ofRow = isRowKind(kind) ? sparseReader(kind, field, reader) : undefined
  const ofRecord =
    field.encoding === 'coin' && last ? storedInteger(kind, field, reader) : recordReader(kind, field, reader)
  const values = ofRow ?? fieldValues(kind, field, documents)
  const key = ofRecord ?? (position => extreme(values(position), order))
  return { in: () => (_, position) => known(key(position)), keyOf: asItIs }
}

const scoreKeys = (kind: Kind, scoring: SearchScoring): KeyReader => ({
  in(segment) {
    const scores = scoring.in(kind, segment)
    return ordinal => scores[ordinal]!
  },
  column: {
    bounds: () => ({ least: 0, greatest: Number.POSITIVE_INFINITY }),
    data(segment) {
      const values = scoring.in(kind, segment)
      return { count: values.length, width: 8, values, base: 0, dictionary: undefined, bytes: values.byteLength }
    },
    greatest: Number.POSITIVE_INFINITY,
    fractions: true,
  },
  keyOf: value => Math.fround(Number(value)),
})

/** The least of several values in ascending order, the greatest in descending order. */
export const extreme = (values: readonly QueryValue[], order: SortSpec['order']): QueryValue | undefined =>
  values.reduce<QueryValue | undefined>((best, value) => {
    if (best === undefined) return value
    return compareValues(value, best) < 0 === (order === 'asc') ? value : best
  }, undefined)

const columnReader = (
  kind: Kind,
  field: FieldPath,
  { reader, documents, last, standIn }: ColumnOptions,
): KeyReader | undefined => {
  const source = columnSource(kind, field, reader)
  if (!source) return undefined
  const numbered = numberedAs(kind)
  const keyOf = keyMaker(kind, field, { reader, documents, last, standIn })
  const numbersIn = (segment: Segment): ((ordinal: number) => number) => {
    const data = source.data(viewOf(segment, numbered, reader))
    return data ? ordinal => valueAt(data, ordinal) : () => MISSING
  }
  const column: KeyColumn = {
    bounds: segment => source.bounds(viewOf(segment, numbered, reader)),
    data: segment => source.data(viewOf(segment, numbered, reader)),
    // Integers beyond 64 bits have none.
    greatest: isLong(field) ? LONGS_END : Number.POSITIVE_INFINITY,
  }
  return {
    in(segment) {
      const numberAt = numbersIn(segment)
      return (ordinal, position) => {
        const number = numberAt(ordinal)
        return number === MISSING ? null : keyOf(number, position)
      }
    },
    ...(isNumeric(field, last) && { column, exact: position => exactInteger(kind, field, position, reader) }),
    keyOf: isNumeric(field, last) ? numericKey : asItIs,
  }
}

/** Whether keys are the column's numbers themselves, in order. */
const isNumeric = ({ kind, encoding }: FieldPath, last: boolean): boolean =>
  kind === 'boolean' ||
  kind === 'long' ||
  encoding === 'num' ||
  encoding === 'dec' ||
  encoding === 'padded' ||
  // Amounts that are equal as doubles are equal coins, so another key decides.
  (encoding === 'coin' && last)

const numericKey = (value: QueryValue): MatchKey => {
  if (typeof value === 'boolean') return Number(value)
  const integer = BigInt(value)
  return integer < INEXACT && integer > -INEXACT ? Number(integer) : integer
}

const isLong = ({ encoding }: FieldPath): boolean => encoding === 'num'

/** Creates the key of a column number. */
const keyMaker = (
  kind: Kind,
  field: FieldPath,
  { reader, documents, last, standIn }: ColumnOptions,
): ((number: number, position: number) => MatchKey | null) => {
  const integer = (number: number, position: number): number | bigint =>
    number < INEXACT ? number : exactInteger(kind, field, position, reader)
  if (isNumeric(field, last)) {
    if (!isLong(field)) return number => number
    return (number, position) => {
      if (number < LONGS_END) return number
      if (number > LONGS_END) return null
      const exact = integer(number, position)
      return exact <= GREATEST_LONG && exact !== standIn ? number : null
    }
  }
  if (field.encoding === 'coin') return (number, position) => coinAmount(integer(number, position))
  if (field.kind === 'keyword' || field.kind === 'text') return reader.name
  if (field.kind === 'address' || field.kind === 'hex') {
    const interpret = interpreterOf(field, reader)
    const values = fieldValues(kind, field, documents)
    return (number, position) => {
      if (field.kind === 'address' || !isShared(number, reader)) return interpret(number) ?? null
      return values(position)[0] ?? null
    }
  }
  return (number, position) => rawHex(integer(number, position))
}

const exactInteger = (kind: Kind, field: FieldPath, position: number, reader: StoreReader): bigint =>
  BigInt(storedInteger(kind, field, reader)?.(position) ?? 0)

/** Integers order amounts as coins do, and take less time to read. */
const storedInteger = (kind: Kind, { field }: FieldPath, { records }: StoreReader) => {
  const read = valueReader(kind, field, records)
  return read && ((position: number) => (read(position) as number | bigint | null | undefined) ?? undefined)
}

/** A field's value as shown in `sort`; `unknown` where neither column nor header has it. */
export const shownReader = (
  kind: Kind,
  field: FieldPath,
  reader: StoreReader,
): ((segment: Segment, ordinal: number, position: number) => QueryValue | undefined | 'unknown') | undefined => {
  if (field.field === 'timestamp')
    return (segment, _, position) => {
      const header = reader.header(segment)
      return header.times[indexFrom(header, blockOf(position))]! * 1000
    }
  const source = columnSource(kind, field, reader)
  if (!source) return undefined
  const interpret = interpreterOf(field, reader)
  return (segment, ordinal) => {
    const data = source.data(viewOf(segment, numberedAs(kind), reader))
    const number = data ? valueAt(data, ordinal) : MISSING
    if (number === MISSING) return undefined
    if (isInexactNumber(field, number) || (field.kind === 'hex' && isShared(number, reader))) return 'unknown'
    return interpret(number)
  }
}
