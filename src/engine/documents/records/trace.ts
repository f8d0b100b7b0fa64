import type { RawBlock, RpcTrace } from '../../../chain/wire.ts'
import type { BlockPlaces } from '../../../documents/logs.ts'
import { traceReader } from '../../../documents/traces.ts'
import type { ByteWriter } from '../../../lib/bytes.ts'
import { packData } from '../../forms/abi-words.ts'
import { cursor, type Ids, takeVarint } from '../../forms/form.ts'
import { RECORD_COLUMNS } from '../columns.ts'
import { wireTraceReader } from '../wire-readers.ts'
import { fieldsWriter, locate } from './fields.ts'

/**
 * Location of a step's call data: `own` at the end of the record, else those of the transaction or
 * of the step before in the same row. Some nodes return `null` for steps that are no calls.
 */
export const INPUT = { none: 0, own: 1, transaction: 2, before: 3, null: 4 } as const

export interface TraceRecord {
  /** -1 for a reward. */
  tx: number
  /** Offset of each value in the order of `RECORD_COLUMNS.trace`; -1 if absent. */
  offsets: Int32Array
  input: number
  /** Start of the own packed data, which end with the record. */
  inputStart: number
}

const readInput = traceReader('action.input')

/** Takes the traces of a block in order; `txInput` is the call data of the trace's transaction. */
export const createTraceWriter = (ids: Ids) => {
  const writeFields = fieldsWriter('trace', wireTraceReader, ids)
  let before: unknown
  return (out: ByteWriter, trace: RpcTrace, txInput: string | undefined, isFirst: boolean): void => {
    out.varint(trace.type === 'reward' ? 0 : trace.transactionPosition + 1)
    writeFields(out, trace)
    const input = readInput(trace)
    if (input === undefined) out.byte(INPUT.none)
    else if (input === null) out.byte(INPUT.null)
    else if (input === '0x') out.byte(INPUT.own)
    else if (!isFirst && input === before) out.byte(INPUT.before)
    else if (trace.type !== 'reward' && input === txInput) out.byte(INPUT.transaction)
    else {
      out.byte(INPUT.own)
      packData(out, input as string, ids)
    }
    before = input
  }
}

export const newTraceRecord = (): TraceRecord => ({
  tx: 0,
  offsets: new Int32Array(RECORD_COLUMNS.trace.length),
  input: 0,
  inputStart: 0,
})

export const readTrace = (bytes: Uint8Array, start: number, into: TraceRecord): void => {
  cursor.at = start
  into.tx = takeVarint(bytes) - 1
  locate('trace', bytes, cursor.at, into.offsets)
  into.input = bytes[cursor.at++]!
  into.inputStart = cursor.at
}

export const txOfTrace = (bytes: Uint8Array, start: number): number => {
  cursor.at = start
  return takeVarint(bytes) - 1
}

export const fieldsOfTrace = (bytes: Uint8Array, start: number): number => {
  cursor.at = start
  takeVarint(bytes)
  return cursor.at
}

export const txInputs = ({ block: { transactions } }: RawBlock, places: BlockPlaces | undefined) => {
  if (!places)
    return (trace: RpcTrace): string | undefined =>
      trace.type === 'reward' ? undefined : transactions[trace.transactionPosition]?.input
  const inputs = new Map(transactions.map(({ input }, i) => [places.txs[i]!, input]))
  return (trace: RpcTrace): string | undefined =>
    trace.type === 'reward' ? undefined : inputs.get(trace.transactionPosition)
}
