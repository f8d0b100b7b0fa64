import { memoize } from '../../lib/caches.ts'
import { type FieldPath, type Kind, lookup } from '../../mapping/index.ts'
import type { FieldValues } from '../../query/aggs/ast.ts'
import type { QueryValue } from '../../query/ast.ts'
import { tooLong } from '../../query/simplify.ts'
import { copyValues } from '../index/column-codec.ts'
import { blockAt } from '../index/segment.ts'
import { columnFieldOf } from '../index/terms.ts'
import { type Documents, fieldValues } from '../query/documents.ts'
import { columnSource, INEXACT, interpreterOf, LONGS_END, recordReader } from '../query/fields/field-values.ts'
import { isRowKind, numberedAs, positionOfOrdinal } from '../query/fields/ordinals.ts'
import { sparseReader } from '../query/fields/row-kinds.ts'
import { isShared } from '../query/plan/column-conditions.ts'
import type { StoredSignature, StoreReader } from '../reader.ts'
import { positionOf } from '../schema.ts'
import { type Batch, type BatchView, ordinalAt } from './batch.ts'
import { elementSource } from './elements.ts'
import { type Keys, keyOfValue } from './keys.ts'
import {
  blockIndexes,
  type FoundValues,
  foundByBlock,
  foundIn,
  foundOnlyIn,
  mapped,
  NO_FOUND_VALUES,
  readSeveral,
  withMissing,
} from './values.ts'

export interface ValueSource {
  read(at: BatchView, batch: Batch): FoundValues
}

export interface ValueStores {
  reader: StoreReader
  /** Documents with exact integers. */
  exact: Documents
}

/** Values of a field: numbers for computing without `keys`, else their encoding by `keys`. */
export const createSource = (values: FieldValues, keys: Keys | undefined, stores: ValueStores): ValueSource => {
  if (values.meta) return metaSource(values.meta, keys)
  const sourceIn = memoize(Number.POSITIVE_INFINITY, (kind: Kind): ValueSource => {
    const field = values.fields[kind]
    if (!field) return { read: () => NO_FOUND_VALUES }
    return field.list?.nested ? elementSource(field, keys, stores) : fieldSource(kind, field, keys, stores)
  })
  const missing = values.missing === undefined ? undefined : keys ? keys.of(values.missing) : Number(values.missing)
  return { read: (at, batch) => withMissing(sourceIn(at.kind).read(at, batch), missing) }
}

/** Metadata fields; ids are chain positions. */
const metaSource = (meta: NonNullable<FieldValues['meta']>, keys: Keys | undefined): ValueSource => ({
  read({ kind, header, size }, batch) {
    if (meta !== '_id') {
      const text = meta[kind]
      return text === undefined
        ? NO_FOUND_VALUES
        : { form: 'few', at: undefined, keys: Float64Array.of(keyOfValue(text, keys)), distinct: true }
    }
    const all = new Float64Array(size).fill(Number.NaN)
    const numbered = numberedAs(kind)
    for (let i = 0; i < batch.count; i++) {
      const ordinal = ordinalAt(batch, i)
      all[ordinal] = positionOfOrdinal(header, numbered, ordinal)
    }
    return { form: 'each', keys: all }
  },
})

const fieldSource = (kind: Kind, field: FieldPath, keys: Keys | undefined, stores: ValueStores): ValueSource =>
  ofPlace(kind, field, keys) ??
  ofSignature(kind, field, keys, stores) ??
  ofColumn(kind, field, keys, stores) ??
  ofRecords(kind, field, keys, stores)

/** Fields that follow from the document's block. */
const ofPlace = (kind: Kind, { field, path }: FieldPath, keys: Keys | undefined): ValueSource | undefined => {
  const numbered = numberedAs(kind)
  if (field === 'timestamp')
    return {
      read: at =>
        foundByBlock(
          at,
          numbered,
          at.header.times.map(time => time * 1000),
          false,
        ),
    }
  const isNumber = path === 'blockNumber.num' || path === 'firstSeen.num' || (kind === 'block' && path === 'number.num')
  if (isNumber || (field === 'blockHash' && keys?.space === 'block'))
    return {
      read: at =>
        foundByBlock(
          at,
          numbered,
          Float64Array.from(at.header.times, (_, index) => blockAt(at.header, index)),
          true,
        ),
    }
  return undefined
}

/** Fields that follow from the signature. */
const OF_SIGNATURE: Record<string, ((signature: StoredSignature) => QueryValue | null | undefined) | undefined> = {
  'log.signature': ({ topic }) => topic,
  'event.event.raw': ({ event }) => event?.name,
  'event.error': ({ error }) => error,
  'event.probability': ({ event, probability }) => event && probability,
  'call.method.raw': ({ event }) => event?.name,
  'call.selector': ({ topic }) => topic,
  'call.probability': ({ event, probability }) => event && probability,
}

const ofSignature = (
  kind: Kind,
  field: FieldPath,
  keys: Keys | undefined,
  stores: ValueStores,
): ValueSource | undefined => {
  const meaningOf = OF_SIGNATURE[`${kind}.${field.path}`]
  if (!meaningOf) return undefined
  const { reader } = stores
  const column = columnSource(
    kind === 'call' ? 'call' : 'log',
    lookup(kind === 'call' ? 'call' : 'log', kind === 'call' ? 'selector' : 'signature')!,
    reader,
  )!
  const keyOf = memoize(Number.POSITIVE_INFINITY, (id: number) => {
    const value = meaningOf(reader.signature(id))
    return value === null || value === undefined || tooLong(field, value) ? Number.NaN : keyOfValue(value, keys)
  })
  const records = ofRecords(kind, field, keys, stores)
  return {
    read(at, batch) {
      const bounds = column.bounds(at)
      const data = column.data(at)
      if (!bounds || !data) return NO_FOUND_VALUES
      const found = foundOnlyIn(data, bounds.greatest)
      if (hasShared(found, reader)) return records.read(at, batch)
      return mapped(found, keyOf)
    },
  }
}

/** Whether one of these signatures is shared by several, as the one of overflow is. */
const hasShared = (found: FoundValues, reader: StoreReader): boolean => {
  const known = sharedIn.get(found)
  if (known !== undefined) return known
  const has = found.keys.some(id => !Number.isNaN(id) && isShared(id, reader))
  sharedIn.set(found, has)
  return has
}

/** The values of a cached column are the same each time. */
const sharedIn = new WeakMap<FoundValues, boolean>()

const ofColumn = (
  kind: Kind,
  field: FieldPath,
  keys: Keys | undefined,
  stores: ValueStores,
): ValueSource | undefined => {
  const { reader } = stores
  if (field.field === 'transactionHash' && keys?.space === 'transaction') return transactionSource(kind, stores)
  const source = isRowKind(kind) ? undefined : columnSource(kind, field, reader)
  if (!source) return undefined
  const records = ofRecords(kind, field, keys, stores)
  const convert = converter(field, keys, reader)
  const limit = mayBeInexact(field, keys) ? INEXACT : Number.POSITIVE_INFINITY
  return {
    read(at, batch) {
      const bounds = source.bounds(at)
      const data = bounds && source.data(at)
      if (!data) return NO_FOUND_VALUES
      if (bounds.greatest >= limit && Number.isFinite(bounds.greatest)) return records.read(at, batch)
      // This value encodes both long and larger integers.
      if (
        field.encoding === 'num' &&
        bounds.greatest >= LONGS_END &&
        foundOnlyIn(data, bounds.greatest).keys.includes(LONGS_END)
      )
        return records.read(at, batch)
      const isAsItIs = !convert || (field.encoding === 'num' && bounds.greatest < LONGS_END)
      if (!isAsItIs) return mapped(foundOnlyIn(data, bounds.greatest), convert)
      const found = foundIn(data, bounds.greatest)
      const coded = keys && found.form === 'each' ? source.coded?.(at, batch.count) : undefined
      return coded ? foundIn(coded, bounds.greatest) : found
    },
  }
}

/** Columns round integers beyond 2^53: fine for metrics, wrong for distinct keys. */
const mayBeInexact = ({ kind }: FieldPath, keys: Keys | undefined): boolean =>
  keys !== undefined && (kind === 'quantity' || kind === 'amount' || kind === 'wide')

/** Maps a column's numbers; undefined for identity. */
const converter = (
  field: FieldPath,
  keys: Keys | undefined,
  reader: StoreReader,
): ((stored: number) => number) | undefined => {
  const { kind, encoding } = field
  if (kind === 'boolean' || kind === 'long') return undefined
  if (kind === 'address') return keys?.space === 'address' ? undefined : textual(field, keys, reader)
  if (encoding === 'num') return stored => (stored > LONGS_END ? Number.NaN : stored)
  if (encoding === 'coin') return stored => stored / 1e18
  return textual(field, keys, reader)
}

const textual = (field: FieldPath, keys: Keys | undefined, reader: StoreReader): ((stored: number) => number) => {
  const interpret = interpreterOf(field, reader)
  return memoize(MAX_TEXT_KEYS, stored => {
    const value = interpret(stored)
    return value === undefined ? Number.NaN : keyOfValue(value, keys)
  })
}

const MAX_TEXT_KEYS = 50_000

/** Transaction positions encode their hashes. */
const transactionSource = (kind: Kind, { reader }: ValueStores): ValueSource | undefined => {
  if (isRowKind(kind)) return undefined
  const place = lookup(kind, 'transactionIndex.num') ?? lookup(kind, 'transactionPosition.num')
  const source = place && columnSource(kind, place, reader)
  if (!source) return undefined
  const numbered = numberedAs(kind)
  return {
    read(at) {
      const data = source.data(at)
      if (!data) return NO_FOUND_VALUES
      const blocks = blockIndexes(at, numbered)
      const keys = new Float64Array(at.size)
      copyValues(data, keys, 0)
      for (let i = 0; i < at.size; i++)
        keys[i] = keys[i]! < 0 ? Number.NaN : positionOf(blockAt(at.header, blocks[i]!), keys[i]!)
      return { form: 'each', keys }
    },
  }
}

/** Values from records or documents. */
const ofRecords = (
  kind: Kind,
  field: FieldPath,
  keys: Keys | undefined,
  { reader, exact }: ValueStores,
): ValueSource => {
  const read = valuesReader(kind, field, { reader, exact })
  const numbered = numberedAs(kind)
  return {
    read(at, batch) {
      let before = -1
      let values: number[] = []
      return readSeveral(batch, reader.check, ordinal => {
        if (ordinal === before) return values
        before = ordinal
        const found = read(positionOfOrdinal(at.header, numbered, ordinal)).map(value => keyOfValue(value, keys))
        values = found.length > 1 ? [...new Set(found)] : found
        return values
      })
    },
  }
}

const valuesReader = (
  kind: Kind,
  field: FieldPath,
  { reader, exact }: ValueStores,
): ((position: number) => QueryValue[]) => {
  const one = columnFieldOf(kind, field) && field.kind === 'hex' ? undefined : recordReader(kind, field, reader)
  if (one)
    return position => {
      const value = one(position)
      return value === undefined ? [] : [value]
    }
  const some = isRowKind(kind) ? sparseReader(kind, field, reader) : undefined
  return some ?? fieldValues(kind, field, exact)
}
