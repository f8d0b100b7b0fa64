import { fullType } from '../../decode/signature.ts'
import type { AbiParam } from '../../decode/types.ts'
import { lazy, memoize } from '../../lib/caches.ts'
import { checksumAddress } from '../../lib/keccak.ts'
import { type FieldPath, type Kind, lookup } from '../../mapping/index.ts'
import type { QueryValue } from '../../query/ast.ts'
import { indexedValuesOf, rawValuesOf } from '../../query/predicate.ts'
import { tooLong } from '../../query/simplify.ts'
import { createStored } from '../documents/record-decoder.ts'
import { NO_ADDRESSES } from '../index/column-cache.ts'
import type { ColumnData } from '../index/column-codec.ts'
import { scatterPoints } from '../index/points-cache.ts'
import { integersField, OVERFLOW_SLOT, scaledField } from '../index/terms.ts'
import { columnSource } from '../query/fields/field-values.ts'
import { numberedAs, positionOfOrdinal } from '../query/fields/ordinals.ts'
import { countedBits } from '../query/match/ordinal-set.ts'
import type { StoreReader } from '../reader.ts'
import { type Batch, type BatchView, emptyBatch, maskBatch, ordinalAt } from './batch.ts'
import { type Keys, keyOfValue } from './keys.ts'
import { upTo } from './rows.ts'
import type { ValueSource, ValueStores } from './value-source.ts'
import {
  type Codes,
  codesIn,
  countCodes,
  type FoundValues,
  foundIn,
  mapped,
  NO_FOUND_VALUES,
  readSeveral,
} from './values.ts'

/** Nested elements: arguments of the events or calls of a segment. Arrays may be computed lazily. */
export interface Elements {
  /** Ordinals of elements are below. */
  size: number
  /** The document of each element. */
  readonly documents: Uint32Array
  /** The place of each element in `roles`. */
  readonly role: Uint32Array
  roles: readonly Role[]
  /** Elements by role. */
  counts: Uint32Array
  /** Whether no document has two, so that the ordinal of an element is that of its document. */
  areDocuments: boolean
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
  const { codes, ids } = signaturesOf(at, reader)
  const hasArguments = at.kind === 'call' ? areDecoded(at, batch, stores) : undefined
  /** Documents by code of their signature. */
  const times = hasArguments ? new Uint32Array(ids.length) : countCodes(codes, batch, ids.length)
  const inBatch = lazy(() => codesIn(codes, batch))
  if (hasArguments) for (let i = 0; i < batch.count; i++) if (hasArguments[i]) times[inBatch()[i]!]!++
  const roles: Role[] = []
  /** By code: the first place in `roles`, which ends at the next one; numbers of arguments. */
  const starts = new Uint32Array(ids.length + 1)
  const lengths = new Uint32Array(ids.length)
  const elements: number[] = []
  let total = 0
  const rolesOf = new Uint8Array(ids.length)
  let mostRoles = 0
  for (let code = 0; code < ids.length; code++) {
    starts[code] = roles.length
    if (times[code] === 0) continue
    const { event, error } = reader.signature(ids[code]!)
    const inputs = error === null ? (event?.inputs ?? []) : []
    for (const [position, input] of inputs.entries()) {
      const role = { signature: ids[code]!, position, input }
      if (looksAt?.(role, at.kind) === false) continue
      roles.push(role)
      elements.push(times[code]!)
    }
    lengths[code] = inputs.length
    const own = roles.length - starts[code]!
    rolesOf[code] = own
    mostRoles = Math.max(mostRoles, own)
    total += own * times[code]!
  }
  starts[ids.length] = roles.length
  const { buckets, owners } = batch
  const counts = new Float64Array(buckets)
  if (owners) {
    for (let i = 0; i < batch.count; i++)
      if (!hasArguments || hasArguments[i]) counts[owners[i]!]! += lengths[inBatch()[i]!]!
  } else if (buckets > 0) for (let code = 0; code < ids.length; code++) counts[0]! += times[code]! * lengths[code]!
  const found = { roles, counts: Uint32Array.from(elements) }
  if (!hasArguments && mostRoles <= 1) {
    const isWhole = total === batch.count
    const documents = total === 0 ? emptyBatch(batch) : isWhole ? batch : ofCodes(batch, at, codes, rolesOf)
    return { at: { ...at, elements: ofDocuments(at, codes, starts, found) }, batch: documents, counts }
  }
  const all = listElements({ batch, starts, codes: inBatch(), hasArguments }, total)
  return {
    at: { ...at, elements: { size: total, ...all.arrays, ...found, areDocuments: false } },
    batch: { count: total, list: undefined, from: 0, owners: all.owners, buckets },
    counts,
  }
}

/** Each document's own element, which costs nothing until its role is asked for. */
const ofDocuments = (
  { size }: BatchView,
  codes: Codes | undefined,
  starts: Uint32Array,
  found: Pick<Elements, 'roles' | 'counts'>,
): Elements => {
  const documents = lazy(() => upTo(size))
  const role = lazy(() => {
    const all = new Uint32Array(size)
    if (codes) for (let i = 0; i < size; i++) all[i] = starts[codes[i]!]!
    return all
  })
  return {
    ...{ size, ...found, areDocuments: true },
    get documents() {
      return documents()
    },
    get role() {
      return role()
    },
  }
}

const ofCodes = (batch: Batch, at: BatchView, codes: Codes | undefined, isKept: Uint8Array): Batch => {
  if (!codes) return isKept[0] === 1 ? batch : emptyBatch(batch)
  const bits = new Uint32Array((at.size + 31) >>> 5)
  for (let word = 0, ordinal = 0; word < bits.length; word++) {
    let kept = 0
    for (const end = Math.min(at.size, ordinal + 32); ordinal < end; ordinal++)
      kept |= isKept[codes[ordinal]!]! << (ordinal & 31)
    bits[word] = kept
  }
  return maskBatch(batch, countedBits(bits), { size: at.size, elements: undefined })
}

interface ListedElements {
  batch: Batch
  /** By code: the first role. */
  starts: Uint32Array
  /** By place in the batch. */
  codes: Codes
  hasArguments: readonly boolean[] | undefined
}

/** All elements, document after document. */
const listElements = ({ batch, starts, codes, hasArguments }: ListedElements, total: number) => {
  const { list, from, owners: above } = batch
  const [documents, role] = [new Uint32Array(total), new Uint32Array(total)]
  const owners = above && new Uint32Array(total)
  let size = 0
  for (let i = 0; i < batch.count; i++) {
    if (hasArguments && !hasArguments[i]) continue
    const code = codes[i]!
    const ordinal = list ? list[i]! : from + i
    for (let one = starts[code]!; one < starts[code + 1]!; one++) {
      documents[size] = ordinal
      role[size] = one
      if (owners) owners[size] = above[i]!
      size++
    }
  }
  return { arrays: { documents, role }, owners }
}

/** Codes of signatures by ordinal, all 0 where undefined, and the ids of codes. */
const signaturesOf = (at: BatchView, reader: StoreReader): { codes: Codes | undefined; ids: Float64Array } => {
  const [kind, field] = at.kind === 'call' ? (['call', 'selector'] as const) : (['log', 'signature'] as const)
  const source = columnSource(kind, lookup(kind, field)!, reader)!
  const data = source.data(at)
  if (!data) return { codes: undefined, ids: new Float64Array(0) }
  const found = foundIn(data, source.bounds(at)!.greatest)
  if (found.form === 'few') return { codes: found.at, ids: found.keys }
  // Ids of many signatures are codes themselves.
  const codes = Uint32Array.from(found.keys)
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
      const { roles, areDocuments } = elements!
      const [only, ...others] = roles
      if (areDocuments && only && others.length === 0 && only.position < OVERFLOW_SLOT && (!isInteger || !keys)) {
        const id = (isInteger ? integersField : scaledField)(only.signature, only.position)
        const numbers = reader.points.column(at.segment, id, at.size)
        return numbers ? { form: 'each', keys: numbers } : NO_FOUND_VALUES
      }
      const { documents: owners, role } = elements!
      const wanted = new Uint8Array(roles.length)
      if (roles.length === 1) wanted.fill(1)
      else for (let i = 0; i < batch.count; i++) wanted[role[ordinalAt(batch, i)]!] = 1
      const all = new Float64Array(elements!.size).fill(Number.NaN)
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
          scatterPoints(values, ordinals, scattered, keys?.of)
        }
        if (!scattered) continue
        if (roles.length === 1) for (let i = 0; i < all.length; i++) all[i] = scattered[owners[i]!]!
        else
          for (let i = 0; i < all.length; i++)
            // Documents without an element have a role of others, or none.
            if (roles[role[i]!]?.position === position) all[i] = scattered[owners[i]!]!
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
      const columns = areAddresses ? addressColumns(at, batch, reader) : undefined
      if (columns?.every(column => column !== undefined))
        return addressesIn(columns, at, batch, keys!.areAddressIds ? undefined : keyOfId)
      const { documents, role, roles } = at.elements!
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
  const { roles, counts } = at.elements!
  const isWhole = batch.count === counts.reduce((sum, count) => sum + count, 0)
  const wanted = isWhole ? counts : countCodes(at.elements!.role, batch, roles.length)
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
  const { size, areDocuments } = elements!
  const [column = NO_ADDRESSES, ...others] = new Set(columns.filter(one => one !== NOT_WANTED))
  if (column.count === 0 && others.length === 0) return NO_FOUND_VALUES
  if (others.length > 0) {
    const { documents, role } = elements!
    const keys = new Float64Array(size).fill(Number.NaN)
    for (let i = 0; i < batch.count; i++) {
      const element = ordinalAt(batch, i)
      const id = idIn(columns[role[element]!]!, documents[element]!)
      keys[element] = keyOf && !Number.isNaN(id) ? keyOf(id) : id
    }
    return { form: 'each', keys }
  }
  const values = column.values as Codes
  const at = areDocuments ? values : ofElements(values, elements!.documents, batch)
  const found: FoundValues = { form: 'few', at, keys: column.dictionary!, distinct: true }
  return keyOf ? mapped(found, keyOf) : found
}

/** Values of elements' documents, by element. */
const ofElements = (values: Codes, documents: Uint32Array, { list, from, count }: Batch): Uint32Array => {
  const at = new Uint32Array(documents.length)
  if (list) for (let i = 0; i < count; i++) at[list[i]!] = values[documents[list[i]!]!]!
  else for (let element = from; element < from + count; element++) at[element] = values[documents[element]!]!
  return at
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
