import type { RawBlock } from '../chain/wire.ts'
import { createCallSignatures } from '../decode/call-signatures.ts'
import type { DecodedCall } from '../decode/calls.ts'
import type { Code } from '../decode/contract-code.ts'
import type { LogDecoder } from '../decode/logs.ts'
import type { DecodedLog, Signature } from '../decode/types.ts'
import { blockCalls, keepCalls } from '../documents/calls.ts'
import type { BlockContract } from '../documents/contracts.ts'
import type { DecodedBlock } from '../documents/decoded-block.ts'
import { placesOf } from '../documents/places.ts'
import { type BlockToken, tokensIn } from '../documents/tokens.ts'
import type { Additions } from '../engine/documents/additions.ts'
import { type BatchBuilder, type BatchContext, createBatch } from '../engine/documents/batch.ts'
import { createDictionary } from '../engine/index/dictionary.ts'
import { createRevision, type RevisionBuilder } from '../engine/index/revision.ts'
import { SIGNATURES, UNLISTED, UNLISTED_CALL } from '../engine/index/terms.ts'
import { createStoredDictionaries, type StoredDictionaries } from '../engine/lookups/dictionaries.ts'
import { positionOf } from '../engine/schema.ts'
import { logsBloomOf } from '../lib/bloom.ts'
import { createHash } from '../lib/hash.ts'
import { keepLatest } from '../lib/latest.ts'
import type { Db } from '../sqlite/database.ts'
import { createAddressFilter } from './address-filter.ts'
import type { Contracts } from './contracts.ts'
import type { ProxyResolver } from './proxy-resolver.ts'
import type { Tokens } from './tokens.ts'

/** Turns checked blocks into batches that the writer takes as they are: decodes, numbers and sorts. */
export interface Preparer {
  decode(block: RawBlock): DecodedBlock
  /** Starts a run of neighbouring blocks. Several may be under way at once. */
  start(): Run
  /** Starts a revision of what a segment holds; `digitsOf` tells the address of a dictionary id. */
  revise(segment: number, digitsOf: (address: number) => string): RevisionBuilder
  /** The writer has committed what this batch added to the dictionaries. */
  committed(added: Pick<Additions, 'addresses' | 'names' | 'codes'>): void
}

export interface Run extends Pick<BatchBuilder, 'blocks' | 'documents' | 'finish'> {
  add(block: DecodedBlock): void
}

export interface PreparerOptions {
  /** The network's store, for what its dictionaries hold already. */
  db: Db
  /** Of what stands at a position of the chain, as all of these. */
  decodeLog: LogDecoder
  /** Name of the function of a contract that call data names, or null. */
  methodOf(input: string, to: string, at: number): string | null
  decodeCall(to: string, input: string, at: number): DecodedCall
  tokens: Pick<Tokens, 'of' | 'facts' | 'seen' | 'sighted' | 'takeLearnt'>
  contracts: Pick<Contracts, 'in'>
  /** Default: what is learnt of proxies is not kept. */
  links?: Pick<ProxyResolver, 'takeLearnt'>
  /** Which steps are kept of blocks that come with some; default all. */
  traces?: 'calls' | 'all'
  /** EIP-155 chain id, where it is known. */
  chainId?: number | undefined
  /** Whether the receipts' logs blooms were found to be those of their logs (`checkBlock`); else that is found out here. */
  bloomsChecked?: boolean
  /** Signatures of which unknown ones are kept apart; default three quarters of all there is room for. */
  listedSignatures?: number
}

/** Signatures without a declaration are kept apart up to here; the room behind is for those with one. */
const UNKNOWN_SIGNATURES = Math.floor(SIGNATURES * 0.75)

export const createPreparer = ({
  db,
  decodeLog,
  methodOf,
  decodeCall,
  tokens,
  contracts,
  links,
  traces = 'all',
  chainId,
  bloomsChecked = false,
  listedSignatures = UNKNOWN_SIGNATURES,
}: PreparerOptions): Preparer => {
  const dictionaries = createStoredDictionaries(db)
  const filter = createAddressFilter(dictionaries.last('address'), dictionaries.addresses())
  const signatures = createSignatures(dictionaries, listedSignatures)
  const callSignature = createCallSignatures()
  const codes = createCodes(dictionaries)
  const addresses = createDictionary({
    last: dictionaries.last('address'),
    find: digits => (filter.add(digits) ? dictionaries.address(digits) : undefined),
  })
  const withId = (digitsFrom: number) =>
    keepLatest(text => ({ text, id: addresses.id(text.slice(digitsFrom).toLowerCase()) }))
  const [ofAddress, ofTopic] = [withId(2), withId(26)]
  const context: BatchContext = {
    addresses,
    address: text => ofAddress(text).id,
    addressOfTopic: topic => ofTopic(topic).id,
    names: createDictionary({ last: dictionaries.last('name'), find: dictionaries.name }),
    signature: signatures.find,
    takeSignatures: signatures.takeAdded,
    hash: createHash(dictionaries.hashKeys),
    chainId,
    code: codes.id,
    takeCodes: codes.takeAdded,
    takeTokens: tokens.takeLearnt,
    takeLinks: () => links?.takeLearnt() ?? [],
    decimals: tokens.of,
    bloom: receipt => (bloomsChecked ? receipt.logsBloom : logsBloomOf(receipt.logs)),
  }
  /** Tokens of a block that no lower one is known to have shown. */
  const newTokens = (raw: RawBlock, created: readonly BlockContract[]): BlockToken[] =>
    [...tokensIn(raw, created)].flatMap(([address, sighted], place) => {
      const seen = tokens.seen(address.slice(2))
      if (seen !== undefined && seen <= positionOf(Number(raw.block.number), place)) return []
      const { standard, ...facts } = tokens.facts(address.slice(2))
      return [{ address, place, standard: standard === 'ERC-4626' ? standard : sighted, ...facts }]
    })

  const decodeLogs = ({ receipts }: RawBlock, at: Positions): DecodedLog[] => {
    const decoded: DecodedLog[] = []
    for (const { logs } of receipts) for (const log of logs) decoded.push(decodeLog(log, at.log(decoded.length)))
    return decoded
  }

  return {
    decode(raw) {
      const created = contracts.in(raw)
      const at = positionsIn(raw)
      const calls = blockCalls(raw, (to, input, tx) => decodeCall(to, input, at.tx(tx)), callSignature)
      return {
        raw,
        logs: decodeLogs(raw, at),
        methods: raw.block.transactions.map(({ to, input }, i) => (to ? methodOf(input, to, at.txs[i]!) : null)),
        ...(traces === 'calls' ? keepCalls(raw.traces ?? [], calls) : { traces: raw.traces ?? [], calls }),
        contracts: created,
        tokens: newTokens(raw, created),
      }
    },
    start() {
      const batch = createBatch(context)
      return {
        add(block) {
          for (const { address, place } of block.tokens)
            tokens.sighted(address.slice(2), positionOf(Number(block.raw.block.number), place))
          batch.add(block)
        },
        get blocks() {
          return batch.blocks
        },
        get documents() {
          return batch.documents
        },
        finish: batch.finish,
      }
    },
    revise: (segment, digitsOf) => createRevision(context, segment, digitsOf),
    committed({ addresses, names, codes: added }) {
      codes.written(added)
      context.addresses.written(addresses.first + addresses.texts.length - 1)
      context.names.written(names.first + names.texts.length - 1)
    },
  }
}

interface Positions {
  /** Of a log, by its index among those that the block carries. */
  log(index: number): number
  /**
   * By the index of a transaction, that of the first log that is not before it: what a log changes holds for what comes behind it. The
   * number of the block above where there is none.
   */
  txs: readonly number[]
  /** The same by the transaction's place in the block. */
  tx(place: number): number
}

const positionsIn = (raw: RawBlock): Positions => {
  const number = Number(raw.block.number)
  const places = placesOf(raw)
  const base = positionOf(number, 0)
  const log = (index: number) => base + (places ? places.logs[index]! : index)
  const txs: number[] = []
  const last = raw.receipts.findLastIndex(({ logs }) => logs.length > 0)
  let next = 0
  for (const [i, receipt] of raw.receipts.entries()) {
    txs.push(i > last ? positionOf(number + 1, 0) : log(next))
    next += receipt.logs.length
  }
  return { log, txs, tx: place => txs[places ? places.txs.indexOf(place) : place]! }
}

/**
 * Ids of signatures: few enough to be held in memory whole. Anyone can emit logs under any topic; when too many unknown ones were
 * seen, further ones share a signature.
 */
const createSignatures = (stored: StoredDictionaries, listed: number) => {
  const rows = stored.signatures()
  const ids = new Map(rows.map(({ id, key }) => [key, id]))
  const known = new Map<Signature, { id: number; unlisted: boolean }>()
  let next = rows.reduce((most, { id }) => Math.max(most, id), 0) + 1
  let added: { first: number; entries: Signature[] } = { first: next, entries: [] }

  const idOf = (signature: Signature): number => {
    const id = ids.get(signature.key) ?? next
    if (id === next) {
      next++
      ids.set(signature.key, id)
      added.entries.push(signature)
    }
    return id
  }
  const unlisted: Signature = {
    of: 'log',
    key: UNLISTED,
    topic: null,
    indexed: 0,
    event: null,
    probability: 0,
    error: null,
  }
  const unlistedCall: Signature = { ...unlisted, of: 'call', key: UNLISTED_CALL }
  const hasRoom = (signature: Signature): boolean => {
    const { of, key, event } = signature
    // Anything can be called by any selector, too: calls of functions that nobody knows are not kept apart.
    if (!event && of === 'call') return false
    return ids.has(key) || next < (event ? SIGNATURES - 1 : listed)
  }

  return {
    find(signature: Signature): { id: number; unlisted: boolean } {
      let found = known.get(signature)
      if (!found) {
        found = hasRoom(signature)
          ? { id: idOf(signature), unlisted: false }
          : { id: idOf(signature.of === 'call' ? unlistedCall : unlisted), unlisted: true }
        if (known.size > SIGNATURES) known.clear()
        known.set(signature, found)
      }
      return found
    },
    takeAdded() {
      const taken = added
      added = { first: next, entries: [] }
      return taken
    },
  }
}

/** Ids of codes, by their hashes. */
const createCodes = (stored: StoredDictionaries) => {
  const ids = createDictionary({
    last: stored.last('code'),
    find: stored.code,
    capacity: 20_000,
  })
  const named = new Map<string, Code>()
  return {
    id(code: Code): number {
      named.set(code.hash, code)
      return ids.id(code.hash)
    },
    takeAdded() {
      const { first, texts } = ids.takeAdded()
      const taken = texts.map((hash, i) => ({ id: first + i, code: named.get(hash)! }))
      named.clear()
      return taken
    },
    written(added: Additions['codes']) {
      const newest = added.at(-1)
      if (newest) ids.written(newest.id)
    },
  }
}
