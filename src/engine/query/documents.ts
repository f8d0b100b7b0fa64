import { createEventDecoder, createFunctionDecoder, type FunctionDecoder } from '../../decode/abi.ts'
import type { DecodedArg, DecodeResult } from '../../decode/types.ts'
import { callDocument } from '../../documents/calls.ts'
import type { Document } from '../../documents/document.ts'
import { type BlockParts, blockParts, eventDocument, logDocument } from '../../documents/logs.ts'
import * as show from '../../documents/show.ts'
import { traceDocument } from '../../documents/traces.ts'
import { byKind, FIELDWISE_KINDS, type FieldwiseKind, type Kind } from '../../mapping/index.ts'
import { present } from '../../sqlite/damage.ts'
import { RECORD_COLUMNS } from '../documents/forms.ts'
import { unpack } from '../documents/pack.ts'
import { hashOfTx, indexOfTx, type StoredBlock } from '../documents/records/block.ts'
import { locate } from '../documents/records/fields.ts'
import { newTraceRecord, readTrace, txOfTrace } from '../documents/records/trace.ts'
import { createStored, type StoredLog } from '../documents/stored.ts'
import type { Reader } from '../reader.ts'
import { blockOf, placeOf, positionOf } from '../schema.ts'
import { createFields, hashesOf, SOURCE_FIELDS } from './fields.ts'
import { createRowDocuments } from './rows.ts'

export interface Documents {
  /** The documents at these positions in the same order, undefined where none is stored (any more). */
  load(kind: Kind, positions: readonly number[]): (Document | undefined)[]
}

export interface DocumentsOptions {
  reader: Reader
  big: show.BigIntegers
  /** The bloom filter of logs, as `0x` hex. */
  bloom(logs: readonly { address: string; topics: readonly string[] }[]): string
}

/** Rebuilds documents from records: `_source` is kept nowhere. */
export const createDocuments = ({ reader, big, bloom }: DocumentsOptions): Documents => {
  const { records } = reader
  const stored = createStored(reader)
  const parts = createBlockParts()
  const decodersOfLogs = new Map<number, (topics: readonly string[], data: string) => DecodeResult>()
  const decodersOfCalls = new Map<number, FunctionDecoder>()
  const offsets = byKind(FIELDWISE_KINDS, kind => new Int32Array(RECORD_COLUMNS[kind].length))
  const trace = newTraceRecord()

  const blockAt = (number: number): StoredBlock => present(records.block(number), `block ${number}`)
  const partsOf = (number: number): BlockParts => parts.of(blockAt(number))
  const transactionHash = (position: number): string =>
    present(hashOfTx(blockAt(blockOf(position)), placeOf(position)), `block ${blockOf(position)}`)
  const rows = createRowDocuments({ reader, big, blockParts: partsOf, transactionHash })

  /** Of a transaction, from the addresses and topics of its logs. */
  const bloomAt = (position: number): string => {
    const number = blockOf(position)
    const block = blockAt(number)
    const { logEnds, places } = block
    const index = indexOfTx(block, placeOf(position))
    const logs = []
    for (let i = index === 0 ? 0 : logEnds[index - 1]!; i < logEnds[index]!; i++) {
      const { address, topics } = present(stored.topics(positionOf(number, places?.logs[i] ?? i)), 'a log')
      logs.push({ address: `0x${reader.addressDigits(address)}`, topics })
    }
    return bloom(logs)
  }
  const fields = createFields({ reader, big, bloomAt })

  /** `_source` in the order of the mapping, of the record and of what the position tells. */
  const assemble = (
    kind: FieldwiseKind,
    { bytes, start }: { bytes: Buffer; start: number },
    position: number,
    derived: Record<string, unknown>,
  ) => {
    const source: Record<string, unknown> = {}
    const at = offsets[kind]
    locate(kind, bytes, start, at)
    if (kind !== 'trace') Object.assign(derived, fields.rare(kind, bytes, at, position))
    for (const { field, index } of SOURCE_FIELDS[kind]) {
      const value = index < 0 ? derived[field] : fields.show(kind, index, bytes, at[index]!, position)
      if (value !== undefined) source[field] = value
    }
    return source
  }

  const traceAt = (position: number): Document | undefined => {
    const view = records.find('trace', position)
    if (!view) return undefined
    const { bytes, start } = view
    readTrace(bytes, start, trace)
    const { tx } = trace
    const shown = new Map<string, unknown>()
    for (const { field, index } of SOURCE_FIELDS.trace) {
      const value =
        index >= 0
          ? fields.show('trace', index, bytes, trace.offsets[index]!, position)
          : field === INPUT
            ? inputOf(position)
            : undefined
      if (value !== undefined) shown.set(field, value)
    }
    const number = blockOf(position)
    const block = partsOf(number)
    if (tx < 0) return traceDocument({ block, reward: rewardsBefore(position) }, shown, big)
    const hash = transactionHash(positionOf(number, tx))
    return traceDocument({ block, transactionHash: hash, transactionIndex: tx }, shown, big)
  }

  const inputOf = (position: number): string | null | undefined => {
    const packed = records.traceInput(position)
    return packed && unpack(packed.bytes.subarray(packed.start, packed.end), reader.addressDigits)
  }

  /** Of a reward: how many other rewards of its block stand before it. */
  const rewardsBefore = (position: number): number => {
    let count = 0
    records.each('trace', position - placeOf(position), position - 1, (_, { bytes, start }) => {
      if (txOfTrace(bytes, start) < 0) count++
    })
    return count
  }

  const callAt = (position: number): Document | undefined => {
    const call = stored.call(position)
    if (!call) return undefined
    const { tx, value, input, traceAddress, reverted, revertReason, revertName, decimals } = call
    const number = blockOf(position)
    const { event, probability } = reader.signature(call.signature)
    const { args, error } = event ? decodeCall(call.signature, input) : NOTHING_DECODED
    const shown = {
      block: partsOf(number),
      transactionHash: transactionHash(positionOf(number, tx)),
      transactionIndex: tx,
      from: fields.address(call.from),
      to: fields.address(call.to),
      value: value === null ? null : show.amount(value, big),
      callType: reader.name(call.callType),
      traceAddress,
      reverted,
      selector: input.slice(0, 10),
      event,
      args,
      error,
      revertReason: revertReason === undefined ? undefined : reader.name(revertReason),
      revertName: revertName === undefined ? undefined : reader.name(revertName),
      probability: event && probability,
      decimals,
    }
    return callDocument(shown, big)
  }

  const decodeCall = (signature: number, input: string) => {
    let decoder = decodersOfCalls.get(signature)
    if (!decoder) {
      decoder = createFunctionDecoder(reader.signature(signature).event!)
      decodersOfCalls.set(signature, decoder)
    }
    return decoder(input)
  }

  const decodeLog = ({ signature, topics, data }: StoredLog): DecodedArg[] | null => {
    let decoder = decodersOfLogs.get(signature)
    if (!decoder) {
      decoder = createEventDecoder(reader.signature(signature).event!)
      decodersOfLogs.set(signature, decoder)
    }
    return decoder(topics, data).args
  }

  const placeOfLog = (position: number, { address, tx }: StoredLog) => {
    const number = blockOf(position)
    return {
      block: partsOf(number),
      transactionHash: transactionHash(positionOf(number, tx)),
      transactionIndex: tx,
      logIndex: placeOf(position),
      address: fields.address(address),
    }
  }

  const load: Record<Kind, (position: number) => Document | undefined> = {
    block(position) {
      const number = blockOf(position)
      const block = records.block(number)
      if (!block) return undefined
      const { hash, time } = parts.of(block)
      const source = assemble('block', records.blockRecord(number)!, position, {
        number: show.quantity(number, big),
        hash,
        timestamp: time,
        transactions: hashesOf(block.hashes, block.txs * 32),
      })
      return { _id: hash, _source: source }
    },
    tx(position) {
      const view = records.find('tx', position)
      if (!view) return undefined
      const { hash: blockHash, time } = partsOf(blockOf(position))
      const hash = transactionHash(position)
      const source = assemble('tx', { ...view }, position, {
        blockHash,
        blockNumber: show.quantity(blockOf(position), big),
        hash,
        timestamp: time,
        transactionIndex: show.quantity(placeOf(position), big),
      })
      return { _id: hash, _routing: blockHash, _parent: blockHash, _source: source }
    },
    log(position) {
      const log = stored.log(position)
      return log && logDocument(placeOfLog(position, log), log.topics, log.data, big)
    },
    event(position) {
      const log = stored.log(position)
      if (!log) return undefined
      const { event, error, probability } = reader.signature(log.signature)
      if (!event) return undefined
      const args = error === null ? decodeLog(log) : null
      const { decimals } = log
      return eventDocument(placeOfLog(position, log), { event, args, error, probability, decimals }, big)
    },
    trace: traceAt,
    call: callAt,
    contract: rows.contract,
    token: rows.token,
  }

  return { load: (kind, positions) => positions.map(load[kind]) }
}

const NOTHING_DECODED = { args: null, error: null } as const
/** Of a trace: its call data stand apart from its other fields. */
const INPUT = 'action.input'

/** What documents show of blocks, by what is stored of these: that is another object in another state of the store. */
const createBlockParts = () => {
  const known = new WeakMap<StoredBlock, BlockParts>()
  return {
    of(block: StoredBlock): BlockParts {
      let shown = known.get(block)
      if (!shown) {
        shown = blockParts(block.number, `0x${block.hash.toString('hex')}`, block.time)
        known.set(block, shown)
      }
      return shown
    },
  }
}
