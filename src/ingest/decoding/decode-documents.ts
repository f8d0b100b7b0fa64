import type { RawBlock } from '../../chain/wire.ts'
import { createCallSignatures } from '../../decode/calls.ts'
import type { Decoding } from '../../decode/decoding.ts'
import type { DecodedLog } from '../../decode/types.ts'
import { blockCalls, keepCalls } from '../../documents/calls.ts'
import type { DecodedDocuments } from '../../documents/decoded-block.ts'
import { blockFailures } from '../../documents/failures.ts'
import { placesOf } from '../../documents/places.ts'
import type { PieceContext } from '../../engine/documents/piece.ts'
import { positionOf } from '../../engine/schema.ts'
import { logsBloomOf } from '../../lib/bloom.ts'
import { keepLatest } from '../../lib/caches.ts'
import { createHash } from '../../lib/hash.ts'
import { createSignatures, UNKNOWN_SIGNATURES } from './dictionaries.ts'
import type { JoinedDictionaries } from './shared/dictionaries.ts'

export interface DocumentDecoderOptions {
  /** What the next block is decoded by: each part of it as of where it stands. */
  decoding(): Decoding
  /** Which steps are kept of blocks that come with some. */
  traces: 'calls' | 'all'
}

/** Decodes the logs and calls of blocks. */
export const createDocumentDecoder = (options: DocumentDecoderOptions): ((raw: RawBlock) => DecodedDocuments) => {
  const { decoding, traces } = options
  const callSignature = createCallSignatures()
  return raw => {
    const { log, call, revert, methodOf } = decoding()
    const at = positionsIn(raw)
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

export interface PieceContextOptions extends JoinedDictionaries {
  /** The keys of the store's hashes. */
  hashKeys: readonly [number, number]
  decimals: PieceContext['decimals']
  /** Whether the receipts' logs blooms were found to be those of their logs (`checkBlock`); else that is found out here. */
  bloomsChecked: boolean
  /** Signatures of which unknown ones are kept apart; default three quarters of all there is room for. */
  listedSignatures?: number | undefined
}

/** The context in which any thread builds documents. */
export const createPieceContext = (options: PieceContextOptions): PieceContext => {
  const { addresses, names, signatures, hashKeys, decimals, bloomsChecked } = options
  const { listedSignatures = UNKNOWN_SIGNATURES } = options
  const withId = (digitsFrom: number) =>
    keepLatest(text => ({ text, id: addresses.id(text.slice(digitsFrom).toLowerCase()) }))
  const [ofAddress, ofTopic] = [withId(2), withId(26)]
  return {
    addresses,
    address: text => ofAddress(text).id,
    addressOfTopic: topic => ofTopic(topic).id,
    names,
    signature: createSignatures(signatures, listedSignatures),
    hash: createHash(hashKeys),
    decimals,
    bloom: receipt => (bloomsChecked ? receipt.logsBloom : logsBloomOf(receipt.logs)),
  }
}
