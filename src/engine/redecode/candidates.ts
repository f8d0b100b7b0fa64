import type { OwnAbi } from '../../decode/declarations.ts'
import { errorsOf } from '../../decode/reverts.ts'
import { selectorOf, topicOf } from '../../decode/signature.ts'
import type { Signature } from '../../decode/types.ts'
import type { Hash62 } from '../../lib/hash.ts'
import { byKind } from '../../mapping/index.ts'
import { copyValues, MISSING } from '../index/column-codec.ts'
import { indexFrom } from '../index/segment.ts'
import {
  argumentField,
  columnNumber,
  fieldId,
  HASHED,
  logField,
  termOf,
  UNLISTED,
  UNLISTED_CALL,
} from '../index/terms.ts'
import { endOrdinal, positionOfOrdinal } from '../query/fields/ordinals.ts'
import type { ReadHeader, Segment, StoredSignature, StoreReader } from '../reader.ts'
import { blockOf } from '../schema.ts'

/** Ordinals of a segment's documents that may decode differently, ascending. */
export interface Candidates {
  segment: Segment
  header: ReadHeader
  ordinals: Record<RedecodedKind, Uint32Array>
}

/** Of transactions and traces, only failed ones. */
const REDECODED_KINDS = ['log', 'call', 'tx', 'trace'] as const
type RedecodedKind = (typeof REDECODED_KINDS)[number]

/** -1 where there are none. */
export const lastBlock = ({ header, ordinals }: Pick<Candidates, 'header' | 'ordinals'>): number =>
  Math.max(...REDECODED_KINDS.map(kind => lastOf(header, kind, ordinals[kind], ordinals[kind].length)))

const lastOf = (header: ReadHeader, kind: RedecodedKind, ordinals: Uint32Array, count: number): number =>
  count === 0 ? -1 : blockOf(positionOfOrdinal(header, kind, ordinals[count - 1]!))

/** Splits off the newest `size` documents, by block. */
export const cutNewest = ({ segment, header, ordinals }: Candidates, size: number) => {
  const ends = byKind(REDECODED_KINDS, kind => ordinals[kind].length)
  const last = byKind(REDECODED_KINDS, kind => lastOf(header, kind, ordinals[kind], ends[kind]))
  for (let taken = 0; taken < size; taken++) {
    const newest = REDECODED_KINDS.reduce((a, b) => (last[b] > last[a] ? b : a))
    if (ends[newest] === 0) break
    last[newest] = lastOf(header, newest, ordinals[newest], --ends[newest])
  }
  return {
    part: { segment, header, ordinals: byKind(REDECODED_KINDS, kind => ordinals[kind].subarray(ends[kind])) },
    rest: { segment, header, ordinals: byKind(REDECODED_KINDS, kind => ordinals[kind].subarray(0, ends[kind])) },
  }
}

export const abiNames = ({ events, functions }: OwnAbi) => ({
  topics: new Set(events.filter(({ anonymous }) => !anonymous).map(topicOf)),
  selectors: new Set(functions.map(selectorOf)),
})

/** Whether a signature has a declaration that decodes its documents. */
export const decodes = ({ event, error }: Signature): boolean => event !== null && error === null

/** Search terms for one kind. */
interface WantedTerms {
  names: ReadonlySet<string>
  signatures: StoredSignature[]
  /** The signature shared by those not in the dictionary. */
  shared: StoredSignature | undefined
  /** Hashes that find documents of the shared signature. */
  hashes: Hash62[]
  field: number
}

/** Finds documents that an ABI may decode differently, by topic, selector and contract. */
export const createCandidateFinder = (reader: StoreReader, abi: OwnAbi, owners: readonly number[] | null) => {
  const { topics, selectors } = abiNames(abi)
  const mayFail = errorsOf(abi).length > 0
  const own = new Set([
    ...abi.events.map(event => JSON.stringify(event)),
    ...abi.functions.map(({ name, inputs }) => JSON.stringify({ name, inputs })),
  ])
  /** Signatures gain nothing if they equal the ABI's, or have a higher probability. */
  const mayGain = (signature: Signature): boolean => {
    const { event, probability, error } = signature
    if (decodes(signature) && probability > abi.probability) return false
    return error !== null || probability !== abi.probability || !own.has(JSON.stringify(event))
  }

  const postingsOf = (segment: Segment, term: number, fingerprint = 0): Uint32Array[] =>
    reader
      .termsBetween(segment.id, term, term)
      .filter(posting => posting.fingerprint === fingerprint)
      .map(reader.ordinals)

  const wantedOf = (of: 'log' | 'call'): WantedTerms => {
    const names = of === 'log' ? topics : selectors
    const all = reader.signatures(of)
    const shared = all.find(({ key }) => key === (of === 'log' ? UNLISTED : UNLISTED_CALL))
    return {
      names,
      signatures: all.filter(signature => names.has(signature.topic ?? '') && mayGain(signature)),
      shared: names.size > 0 ? shared : undefined,
      hashes: names.size > MAX_PROBED ? [] : [...names].map(name => ({ ...reader.hash(name) })),
      field: of === 'call' ? fieldId('call', 'selector') : shared ? argumentField(shared.id, 0) : 0,
    }
  }
  /** Cached: later blocks are decoded with the ABI already. */
  let wanted: Record<'log' | 'call', WantedTerms> | undefined

  const listsOf = (segment: Segment, { names, signatures, shared, hashes, field }: WantedTerms): Uint32Array[] => {
    const listsIn = (signature: StoredSignature) =>
      (owners ?? [ANY_TERM]).flatMap(value => postingsOf(segment, termOf(value, logField(signature.id))))
    const lists = signatures.flatMap(listsIn)
    const all = shared ? listsIn(shared) : []
    if (all.length === 0 || owners !== null || names.size > MAX_PROBED) return [...lists, ...all]
    return [...lists, ...hashes.flatMap(({ high, low }) => postingsOf(segment, termOf(HASHED + high, field), low))]
  }

  const failed = (segment: Segment, of: 'tx' | 'trace'): Uint32Array => {
    const column = mayFail ? reader.columns.data(segment, columnNumber(of, 'error')) : undefined
    if (!column) return NO_CANDIDATES
    const values = new Float64Array(column.count)
    copyValues(column, values, 0)
    const found: number[] = []
    for (let ordinal = 0; ordinal < values.length; ordinal++) if (values[ordinal] !== MISSING) found.push(ordinal)
    return Uint32Array.from(found)
  }

  /** Undefined where the segment has none up to block `next`. */
  return (segment: Segment, next: number): Candidates | undefined => {
    wanted ??= { log: wantedOf('log'), call: wantedOf('call') }
    const lists = { log: listsOf(segment, wanted.log), call: listsOf(segment, wanted.call) }
    const failures = { tx: failed(segment, 'tx'), trace: failed(segment, 'trace') }
    if (lists.log.length + lists.call.length + failures.tx.length + failures.trace.length === 0) return undefined
    const header = reader.header(segment)
    const index = indexFrom(header, Math.min(next, segment.last) + 1) - 1
    const all = { log: ascendingOrdinals(lists.log), call: ascendingOrdinals(lists.call), ...failures }
    const ordinals = byKind(REDECODED_KINDS, kind => {
      const end = endOrdinal(header, kind, index)
      return all[kind].filter(ordinal => ordinal < end)
    })
    return REDECODED_KINDS.some(kind => ordinals[kind].length > 0) ? { segment, header, ordinals } : undefined
  }
}

const NO_CANDIDATES = new Uint32Array(0)

/** Stands for any contract. */
const ANY_TERM = 0

/** Most unlisted names to look up in the index; beyond that, documents are read. */
const MAX_PROBED = 500

const ascendingOrdinals = (lists: readonly Uint32Array[]): Uint32Array => {
  if (lists.length === 1) return lists[0]!
  const all = new Uint32Array(lists.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const list of lists) {
    all.set(list, at)
    at += list.length
  }
  return all.sort()
}

/** Most levels of proxies (with beacons) to follow. */
const MAX_PROXY_STEPS = 4
/** With more owners than this, all documents are examined. */
const MAX_OWNERS = 1_000
/**
 * Ids of the contracts that an ABI applies to: its own, those with its code, and proxies to
 * these; null where it may apply to any.
 */
export const findAbiOwners = (reader: StoreReader, { address, codeHash = null }: OwnAbi): number[] | null => {
  if (address === null && codeHash === null) return null
  const select = (sql: string, ...parameters: unknown[]) =>
    reader
      .prepare(sql)
      .pluck()
      .all(...parameters) as number[]
  const bytesOf = (hex: string) => Buffer.from(hex.slice(2), 'hex')
  const found = new Set(
    address === null
      ? [
          ...select(
            'SELECT address FROM contract WHERE code = (SELECT id FROM code WHERE hash = ?)',
            bytesOf(codeHash!),
          ),
          ...select('SELECT id FROM link WHERE code = ?', bytesOf(codeHash!)),
        ]
      : [reader.addressId(address.slice(2)) ?? []].flat(),
  )
  let open = [...found]
  for (let step = 0; step < MAX_PROXY_STEPS && found.size <= MAX_OWNERS; step++) {
    open = open
      .flatMap(id => [
        ...select('SELECT address FROM contract WHERE implementation = ?', id),
        ...select('SELECT address FROM upgrade WHERE implementation = ?', id),
        ...select("SELECT id FROM link WHERE targets LIKE '%' || ? || '%'", reader.addressDigits(id)),
      ])
      .filter(id => !found.has(id))
    for (const id of open) found.add(id)
  }
  return found.size > MAX_OWNERS ? null : [...found]
}
