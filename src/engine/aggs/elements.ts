import { fullType } from '../../decode/signature.ts'
import type { AbiParam } from '../../decode/types.ts'
import { memoize } from '../../lib/caches.ts'
import { checksumAddress } from '../../lib/keccak.ts'
import { type FieldPath, type Kind, lookup } from '../../mapping/index.ts'
import type { QueryValue } from '../../query/ast.ts'
import { indexedValuesOf, rawValuesOf } from '../../query/predicate.ts'
import { tooLong } from '../../query/simplify.ts'
import { createStored } from '../documents/record-decoder.ts'
import { NO_ADDRESSES } from '../index/column-cache.ts'
import type { ColumnData } from '../index/column-codec.ts'
import { integersField, OVERFLOW_SLOT, scaledField } from '../index/terms.ts'
import { columnSource } from '../query/fields/field-values.ts'
import { numberedAs, positionOfOrdinal } from '../query/fields/ordinals.ts'
import type { StoreReader } from '../reader.ts'
import { type Batch, type BatchView, ordinalAt } from './batch.ts'
import { type Keys, keyOfValue } from './keys.ts'
import { upTo } from './rows.ts'
import type { ValueSource, ValueStores } from './value-source.ts'
import { type Codes, codesIn, type FoundValues, foundIn, gathered, mapped, readSeveral } from './values.ts'

/** Nested elements: arguments of the events or calls of a segment. */
export interface Elements {
  /** The document of each element. */
  documents: Uint32Array
  /** The place of each element in `roles`. */
  role: Uint32Array
  roles: readonly Role[]
  /** Elements by role. */
  counts: Uint32Array
}

/** An argument position of a signature. */
export interface Role {
  signature: number
  position: number
  input: AbiParam
}

/** The arguments of a batch's documents, only of accepted roles; `counts` includes all. */
export const toElements = (
  at: BatchView,
  batch: Batch,
  stores: ValueStores,
  looksAt?: (role: Role, kind: Kind) => boolean,
): { at: BatchView; batch: Batch; counts: Float64Array } => {
  const { reader } = stores
  const { codes, ids } = signaturesOf(at, batch, reader)
  const hasArguments = at.kind === 'call' ? areDecoded(at, batch, stores) : undefined
  /** Documents by code of their signature. */
  const times = new Uint32Array(ids.length)
  for (let i = 0; i < codes.length; i++) if (!hasArguments || hasArguments[i]) times[codes[i]!]!++
  const roles: Role[] = []
  /** By code: the first place in `roles`, which ends at the next one; numbers of arguments. */
  const starts = new Uint32Array(ids.length + 1)
  const lengths = new Uint32Array(ids.length)
  const elements: number[] = []
  let total = 0
  for (const [code, id] of ids.entries()) {
    starts[code] = roles.length
    if (times[code] === 0) continue
    const { event, error } = reader.signature(id)
    const inputs = error === null ? (event?.inputs ?? []) : []
    for (const [position, input] of inputs.entries()) {
      const role = { signature: id, position, input }
      if (looksAt?.(role, at.kind) === false) continue
      roles.push(role)
      elements.push(times[code]!)
    }
    lengths[code] = inputs.length
    total += (roles.length - starts[code]!) * times[code]!
  }
  starts[ids.length] = roles.length
  const { buckets } = batch
  const counts = new Float64Array(buckets)
  if (batch.owners) {
    for (let i = 0; i < batch.count; i++)
      if (!hasArguments || hasArguments[i]) counts[batch.owners[i]!]! += lengths[codes[i]!]!
  } else if (buckets > 0) counts[0] = times.reduce((sum, documents, code) => sum + documents * lengths[code]!, 0)
  const { list, from } = batch
  const role = new Uint32Array(total)
  if (list && roles.length === 1 && total === batch.count)
    return {
      at: { ...at, elements: { documents: list, role, roles, counts: Uint32Array.of(total) } },
      batch: { count: total, list: undefined, from: 0, owners: batch.owners, buckets },
      counts,
    }
  const documents = new Uint32Array(total)
  const owners = batch.owners && new Uint32Array(total)
  let size = 0
  for (let i = 0; i < batch.count; i++) {
    if (hasArguments && !hasArguments[i]) continue
    const code = codes[i]!
    const ordinal = list ? list[i]! : from + i
    for (let one = starts[code]!; one < starts[code + 1]!; one++) {
      documents[size] = ordinal
      role[size] = one
      if (owners) owners[size] = batch.owners![i]!
      size++
    }
  }
  return {
    at: { ...at, elements: { documents, role, roles, counts: Uint32Array.from(elements) } },
    batch: { count: total, list: undefined, from: 0, owners, buckets },
    counts,
  }
}

/** Codes of signatures by place in the batch, and the ids of codes. */
const signaturesOf = (at: BatchView, batch: Batch, reader: StoreReader): { codes: Codes; ids: Float64Array } => {
  const [kind, field] = at.kind === 'call' ? (['call', 'selector'] as const) : (['log', 'signature'] as const)
  const source = columnSource(kind, lookup(kind, field)!, reader)!
  const data = source.data(at)
  if (!data) return { codes: new Uint8Array(0), ids: new Float64Array(0) }
  const found = foundIn(data, source.bounds(at)!.greatest)
  if (found.form === 'few') return { codes: codesIn(found.at, batch), ids: found.keys }
  // Ids of many signatures are codes themselves.
  const codes = Uint32Array.from(gathered(found, batch))
  return { codes, ids: Float64Array.from(upTo(source.bounds(at)!.greatest + 1)) }
}

/** Whether call data was decoded: signatures cannot say. */
const areDecoded = (at: BatchView, batch: Batch, { reader, exact }: ValueStores): boolean[] =>
  Array.from({ length: batch.count }, (_, i) => {
    reader.check()
    const [document] = exact.load('call', [positionOfOrdinal(at.header, 'call', ordinalAt(batch, i))], ['args'])
    return Array.isArray(document?._source.args)
  })

/** From elements to their documents, each once in each bucket. */
export const toDocuments = (at: BatchView, batch: Batch): { at: BatchView; batch: Batch } => {
  if (!at.elements) return { at, batch }
  const { documents } = at.elements
  const { count, owners, buckets } = batch
  const list = new Uint32Array(count)
  const kept = owners && new Uint32Array(count)
  const seen = new Set<number>()
  let size = 0
  for (let i = 0; i < count; i++) {
    const document = documents[ordinalAt(batch, i)]!
    const owner = owners ? owners[i]! : 0
    const key = owner * at.size + document
    if (seen.has(key)) continue
    seen.add(key)
    list[size] = document
    if (kept) kept[size] = owner
    size++
  }
  return {
    at: { ...at, elements: undefined },
    batch: { count: size, list: list.subarray(0, size), from: 0, owners: kept?.subarray(0, size), buckets },
  }
}

export const elementSource = (field: FieldPath, keys: Keys | undefined, stores: ValueStores): ValueSource => {
  const ofRole = OF_ROLE.get(field.field)
  if (ofRole)
    return {
      read({ elements }) {
        const { role, roles } = elements!
        return {
          form: 'few',
          at: role,
          keys:
            roles.length === 0
              ? Float64Array.of(Number.NaN)
              : Float64Array.from(roles, one =>
                  tooLong(field, ofRole(one)) ? Number.NaN : keyOfValue(ofRole(one), keys),
                ),
          distinct: false,
        }
      },
    }
  if (field.field === 'args.value.num' || field.field === 'args.value.scaled') return pointSource(field, keys, stores)
  return documentSource(field, keys, stores)
}

const OF_ROLE: ReadonlyMap<string, (role: Role) => QueryValue> = new Map([
  ['args.name', ({ input }: Role): QueryValue => input.name],
  ['args.pos', ({ position }: Role): QueryValue => BigInt(position)],
  ['args.value.type', ({ input }: Role): QueryValue => fullType(input)],
])

/** Numbers of arguments, from the index. */
const pointSource = (field: FieldPath, keys: Keys | undefined, stores: ValueStores): ValueSource => {
  const { reader } = stores
  const isInteger = field.field === 'args.value.num'
  const documents = documentSource(field, keys, stores)
  return {
    read(at, batch) {
      const { elements } = at
      const { documents: owners, role, roles } = elements!
      const wanted = new Uint8Array(roles.length)
      if (roles.length === 1) wanted.fill(1)
      else for (let i = 0; i < batch.count; i++) wanted[role[ordinalAt(batch, i)]!] = 1
      const all = new Float64Array(role.length).fill(Number.NaN)
      for (let position = 0; position < OVERFLOW_SLOT; position++) {
        let scattered: Float64Array | undefined
        for (const [number, one] of roles.entries()) {
          if (one.position !== position || !wanted[number]) continue
          reader.check()
          const id = (isInteger ? integersField : scaledField)(one.signature, position)
          const values = reader.points.values(at.segment, id)?.values
          if (!values) continue
          const ordinals = reader.points.ordinals(at.segment, id)
          scattered ??= new Float64Array(at.size).fill(Number.NaN)
          if (values instanceof Float64Array) scatterDoubles(values, ordinals, scattered)
          else scatterIntegers(values, ordinals, scattered, keys)
        }
        if (!scattered) continue
        if (roles.length === 1) for (let i = 0; i < all.length; i++) all[i] = scattered[owners[i]!]!
        else
          for (let i = 0; i < role.length; i++)
            if (roles[role[i]!]!.position === position) all[i] = scattered[owners[i]!]!
      }
      const far = roles.some((one, number) => wanted[number] && one.position >= OVERFLOW_SLOT)
      if (far) addFar(all, documents.read(at, batch), at, batch)
      return { form: 'each', keys: all }
    },
  }
}

/** Adds arguments whose positions share an index slot. */
const addFar = (all: Float64Array, found: FoundValues, { elements }: BatchView, batch: Batch) => {
  if (found.form !== 'several') return
  for (let i = 0; i < batch.count; i++) {
    const start = i === 0 ? 0 : found.ends[i - 1]!
    const element = ordinalAt(batch, i)
    if (elements!.roles[elements!.role[element]!]!.position >= OVERFLOW_SLOT && start < found.ends[i]!)
      all[element] = found.keys[start]!
  }
}

const scatterDoubles = (values: Float64Array, ordinals: Uint32Array, target: Float64Array) => {
  for (let i = 0; i < values.length; i++) target[ordinals[i]!] = values[i]!
}

const scatterIntegers = (
  values: BigInt64Array,
  ordinals: Uint32Array,
  target: Float64Array,
  keys: Keys | undefined,
) => {
  // By halves, since bigints are slow.
  const low = new Uint32Array(values.buffer, values.byteOffset, values.length * 2)
  const high = new Int32Array(values.buffer, values.byteOffset, values.length * 2)
  for (let i = 0; i < values.length; i++) {
    const value = high[2 * i + 1]! * 2 ** 32 + low[2 * i]!
    target[ordinals[i]!] = keys && !Number.isSafeInteger(value) ? keys.of(values[i]!) : value
  }
}

const documentSource = (field: FieldPath, keys: Keys | undefined, { reader, exact }: ValueStores): ValueSource => {
  // Addresses are shown with checksums, but match in any letter case.
  const read = (source: Record<string, unknown>): QueryValue[] =>
    field.compare === 'hex'
      ? rawValuesOf(field, source).flatMap(raw => (typeof raw === 'string' && !tooLong(field, raw) ? [raw] : []))
      : indexedValuesOf(field, source)
  const areAddresses = field.field === 'args.value.hex' && keys !== undefined
  const topics = areAddresses ? topicReader(keys, reader) : undefined
  // Keys may be shared by several stores, in which an address has different ids.
  const keyOfId = memoize(MAX_TOPICS, (id: number) => keys!.of(checksumAddress(`0x${reader.addressDigits(id)}`)))
  const keyOfAddress = (id: number): number => (keys!.areAddressIds ? id : keyOfId(id))
  return {
    read(at, batch) {
      const { documents, role, roles } = at.elements!
      const columns = areAddresses ? addressColumns(at, batch, reader) : undefined
      if (columns?.every(column => column !== undefined))
        return addressesIn(columns, at, batch, keys!.areAddressIds ? undefined : keyOfId)
      const places = topics && at.kind === 'event' ? roles.map(one => topicPlace(one, reader)) : []
      let before = -1
      let args: unknown[] = []
      return readSeveral(batch, reader.check, element => {
        const document = documents[element]!
        const column = columns?.[role[element]!]
        if (column) {
          const id = idIn(column, document)
          return Number.isNaN(id) ? [] : [keyOfAddress(id)]
        }
        const place = places[role[element]!]
        const topic = place && topics!(positionOfOrdinal(at.header, 'log', document), place)
        if (topic !== undefined) return [topic]
        if (document !== before) {
          const [loaded] = exact.load(at.kind, [positionOfOrdinal(at.header, numberedAs(at.kind), document)], ['args'])
          args = (loaded?._source.args as unknown[] | null) ?? []
          before = document
        }
        return read({ args: [args[roles[role[element]!]!.position]] }).map(value => keyOfValue(value, keys))
      })
    },
  }
}

type AddressColumns = readonly (ColumnData | undefined)[]

/** By role; undefined if its values are read one by one. */
const addressColumns = (at: BatchView, batch: Batch, { columns }: StoreReader): AddressColumns => {
  const { role, roles, counts } = at.elements!
  const isWhole = !batch.list && batch.count === role.length
  const wanted = isWhole ? counts : new Uint32Array(roles.length)
  if (!isWhole) for (let i = 0; i < batch.count; i++) wanted[role[ordinalAt(batch, i)]!]!++
  const of = at.kind === 'call' ? 'call' : 'log'
  return roles.map(({ position, input }, number) => {
    if (wanted[number] === 0) return NOT_WANTED
    if (input.type !== 'address' || position >= OVERFLOW_SLOT) return undefined
    return columns.addresses(at.segment, { of, slot: position }, { wanted: wanted[number]!, size: at.size })
  })
}

const NOT_WANTED: ColumnData = { ...NO_ADDRESSES }

const idIn = ({ values, dictionary }: ColumnData, document: number): number => dictionary![values![document] ?? 0]!

/** `keyOf` turns ids into keys; undefined if ids are keys. */
const addressesIn = (
  all: AddressColumns,
  { elements }: BatchView,
  batch: Batch,
  keyOf: ((id: number) => number) | undefined,
): FoundValues => {
  const columns = all as readonly ColumnData[]
  const { documents, role } = elements!
  const [column = NO_ADDRESSES, ...others] = new Set(columns.filter(one => one !== NOT_WANTED))
  if (others.length > 0) {
    const keys = new Float64Array(role.length).fill(Number.NaN)
    for (let i = 0; i < batch.count; i++) {
      const element = ordinalAt(batch, i)
      const id = idIn(columns[role[element]!]!, documents[element]!)
      keys[element] = keyOf && !Number.isNaN(id) ? keyOf(id) : id
    }
    return { form: 'each', keys }
  }
  const values = column.values as Codes
  const keys = column.dictionary!
  const { list, from, count } = batch
  const at = new Uint32Array(role.length)
  if (column.count > 0)
    if (list) for (let i = 0; i < count; i++) at[list[i]!] = values[documents[list[i]!]!]!
    else for (let element = from; element < from + count; element++) at[element] = values[documents[element]!]!
  const found: FoundValues = { form: 'few', at, keys, distinct: true }
  return keyOf ? mapped(found, keyOf) : found
}

/** The topic that holds an indexed address. */
const topicPlace = ({ signature, position, input }: Role, reader: StoreReader): number | undefined => {
  const { topic, event } = reader.signature(signature)
  if (topic === null || !event || !input.indexed || input.type !== 'address') return undefined
  return 1 + event.inputs.slice(0, position).filter(({ indexed }) => indexed).length
}

/** Reads addresses from topics, which is faster than from documents. */
const topicReader = (keys: Keys, reader: StoreReader): ((position: number, place: number) => number | undefined) => {
  const stored = createStored(reader)
  const keyOf = memoize(MAX_TOPICS, (topic: string) => keys.of(checksumAddress(`0x${topic.slice(EMPTY_HALF.length)}`)))
  let before: { position: number; topics: readonly string[] } | undefined
  return (position, place) => {
    if (before?.position !== position) before = { position, topics: stored.topics(position)?.topics ?? [] }
    const topic = before.topics[place]
    return topic?.startsWith(EMPTY_HALF) ? keyOf(topic) : undefined
  }
}

/** The zeros before an address in a word. */
const EMPTY_HALF = `0x${'0'.repeat(24)}`
const MAX_TOPICS = 50_000
