import type { OwnAbi } from '../../decode/declarations.ts'
import { errorsOf } from '../../decode/errors.ts'
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

/** Ordinals of a segment's documents that may be decoded otherwise, ascending. */
export interface Candidates {
  segment: Segment
  header: ReadHeader
  ordinals: Record<RedecodedKind, Uint32Array>
}

/** Of transactions and traces, those that failed. */
const REDECODED_KINDS = ['log', 'call', 'tx', 'trace'] as const
type RedecodedKind = (typeof REDECODED_KINDS)[number]

/** -1 where there are none. */
export const lastBlock = ({ header, ordinals }: Pick<Candidates, 'header' | 'ordinals'>): number =>
  Math.max(...REDECODED_KINDS.map(kind => lastOf(header, kind, ordinals[kind], ordinals[kind].length)))

const lastOf = (header: ReadHeader, kind: RedecodedKind, ordinals: Uint32Array, count: number): number =>
  count === 0 ? -1 : blockOf(positionOfOrdinal(header, kind, ordinals[count - 1]!))

/** Parts so many of the last ones, in the order of their blocks, from the rest. */
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

/** Whether a signature tells what its documents mean. */
export const decodes = ({ event, error }: Signature): boolean => event !== null && error === null

/** What is looked for of one kind. */
interface WantedTerms {
  names: ReadonlySet<string>
  signatures: StoredSignature[]
  /** The one of all that have none of their own. */
  shared: StoredSignature | undefined
  /** By what those are found. */
  hashes: Hash62[]
  field: number
}

/** Finds the documents that an ABI may have decoded otherwise: those of its topics and selectors, and of its contracts where it is for some. */
export const createCandidateFinder = (reader: StoreReader, abi: OwnAbi, owners: readonly number[] | null) => {
  const { topics, selectors } = abiNames(abi)
  const mayFail = errorsOf(abi).length > 0
  const own = new Set([
    ...abi.events.map(event => JSON.stringify(event)),
    ...abi.functions.map(({ name, inputs }) => JSON.stringify({ name, inputs })),
  ])
  /** What is as the ABI has it gains nothing by it, and what is surer than it neither. */
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
  /** What comes up later is of blocks that are decoded by the ABI already. */
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

  /** Undefined where the segment has none up to a block. */
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

/** In place of a contract: all of them. */
const ANY_TERM = 0

/** Of unlisted signatures; where there are more, it is the documents that are asked. */
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

/** Proxies of proxies, with a beacon in between, that are looked for. */
const MAX_PROXY_STEPS = 4
/** Where there are more, all documents are looked at. */
const MAX_OWNERS = 1_000
/**
 * Ids of the contracts that an ABI holds for as far as the store tells: its own, those of its code, and those that run the code of these;
 * null where it may hold for any.
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
