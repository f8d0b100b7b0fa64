import type { RawBlock } from '../chain/wire.ts'
import { createCallSignatures } from '../decode/call-signatures.ts'
import type { DecodedCall } from '../decode/calls.ts'
import type { RevertDecoder } from '../decode/errors.ts'
import type { LogDecoder } from '../decode/logs.ts'
import type { DecodedLog } from '../decode/types.ts'
import { blockCalls, keepCalls } from '../documents/calls.ts'
import type { DecodedDocuments } from '../documents/decoded-block.ts'
import { blockFailures } from '../documents/failures.ts'
import { placesOf } from '../documents/places.ts'
import { positionOf } from '../engine/schema.ts'

export interface DocumentDecoderOptions {
  /** Each of these decodes something at a position of the chain. */
  decodeLog: LogDecoder
  /** Name of the function of a contract that call data names, or null. */
  methodOf(input: string, to: string, at: number): string | null
  decodeCall(to: string, input: string, at: number): DecodedCall
  decodeRevert: RevertDecoder
  /** Which steps are kept of blocks that come with some. */
  traces: 'calls' | 'all'
}

/** Decodes the logs and calls of blocks, each as of where it stands. */
export const createDocumentDecoder = ({
  decodeLog,
  methodOf,
  decodeCall,
  decodeRevert,
  traces,
}: DocumentDecoderOptions): ((raw: RawBlock) => DecodedDocuments) => {
  const callSignature = createCallSignatures()

  const decodeLogs = ({ receipts }: RawBlock, at: Positions): DecodedLog[] => {
    const decoded: DecodedLog[] = []
    for (const { logs } of receipts) for (const log of logs) decoded.push(decodeLog(log, at.log(decoded.length)))
    return decoded
  }

  return raw => {
    const at = positionsIn(raw)
    const failures = blockFailures(raw, (address, data, tx) => decodeRevert(address, data, at.tx(tx)))
    const calls = blockCalls(
      raw,
      raw.traces && failures.traces,
      (to, input, tx) => decodeCall(to, input, at.tx(tx)),
      callSignature,
    )
    return {
      raw,
      failures: failures.txs,
      logs: decodeLogs(raw, at),
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
