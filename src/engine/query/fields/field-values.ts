import { coinAmount, paddedHex, rawHex } from '../../../documents/show.ts'
import { lowerBound, upperBound } from '../../../lib/arrays.ts'
import { checksumAddress } from '../../../lib/keccak.ts'
import type { FieldPath, Kind } from '../../../mapping/index.ts'
import type { Bounds, Node, QueryValue } from '../../../query/ast.ts'
import { GREATEST_LONG, isWithin, tooLong } from '../../../query/simplify.ts'
import { matcherOf, patternStart } from '../../../query/text/pattern.ts'
import { valueReader } from '../../documents/record-values.ts'
import type { ColumnBounds } from '../../index/column-cache.ts'
import type { ColumnData } from '../../index/column-codec.ts'
import { columnFieldOf } from '../../index/terms.ts'
import type { StoreReader } from '../../reader.ts'
import { endOrdinal, type NumberedKind, numberedAs, partialPlaces, type SegmentView } from './ordinals.ts'
/** A value in a column or record: the id of a dictionary, an integer or a text. */
export type StoredScalar = number | bigint | string | boolean

/**
 * Converts a stored value to the field's query value; undefined if it has none. A signature becomes
 * its first topic or selector.
 */
export const interpreterOf = (
  field: FieldPath,
  reader: StoreReader,
): ((stored: StoredScalar) => QueryValue | undefined) => {
  const { encoding } = field
  const ofText = (text: string) =>
    tooLong(field, text) ? undefined : field.compare === 'hex' ? text.toLowerCase() : text
  switch (field.kind) {
    case 'address': {
      const texts = new Map<StoredScalar, string>()
      return id => {
        let text = texts.get(id)
        if (text === undefined) {
          text = `0x${reader.addressDigits(id as number)}`
          if (encoding === 'raw') text = checksumAddress(text)
          if (texts.size >= MAX_ADDRESS_TEXTS) texts.clear()
          texts.set(id, text)
        }
        return text
      }
    }
    case 'keyword':
    case 'text':
      return id => ofText(reader.name(id as number))
    case 'boolean':
      return stored => stored === true || stored === 1
    case 'double':
      return stored => Number(stored)
    case 'seconds':
    case 'datetime':
      return seconds => Number(seconds) * 1000
    case 'hex':
      return stored =>
        typeof stored === 'number' ? (reader.signature(stored).topic ?? undefined) : ofText(String(stored))
    default:
      return integerReader(encoding, field, ofText)
  }
}

const MAX_ADDRESS_TEXTS = 10_000

const integerReader = (
  encoding: string,
  { compare }: FieldPath,
  ofText: (text: string) => string | undefined,
): ((stored: StoredScalar) => QueryValue | undefined) => {
  switch (encoding) {
    case 'coin':
      return stored => coinAmount(stored as number | bigint)
    case 'dec':
      return stored => BigInt(stored as number | bigint)
    case 'padded':
      return stored => paddedHex(stored as number | bigint)
    case 'raw':
      return stored => rawHex(stored as number | bigint)
    default:
      if (compare !== 'long')
        return stored => ofText(typeof stored === 'string' ? stored : rawHex(stored as number | bigint))
      return stored => ((stored as number | bigint) > GREATEST_LONG ? undefined : BigInt(stored as number | bigint))
  }
}

/** Reads a field from the record at a position; undefined if it needs the whole document. */
export const recordReader = (
  kind: Kind,
  field: FieldPath,
  reader: StoreReader,
): ((position: number) => QueryValue | undefined) | undefined => {
  // A text has several values: its words.
  if (field.kind === 'text' && field.encoding === '') return undefined
  const read = field.list === undefined ? valueReader(kind, field.field, reader.records) : undefined
  if (!read) return undefined
  const interpret = interpreterOf(field, reader)
  return position => {
    const stored = read(position)
    return stored === null || stored === undefined ? undefined : interpret(stored)
  }
}

/** Kinds of fields whose integers a column may hold as the nearest double only. */
const WIDE_KINDS: ReadonlySet<FieldPath['kind']> = new Set(['quantity', 'amount', 'wide'])
/** From here on, a double represents several integers. */
export const INEXACT = 2 ** 53
/** Larger doubles are no longs; this one represents both longs and larger integers. */
export const LONGS_END = 2 ** 63

/** Whether a value of a column represents several integers. */
export const isInexactNumber = ({ kind }: Pick<FieldPath, 'kind'>, value: number): boolean =>
  value >= INEXACT && WIDE_KINDS.has(kind)

/** The values of one field as numbers, segment by segment. */
export interface ColumnSource {
  /** Undefined if no document of the segment has the field. */
  bounds(at: SegmentView): ColumnBounds | undefined
  data(at: SegmentView): ColumnData | undefined
  /** The same numbers by their places in a dictionary, if that is worth building for so many. */
  coded?(at: SegmentView, wanted: number): ColumnData | undefined
  /** Runs of documents with values within bounds, if these take less time than a scan of `data`. */
  between?(at: SegmentView, low: number, high: number): [from: number, to: number][]
}
/** Undefined if neither a column nor the document's place has the field. */
export const columnSource = (kind: Kind, field: FieldPath, reader: StoreReader): ColumnSource | undefined => {
  if (OF_PLACE.has(`${kind}.${field.field}`)) return placeSource(numberedAs(kind))
  const column = columnFieldOf(kind, field)
  return (
    column && {
      bounds: ({ segment }) => reader.columns.bounds(segment, column.number),
      data: ({ segment }) => reader.columns.data(segment, column.number),
      coded: ({ segment, size }, wanted) => reader.columns.coded(segment, column.number, { wanted, size }),
    }
  )
}

/** Fields that are the document's place in its block. */
const OF_PLACE: ReadonlySet<string> = new Set(['tx.transactionIndex', 'log.logIndex', 'event.logIndex'])
const placeSource = (numbered: NumberedKind): ColumnSource => ({
  bounds: () => ANY_BOUNDS,
  data({ header, size }) {
    const values = new Uint32Array(size)
    let ordinal = 0
    for (let index = 0; index < header.times.length; index++) {
      const places = partialPlaces(header, numbered, index)
      const end = endOrdinal(header, numbered, index)
      for (let i = 0; ordinal < end; i++) values[ordinal++] = places ? places[i]! : i
    }
    return { count: size, width: 4, values, base: 0, dictionary: undefined, bytes: values.byteLength }
  },
  between({ header }, low, high) {
    const runs: [number, number][] = []
    let start = 0
    for (let index = 0; index < header.times.length; index++) {
      const places = partialPlaces(header, numbered, index)
      const end = endOrdinal(header, numbered, index)
      const [from, to] = places ? [lowerBound(places, low), upperBound(places, high)] : [low, high + 1]
      runs.push([start + from, Math.min(start + to, end)])
      start = end
    }
    return runs
  },
})

const ANY_BOUNDS: ColumnBounds = { least: 0, greatest: Number.POSITIVE_INFINITY }

/** A condition on one field. */
export type FieldCondition = Extract<Node, { op: 'in' | 'range' | 'exists' | 'pattern' }>

export const isLeaf = (node: Node): node is FieldCondition =>
  node.op === 'in' || node.op === 'range' || node.op === 'exists' || node.op === 'pattern'

/** Whether a value that is there fulfils a condition. */
export const testOf = (leaf: FieldCondition): ((value: QueryValue) => boolean) => {
  const { field } = leaf
  if (leaf.op === 'in') {
    const values = new Set(leaf.values)
    return value => values.has(value)
  }
  // Texts longer than an index holds count as missing.
  if (leaf.op === 'exists') return value => !tooLong(field, value)
  if (leaf.op === 'pattern') {
    const matches = matcherOf(leaf.pattern)
    return value => !tooLong(field, value) && matches(String(value))
  }
  return value => !tooLong(field, value) && isWithin(value, leaf.bounds)
}

/** The common start of all texts that fulfil a condition. */
export const commonStart = (leaf: Extract<FieldCondition, { op: 'range' | 'pattern' }>): string =>
  leaf.op === 'pattern' ? patternStart(leaf.pattern) : sharedStart(leaf.bounds)

/** The common start of all texts between two bounds. */
const sharedStart = ({ gt, gte, lt, lte }: Bounds): string => {
  const [low, high] = [String(gte ?? gt ?? ''), String(lte ?? lt ?? '')]
  let length = 0
  while (length < low.length && low[length] === high[length]) length++
  return low.slice(0, length)
}
/** Address ids of a condition; `raw` matches only the checksummed letter case. */
export const addressIds = (leaf: Extract<FieldCondition, { op: 'in' }>, reader: StoreReader): number[] =>
  leaf.values.flatMap(value => {
    reader.check()
    const text = String(value)
    if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return []
    const digits = text.slice(2).toLowerCase()
    const written = leaf.field.encoding === 'raw' ? checksumAddress(`0x${digits}`) : `0x${digits}`
    return text === written ? (reader.addressId(digits) ?? []) : []
  })
