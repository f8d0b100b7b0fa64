import { present } from '../../sqlite/damage.ts'
import type { Reader } from '../reader.ts'
import { blockOf, positionOf } from '../schema.ts'
import { unpack } from './pack.ts'

/** A log as its row tells it; the address is a dictionary id. */
export interface StoredLog {
  address: number
  signature: number
  /** Place of the transaction in the block. */
  tx: number
  decimals: number | null
  topics: string[]
  data: string
}

/** A call as its row tells it, with what it is called by, which the trace or the transaction keeps. */
export interface StoredCall {
  tx: number
  from: number
  to: number
  signature: number
  decimals: number | null
  reverted: boolean
  /** In the stored form `uint`. */
  value: number | Buffer | null
  /** Of the dictionary of names. */
  callType: number
  input: string
  traceAddress: number[]
}

/** Reads what is decoded: logs and calls. Undefined where none is stored (any more). */
export const createStored = (reader: Pick<Reader, 'prepare' | 'signature' | 'addressDigits'>) => {
  const readLog = reader.prepare('SELECT address, signature, tx, decimals, topics, data FROM log WHERE pos = ?').raw()
  const readCall = reader
    .prepare('SELECT tx, trace, "from", "to", signature, decimals, reverted, value, callType FROM call WHERE pos = ?')
    .raw()
  const readPath = reader.prepare('SELECT traceAddress FROM trace WHERE pos = ?').pluck()
  const readTraceInput = reader.prepare('SELECT "action.input" FROM trace_bulk WHERE pos = ?').pluck()
  const readInput = reader.prepare('SELECT input FROM tx_bulk WHERE pos = ?').pluck()

  const topics = (signature: number, packed: Buffer | null): string[] => {
    const { topic } = reader.signature(signature)
    const rest = packed ? unpack(packed, reader.addressDigits) : '0x'
    const all = topic === null ? [] : [topic]
    for (let at = 2; at < rest.length; at += 64) all.push(`0x${rest.slice(at, at + 64)}`)
    return all
  }

  return {
    /** All topics of a log, of what its row keeps of them. */
    topics,
    log(position: number): StoredLog | undefined {
      const row = readLog.get(position) as LogRow | undefined
      if (!row) return undefined
      const [address, signature, tx, decimals, packed, data] = row
      return {
        address,
        signature,
        tx,
        decimals,
        topics: topics(signature, packed),
        data: data ? unpack(data, reader.addressDigits) : '0x',
      }
    },
    call(position: number): StoredCall | undefined {
      const row = readCall.get(position) as CallRow | undefined
      if (!row) return undefined
      const [tx, trace, from, to, signature, decimals, reverted, value, callType] = row
      const block = blockOf(position)
      const own = positionOf(block, trace ?? tx)
      const input = present((trace === null ? readInput : readTraceInput).get(own) as Buffer | undefined, 'a call')
      return {
        tx,
        from,
        to,
        signature,
        decimals,
        reverted: reverted === 1,
        value,
        callType,
        input: unpack(input, reader.addressDigits),
        traceAddress: trace === null ? [] : readVarints(present(readPath.get(own) as Buffer | undefined, 'a call')),
      }
    },
  }
}

export const readVarints = (bytes: Buffer): number[] => {
  const integers: number[] = []
  for (let at = 0; at < bytes.length; ) {
    let [integer, unit, byte] = [0, 1, 0x80]
    while (byte >= 0x80) {
      byte = present(bytes[at++], 'a list of numbers')
      integer += (byte & 0x7f) * unit
      unit *= 0x80
    }
    integers.push(integer)
  }
  return integers
}

type LogRow = [
  address: number,
  signature: number,
  tx: number,
  decimals: number | null,
  topics: Buffer | null,
  data: Buffer | null,
]

type CallRow = [
  tx: number,
  trace: number | null,
  from: number,
  to: number,
  signature: number,
  decimals: number | null,
  reverted: number,
  value: number | Buffer | null,
  callType: number,
]
