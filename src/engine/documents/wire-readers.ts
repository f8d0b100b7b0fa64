import type { RpcBlock, RpcReceipt, RpcTrace, RpcTransaction } from '../../chain/wire.ts'
import type { BlockCall } from '../../documents/calls.ts'
import type { Failure } from '../../documents/failures.ts'
import { restOfBlock, restOfTx } from '../../documents/rest.ts'
import { traceReader } from '../../documents/traces.ts'
import { isListField, MAPPING, wireName } from '../../mapping/index.ts'
import { FOLLOWS } from '../forms/bytes.ts'

export interface WireTransaction {
  tx: RpcTransaction
  receipt: RpcReceipt
  method: string | undefined
  failure: Failure | undefined
  bloom: unknown
}

/** Makes what reads a field of a document as it comes from the wire. */
export type ReaderOf<T> = (field: string) => (document: T) => unknown

export const wireBlockReader: ReaderOf<RpcBlock> = field => {
  const declaration = MAPPING.block.fields[field]!
  if (declaration.origin === 'rest') return restOfBlock
  const wire = wireName(field, declaration)
  return block => block[wire]
}

export const wireTxReader: ReaderOf<WireTransaction> = field => {
  const declaration = MAPPING.tx.fields[field]!
  const wire = wireName(field, declaration)
  if (field === 'method') return ({ method }) => method
  if (declaration.origin === 'rest') return ({ tx, receipt }) => restOfTx(tx, receipt)
  if (declaration.origin === 'decoded') return ({ failure }) => failure?.[field as keyof Failure]
  if (!isListField(declaration) && declaration.bloom)
    return ({ receipt, bloom }) => {
      const stated = receipt[wire]
      return typeof stated === 'string' && stated === bloom ? FOLLOWS : stated
    }
  return declaration.origin === 'receipt' ? ({ receipt }) => receipt[wire] : ({ tx }) => tx[wire]
}

/** Rewards belong to no transaction. */
export const wireTraceReader: ReaderOf<RpcTrace> = field =>
  field === 'transactionPosition'
    ? trace => (trace.type === 'reward' ? undefined : trace.transactionPosition)
    : traceReader(field)

/** Ids of the emitter and signature, and the place of the transaction. */
export interface IndexedLogFields {
  address: number
  signature: number
  transactionIndex: number
}

export const wireLogReader: ReaderOf<IndexedLogFields> = field => log => log[field as keyof IndexedLogFields]

export interface NumberedCall {
  call: BlockCall
  signature: number
}

const CALL_READERS: Readonly<Record<string, (numbered: NumberedCall) => unknown>> = {
  selector: ({ signature }) => signature,
  transactionIndex: ({ call }) => call.tx,
  revertReason: ({ call }) => call.revert?.reason,
  revertName: ({ call }) => call.revert?.name,
}

export const wireCallReader: ReaderOf<NumberedCall> = field =>
  CALL_READERS[field] ?? (({ call }) => call[field as 'from' | 'to' | 'value' | 'callType' | 'depth' | 'reverted'])
