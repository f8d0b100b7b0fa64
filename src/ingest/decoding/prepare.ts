import type { RawBlock } from '../../chain/wire.ts'
import type { Code } from '../../decode/abi-finder.ts'
import { createCallSignatures } from '../../decode/calls.ts'
import type { Decoding } from '../../decode/decoding.ts'
import type { DecodedLog } from '../../decode/types.ts'
import { blockCalls, keepCalls } from '../../documents/calls.ts'
import type { DecodedBlock, DecodedDocuments } from '../../documents/document.ts'
import { blockFailures } from '../../documents/failures.ts'
import { findBlockPlaces } from '../../documents/logs.ts'
import { type BlockToken, type TokenStandard, tokensIn, tokensOf } from '../../documents/tokens.ts'
import { createStoredDictionaries, type StoredDictionaries } from '../../engine/dictionary-reader.ts'
import { type BatchBuilder, type BatchContext, createBatch } from '../../engine/documents/batch.ts'
import type { EncodingContext } from '../../engine/documents/block-encoder.ts'
import type { Additions, DerivedRows } from '../../engine/documents/derived-rows.ts'
import { createDictionary } from '../../engine/index/dictionary.ts'
import { createRevision } from '../../engine/index/redecode-patch.ts'
import { positionOf } from '../../engine/schema.ts'
import { logsBloomOf } from '../../lib/bloom.ts'
import { createSlotCache } from '../../lib/caches.ts'
import { createHash } from '../../lib/hash.ts'
import type { Db } from '../../sqlite/database.ts'
import type { ChainContracts } from '../contracts/contracts.ts'
import type { ProxyResolver } from '../contracts/proxy-resolver.ts'
import type { ChainTokens } from '../contracts/tokens.ts'
import type { BuiltPiece } from './builders/thread.ts'
import { createDictionaries, createSignatureNumbering, type Dictionaries, UNKNOWN_SIGNATURES } from './dictionaries.ts'
import type { JoinedDictionaries } from './shared/dictionaries.ts'

export type Preparer = ReturnType<typeof createPreparer>

export interface BatchRun extends Pick<BatchBuilder, 'blocks' | 'documents' | 'finish'> {
  add(block: DecodedBlock): void
  addPiece(built: BuiltPiece): void
}

export interface PreparerOptions extends Omit<DocumentDecoderOptions, 'traces'> {
  db: Db
  tokens: Pick<ChainTokens, 'of' | 'facts' | 'seen' | 'sighted' | 'takeLearnt'>
  contracts: Pick<ChainContracts, 'in' | 'of' | 'carry'>
  links?: Pick<ProxyResolver, 'takeLearnt'>
  traces?: 'calls' | 'all'
  chainId?: number | undefined
  /** Whether `checkBlock` compared receipt blooms with the logs; else they are computed. */
  bloomsChecked?: boolean
  listedSignatures?: number
  dictionaries?: Dictionaries | undefined
}

export const createPreparer = (options: PreparerOptions) => {
  const { db, decoding, tokens, contracts, links, traces = 'all', chainId, bloomsChecked = false } = options
  const { listedSignatures, dictionaries } = options
  const stored = createStoredDictionaries(db)
  const { addresses, names, signatures } = dictionaries ?? createDictionaries(stored)
  const decodeDocuments = createDocumentDecoder({ decoding, traces })
  const codes = createCodes(stored)
  const context: BatchContext = {
    ...createPieceContext({
      addresses,
      names,
      signatures,
      listedSignatures,
      hashKeys: stored.hashKeys,
      decimals: tokens.of,
      bloomsChecked,
    }),
    addresses,
    names,
    takeSignatures: signatures.takeAdded,
    chainId,
    code: codes.id,
    takeCodes: codes.takeAdded,
    takeTokens: tokens.takeLearnt,
    takeLinks: () => links?.takeLearnt() ?? [],
  }
  const newTokens = (number: number, shown: ReadonlyMap<string, TokenStandard>): BlockToken[] =>
    [...shown].flatMap(([address, sighted], place) => {
      const seen = tokens.seen(address.slice(2))
      if (seen !== undefined && seen <= positionOf(number, place)) return []
      const { standard, ...facts } = tokens.facts(address.slice(2))
      return [{ address, place, standard: standard === 'ERC-4626' ? standard : sighted, ...facts }]
    })

  return {
    decode(raw: RawBlock) {
      const created = contracts.in(raw)
      return {
        ...decodeDocuments(raw),
        contracts: created,
        tokens: newTokens(Number(raw.block.number), tokensIn(raw, created)),
      }
    },
    carry: contracts.carry,
    start(): BatchRun {
      const batch = createBatch(context)
      const noteTokens = (number: number, shown: readonly BlockToken[]) => {
        for (const { address, place } of shown) tokens.sighted(address.slice(2), positionOf(number, place))
      }
      return {
        add(block) {
          noteTokens(Number(block.raw.block.number), block.tokens)
          batch.add(block)
        },
        addPiece({ piece, blocks }) {
          const findings = blocks.map(({ number, creations, emitters, upgrades }): DerivedRows => {
            const created = contracts.of(creations, number)
            const shown = newTokens(number, tokensOf(emitters, created))
            noteTokens(number, shown)
            return { number, contracts: created, tokens: shown, upgrades }
          })
          batch.addPiece(piece, findings)
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
    revise: (segment: number, digitsOf: (address: number) => string) => createRevision(context, segment, digitsOf),
    committed({ addresses, names, codes: added }: Pick<Additions, 'addresses' | 'names' | 'codes'>) {
      codes.written(added)
      context.addresses.written(addresses.first + addresses.texts.length - 1)
      context.names.written(names.first + names.texts.length - 1)
    },
  }
}

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

interface DocumentDecoderOptions {
  decoding(): Decoding
  traces: 'calls' | 'all'
}

export const createDocumentDecoder = (options: DocumentDecoderOptions): ((raw: RawBlock) => DecodedDocuments) => {
  const { decoding, traces } = options
  const callSignature = createCallSignatures()
  return raw => {
    const { log, call, revert, methodOf } = decoding()
    const at = decodingPositions(raw)
    const failures = blockFailures(raw, (address, data, tx) => revert(address, data, at.tx(tx)))
    const calls = blockCalls(
      raw,
      raw.traces && failures.traces,
      (to, input, tx) => call(to, input, at.tx(tx)),
      callSignature,
    )
    const logs: DecodedLog[] = []
    for (const receipt of raw.receipts) for (const one of receipt.logs) logs.push(log(one, at.log(logs.length)))
    return {
      raw,
      failures: failures.txs,
      logs,
      methods: raw.block.transactions.map(({ to, input }, i) => (to ? methodOf(input, to, at.txs[i]!) : null)),
      ...(traces === 'calls' ? keepCalls(failures.traces, calls) : { traces: failures.traces, calls }),
    }
  }
}

interface Positions {
  log(index: number): number
  /** First log at or after each transaction, else the next block's first. */
  txs: readonly number[]
  tx(place: number): number
}

const decodingPositions = (raw: RawBlock): Positions => {
  const number = Number(raw.block.number)
  const places = findBlockPlaces(raw)
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

interface PieceContextOptions extends JoinedDictionaries {
  hashKeys: readonly [number, number]
  decimals: EncodingContext['decimals']
  bloomsChecked: boolean
  listedSignatures?: number | undefined
}

export const createPieceContext = (options: PieceContextOptions): EncodingContext => {
  const { addresses, names, signatures, hashKeys, decimals, bloomsChecked } = options
  const { listedSignatures = UNKNOWN_SIGNATURES } = options
  const withId = (digitsFrom: number) =>
    createSlotCache(text => ({ text, id: addresses.id(text.slice(digitsFrom).toLowerCase()) }))
  const [ofAddress, ofTopic] = [withId(2), withId(26)]
  return {
    addresses,
    address: text => ofAddress(text).id,
    addressOfTopic: topic => ofTopic(topic).id,
    names,
    signature: createSignatureNumbering(signatures, listedSignatures),
    hash: createHash(hashKeys),
    decimals,
    bloom: receipt => (bloomsChecked ? receipt.logsBloom : logsBloomOf(receipt.logs)),
  }
}
