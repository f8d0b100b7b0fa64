import type { BlockCall } from '../../../documents/calls.ts'
import type { ByteWriter } from '../../../lib/bytes.ts'
import { cursor, takeVarint } from '../../forms/form.ts'

/** Does not repeat what the call's trace, or its transaction, holds. */
export interface CallRecord {
  /**
   * Place of its trace; -1 for a transaction's own call without traces, which alone sets the
   * members from `tx` on.
   */
  trace: number
  signature: number
  decimals: number | null
  reverted: boolean
  tx: number
  from: number
  to: number
  depth: number
  callType: number
}

export const writeCall = (out: ByteWriter, call: CallRecord): void => {
  out.varint(call.trace + 1)
  out.varint(call.signature)
  out.varint(call.decimals === null ? 0 : call.decimals + 1)
  out.byte(call.reverted ? 1 : 0)
  if (call.trace >= 0) return
  out.varint(call.tx)
  out.varint(call.from)
  out.varint(call.to)
  out.varint(call.depth)
  out.varint(call.callType)
}

export const writeBlockCall = (
  out: ByteWriter,
  { trace, reverted, tx, depth }: Pick<BlockCall, 'trace' | 'reverted' | 'tx' | 'depth'>,
  ids: Pick<CallRecord, 'signature' | 'decimals' | 'from' | 'to' | 'callType'>,
): void => writeCall(out, { trace: trace ?? -1, reverted, tx, depth, ...ids })

export const newCallRecord = (): CallRecord => ({
  trace: -1,
  signature: 0,
  decimals: null,
  reverted: false,
  tx: -1,
  from: 0,
  to: 0,
  depth: 0,
  callType: 0,
})

export const readCall = (bytes: Uint8Array, start: number, into: CallRecord): void => {
  cursor.at = start
  into.trace = takeVarint(bytes) - 1
  into.signature = takeVarint(bytes)
  const decimals = takeVarint(bytes)
  into.decimals = decimals === 0 ? null : decimals - 1
  into.reverted = bytes[cursor.at++] === 1
  if (into.trace >= 0) return
  into.tx = takeVarint(bytes)
  into.from = takeVarint(bytes)
  into.to = takeVarint(bytes)
  into.depth = takeVarint(bytes)
  into.callType = takeVarint(bytes)
}

export const rewriteCall = (
  out: ByteWriter,
  bytes: Uint8Array,
  start: number,
  signature: number,
  decimals: number | null,
): void => {
  const call = newCallRecord()
  readCall(bytes, start, call)
  writeCall(out, { ...call, signature, decimals })
}
