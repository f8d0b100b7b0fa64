import type { ExecutionStep } from '../../documents/failures.ts'
import type { Integer } from '../../documents/show.ts'
import { requirePresent } from '../../sqlite/damage.ts'
import { unpackAbi } from '../forms/abi-words.ts'
import { integersAt } from '../forms/bytes.ts'
import { cursor, takeLength, takeVarint } from '../forms/form.ts'
import { takeInteger } from '../forms/integer.ts'
import type { StoreReader } from '../reader.ts'
import { blockOf, positionOf } from '../schema.ts'
import { columnIndex } from './columns.ts'
import { valueReader } from './record-values.ts'
import { newCallRecord, readCall } from './records/call.ts'
import { newLogRecord, readLog } from './records/log.ts'
import { newTraceRecord, readTrace } from './records/trace.ts'

/** `address` is a dictionary id. */
export interface StoredLog {
  address: number
  signature: number
  tx: number
  decimals: number | null
  topics: string[]
  data: string
}

/** `to` is a dictionary id. */
export interface StoredCall {
  tx: number
  to: number
  signature: number
  decimals: number | null
  input: string
  traceAddress: number[]
}

/** The decoded members are ids of names. */
export interface StoredStep extends ExecutionStep {
  tx: number
  revertReason: number | undefined
  revertName: number | undefined
}

/** Reads what is decoded: logs, calls and failures. Undefined if none is stored (any more). */
export const createStored = (
  reader: Pick<StoreReader, 'prepare' | 'records' | 'signature' | 'addressDigits' | 'name'>,
) => {
  const { records } = reader
  const log = newLogRecord()
  const call = newCallRecord()
  const trace = newTraceRecord()
  const readMethod = valueReader('tx', 'method', records)!
  const upgrades = reader.prepare('SELECT pos FROM upgrade WHERE pos BETWEEN ? AND ? ORDER BY pos').pluck()

  const topics = (signature: number, packed: Uint8Array): string[] => {
    const { topic } = reader.signature(signature)
    const rest = unpackAbi(packed, reader.addressDigits)
    const all = topic === null ? [] : [topic]
    for (let at = 2; at < rest.length; at += 64) all.push(`0x${rest.slice(at, at + 64)}`)
    return all
  }

  const readTopics = (position: number): { address: number; topics: string[] } | undefined => {
    const view = records.find('log', position)
    if (!view) return undefined
    readLog(view.bytes, view.start, log)
    return {
      address: log.address,
      topics: topics(log.signature, view.bytes.subarray(log.topicsStart, log.topicsEnd)),
    }
  }

  const inputOf = (packed: ReturnType<typeof records.txInput>): string => {
    const { bytes, start, end } = requirePresent(packed, 'a call')
    return unpackAbi(bytes.subarray(start, end), reader.addressDigits)
  }

  /** Reads a call inside of a transaction, from its trace. */
  const inTrace = (position: number) => {
    const { bytes, start } = requirePresent(records.find('trace', position), 'a call')
    readTrace(bytes, start, trace)
    cursor.at = trace.offsets[TO]!
    return {
      tx: trace.tx,
      to: takeVarint(bytes),
      traceAddress: integersAt(bytes, trace.offsets[TRACE_ADDRESS]!),
      input: inputOf(records.traceInput(position)),
    }
  }

  const idAt = (bytes: Buffer, column: number): number | undefined => {
    if (trace.offsets[column]! < 0) return undefined
    cursor.at = trace.offsets[column]!
    return takeVarint(bytes) || undefined
  }
  const nameAt = (bytes: Buffer, column: number): string | undefined => {
    const id = idAt(bytes, column)
    return id === undefined ? undefined : reader.name(id)
  }
  const wordsAt = (bytes: Buffer, column: number): string | undefined => {
    if (trace.offsets[column]! < 0) return undefined
    cursor.at = trace.offsets[column]!
    const length = takeLength(bytes)
    return length < 0 ? undefined : unpackAbi(bytes.subarray(cursor.at, cursor.at + length), reader.addressDigits)
  }

  return {
    step(position: number): StoredStep | undefined {
      const view = records.find('trace', position)
      if (!view) return undefined
      const { bytes, start } = view
      readTrace(bytes, start, trace)
      const to = idAt(bytes, TO)
      const error = nameAt(bytes, ERROR)
      return {
        tx: trace.tx,
        type: nameAt(bytes, TYPE)!,
        traceAddress: trace.offsets[TRACE_ADDRESS]! < 0 ? [] : integersAt(bytes, trace.offsets[TRACE_ADDRESS]!),
        subtraces: Number(readIntegerAt(bytes, trace.offsets[SUBTRACES]!)),
        error,
        action: { to: to === undefined ? undefined : `0x${reader.addressDigits(to)}` },
        result: error === undefined ? null : { output: wordsAt(bytes, OUTPUT), code: wordsAt(bytes, CODE) },
        revertReason: idAt(bytes, REVERT_REASON),
        revertName: idAt(bytes, REVERT_NAME),
      }
    },
    topics: readTopics,
    log(position: number): StoredLog | undefined {
      const view = records.find('log', position)
      if (!view) return undefined
      const { bytes, start, end } = view
      readLog(bytes, start, log)
      const { address, signature, tx, decimals } = log
      return {
        address,
        signature,
        tx,
        decimals,
        topics: topics(signature, bytes.subarray(log.topicsStart, log.topicsEnd)),
        data: unpackAbi(bytes.subarray(log.topicsEnd, end), reader.addressDigits),
      }
    },
    call(position: number): StoredCall | undefined {
      const view = records.find('call', position)
      if (!view) return undefined
      readCall(view.bytes, view.start, call)
      const { signature, decimals } = call
      const block = blockOf(position)
      if (call.trace >= 0) return { ...inTrace(positionOf(block, call.trace)), signature, decimals }
      const { tx, to } = call
      return { tx, to, traceAddress: [], input: inputOf(records.txInput(positionOf(block, tx))), signature, decimals }
    },
    /** Id of the name of the function that a transaction calls. */
    method: (position: number): number | null => (readMethod(position) ?? null) as number | null,
    /** The first log of a block, from a transaction on, that announces an upgrade. */
    upgradeFrom(block: number, tx: number): number | undefined {
      const positions = upgrades.all(positionOf(block, 0), positionOf(block + 1, 0) - 1) as number[]
      return positions.find(position => {
        const view = records.find('log', position)
        if (!view) return false
        readLog(view.bytes, view.start, log)
        return log.tx >= tx
      })
    },
  }
}

const traceColumn = (field: string) => columnIndex('trace', field)
const [TO, TRACE_ADDRESS] = [traceColumn('action.to'), traceColumn('traceAddress')]

const [TYPE, SUBTRACES, ERROR] = [traceColumn('type'), traceColumn('subtraces'), traceColumn('error')]
const [OUTPUT, CODE] = [traceColumn('result.output'), traceColumn('result.code')]
const [REVERT_REASON, REVERT_NAME] = [traceColumn('revertReason'), traceColumn('revertName')]

const readIntegerAt = (bytes: Buffer, offset: number): Integer | null => {
  if (offset < 0) return null
  cursor.at = offset
  return takeInteger(bytes) as Integer | null
}
