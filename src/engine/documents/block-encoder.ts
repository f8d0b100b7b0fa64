import type { RpcReceipt, RpcTrace } from '../../chain/wire.ts'
import type { DecodedLog, Signature } from '../../decode/types.ts'
import type { BlockCall } from '../../documents/calls.ts'
import type { DecodedDocuments } from '../../documents/document.ts'
import { findBlockPlaces, hasInteger } from '../../documents/logs.ts'
import { logsBloomOf } from '../../lib/bloom.ts'
import type { Hash62 } from '../../lib/hash.ts'
import { byKind, COUNTED_KINDS, type CountedKind, RECORD_KINDS, type RecordKind } from '../../mapping/index.ts'
import type { Ids } from '../forms/form.ts'
import { createIndexing, firstTopicOf, isEvent, type Numbered } from '../index/argument-terms.ts'
import type { Dictionary } from '../index/dictionary.ts'
import { createFieldIndex } from '../index/field-index.ts'
import { createNumbersBuilder, type Numbers } from '../index/points.ts'
import { createPairsBuilder, type TermPairs } from '../index/postings.ts'
import type { SegmentHeader } from '../index/segment.ts'
import { addressDigits } from './derived-rows.ts'
import { type BlockRows, createBlockRows } from './records/block.ts'
import { writeBlockCall } from './records/call.ts'
import { fieldsWriter } from './records/fields.ts'
import { createLogWriter } from './records/log.ts'
import { createRecordRows, type RecordRows } from './records/rows.ts'
import { createTraceWriter, txInputs } from './records/trace.ts'
import { wireBlockReader, wireCallReader, wireLogReader, wireTraceReader, wireTxReader } from './wire-readers.ts'

/**
 * Neighbouring blocks before they join a batch. Ordinals count from the start of the piece.
 * Typed arrays, possibly views of larger buffers, move between threads without a copy.
 */
export interface EncodedBlocks {
  events: number
  counts: Record<RecordKind, number>
  header: SegmentHeader
  /** 1: it holds only what scopes want. */
  scoped: number
  blocks: BlockRows
  records: Record<RecordKind, RecordRows>
  pairs: Record<CountedKind, TermPairs>
  numbers: Record<NumberedKind, Numbers>
  columns: Map<number, Float64Array<ArrayBuffer>>
}

export const NUMBERED_KINDS = ['log', 'call'] as const
type NumberedKind = (typeof NUMBERED_KINDS)[number]

export interface EncodingContext {
  addresses: Pick<Dictionary, 'id'>
  address(text: string): number
  addressOfTopic(topic: string): number
  names: Pick<Dictionary, 'id'>
  signature(signature: Signature): Numbered
  hash(text: string): Hash62
  /** `address` has 40 lower-case digits. Undefined if they are unknown, or there is no token. */
  decimals(address: string): number | undefined
  /** `0x` hex. */
  bloom(receipt: RpcReceipt): unknown
}

export type BlockEncoder = ReturnType<typeof createBlockEncoder>

export const createBlockEncoder = (context: EncodingContext) => {
  const records = byKind(RECORD_KINDS, createRecordRows)
  const counts = byKind(RECORD_KINDS, () => 0)
  const ends = byKind(RECORD_KINDS, (): number[] => [])
  const times: number[] = []
  const numbers: number[] = []
  let scoped = 0
  const partials: SegmentHeader['partials'] = new Map()
  /** Ids of the current log's stored topics that are addresses. */
  const topicIds: (number | undefined)[] = []
  let events = 0

  const ids: Ids = {
    address: context.address,
    addressOfDigits: context.addresses.id,
    addressOfTopic: context.addressOfTopic,
    name: context.names.id,
    packed: undefined,
  }
  const blocks = createBlockRows(ids)
  const write = { tx: fieldsWriter('tx', wireTxReader, ids), log: createLogWriter(ids), trace: createTraceWriter(ids) }

  const index = createEncodedIndex(context, ids)
  const decimals = createDecimals(context)

  const addCall = (number: number, place: number, call: BlockCall) => {
    const { from, to, signature, args, callType } = call
    const numbered = context.signature(signature)
    const toId = ids.address(to)
    const known = decimals.of(call, toId, to)
    const { out, begin, end } = records.call
    begin(number, place)
    writeBlockCall(out, call, {
      signature: numbered.id,
      decimals: known ?? null,
      from: ids.address(from),
      to: toId,
      callType: ids.name(callType),
    })
    end()
    index.call({ call, signature: numbered.id }, counts.call)
    index.callArguments({ signature, args, numbered, target: toId, decimals: known }, counts.call++)
  }

  const addTrace = (number: number, place: number, trace: RpcTrace, txInput: string | undefined) => {
    const { out, begin, end } = records.trace
    const isFirst = begin(number, place)
    write.trace(out, trace, txInput, isFirst)
    end()
    index.trace(trace, counts.trace++)
  }

  /** Takes the next block, of which it keeps nothing. */
  const add = (input: DecodedDocuments) => {
    const number = Number(input.raw.block.number)
    decimals.clear()
    // A transaction and its first trace have the same call data.
    ids.packed = input.traces.length > 0 ? new Map() : undefined
    const { block, receipts } = input.raw
    index.block(block, times.length)

    const places = findBlockPlaces(input.raw)
    if (places) partials.set(times.length, places)
    blocks.add(input.raw, places)
    let logIndex = 0
    for (let i = 0; i < receipts.length; i++) {
      const tx = block.transactions[i]!
      const receipt = receipts[i]!
      const place = places ? places.txs[i]! : i
      const transaction = {
        tx,
        receipt,
        method: input.methods[i] ?? undefined,
        failure: input.failures[i],
        bloom: input.raw.partial ? logsBloomOf(receipt.logs) : context.bloom(receipt),
      }
      records.tx.begin(number, place)
      write.tx(records.tx.out, transaction)
      records.tx.end()
      index.tx(transaction, counts.tx++)

      for (const log of receipt.logs) {
        const decoded = input.logs[logIndex]!
        const { signature, args } = decoded
        const numbered = context.signature(signature)
        const emitter = ids.address(log.address)
        const known = decimals.of(decoded, emitter, log.address)
        records.log.begin(number, places ? places.logs[logIndex]! : logIndex)
        const parts = {
          tx: place,
          emitter,
          signature: numbered.id,
          decimals: known,
          firstTopic: firstTopicOf(numbered),
        }
        write.log(records.log.out, log, parts, topicIds)
        records.log.end()
        index.log({ address: emitter, signature: numbered.id, transactionIndex: place }, counts.log)
        const indexed = { signature, args, numbered, emitter, decimals: known, topics: log.topics, topicIds }
        index.logArguments(indexed, counts.log++)
        if (isEvent(signature, numbered)) events++
        logIndex++
      }
    }
    const inputOf = txInputs(input.raw, places)
    for (const [at, trace] of input.traces.entries()) addTrace(number, at, trace, inputOf(trace))
    for (const [at, call] of input.calls.entries()) addCall(number, at, call)
    for (const kind of RECORD_KINDS) ends[kind].push(counts[kind])
    times.push(Number(block.timestamp))
    numbers.push(number)
    if (input.raw.partial) scoped = 1
  }

  return {
    add,
    get blocks(): number {
      return times.length
    },
    get documents(): number {
      return RECORD_KINDS.reduce((sum, kind) => sum + counts[kind], times.length)
    },
    finish: (): EncodedBlocks => ({
      events,
      scoped,
      counts,
      header: {
        ends: byKind(RECORD_KINDS, kind => Uint32Array.from(ends[kind])),
        times: Float64Array.from(times),
        first: numbers[0]!,
        last: numbers.at(-1)!,
        numbers: numbers.at(-1)! - numbers[0]! + 1 === numbers.length ? undefined : Uint32Array.from(numbers),
        partials,
      },
      blocks: blocks.finish(),
      records: byKind(RECORD_KINDS, kind => records[kind].finish()),
      ...index.finish(),
    }),
  }
}

const createEncodedIndex = (context: EncodingContext, { address, name }: Ids) => {
  const pairs = byKind(COUNTED_KINDS, kind => createPairsBuilder(capacities.pairs[kind]))
  const numbers = byKind(NUMBERED_KINDS, kind => createNumbersBuilder(capacities.numbers[kind]))
  const fields = createFieldIndex(pairs, { address, name, hash: context.hash })
  return {
    ...({
      block: fields.of('block', wireBlockReader),
      tx: fields.of('tx', wireTxReader),
      log: fields.of('log', wireLogReader),
      call: fields.of('call', wireCallReader),
      trace: fields.of('trace', wireTraceReader),
    } satisfies Record<CountedKind, unknown>),
    logArguments: createIndexing(context, pairs.log, numbers.log).log,
    callArguments: createIndexing(context, pairs.call, numbers.call).call,
    finish(): Pick<EncodedBlocks, 'pairs' | 'numbers' | 'columns'> {
      const built = {
        pairs: byKind(COUNTED_KINDS, kind => pairs[kind].finish()),
        numbers: byKind(NUMBERED_KINDS, kind => numbers[kind].finish()),
      }
      for (const kind of COUNTED_KINDS) capacities.pairs[kind] = capacityAfter(built.pairs[kind].ordinals)
      for (const kind of NUMBERED_KINDS) capacities.numbers[kind] = capacityAfter(built.numbers[kind].ordinals)
      return { ...built, columns: fields.finish() }
    },
  }
}

/** Pieces are about as large as those before them: to double arrays takes time and memory. */
const LEAST_CAPACITY = 1 << 10
const capacities = {
  pairs: byKind(COUNTED_KINDS, () => LEAST_CAPACITY),
  numbers: byKind(NUMBERED_KINDS, () => LEAST_CAPACITY),
}
const capacityAfter = ({ length }: Uint32Array): number => Math.max(LEAST_CAPACITY, Math.ceil(length * 1.1))

const createDecimals = (context: Pick<EncodingContext, 'decimals'>) => {
  const known = new Map<number, number | undefined>()
  return {
    /** To be called before each block, for which tokens are looked up once. */
    clear: () => known.clear(),
    /** The log's own decimals, or else those of the token; `id` is the id of `address`. */
    of({ args, decimals }: Pick<DecodedLog, 'args' | 'decimals'>, id: number, address: string): number | undefined {
      if (!args || !hasInteger(args)) return undefined
      if (decimals !== undefined) return decimals ?? undefined
      let found = known.get(id)
      if (found === undefined && !known.has(id)) {
        found = context.decimals(addressDigits(address))
        known.set(id, found)
      }
      return found
    },
  }
}

export const pieceBuffers = ({ header, blocks, records, pairs, numbers, columns }: EncodedBlocks): ArrayBuffer[] =>
  [
    header.times,
    ...(header.numbers ? [header.numbers] : []),
    ...Object.values(header.ends),
    ...[blocks, ...[records, pairs, numbers].flatMap(byKind => Object.values<object>(byKind))].flatMap(arraysOf),
    ...columns.values(),
  ].map(array => array.buffer as ArrayBuffer)

const arraysOf = (arrays: object): ArrayBufferView[] => Object.values(arrays)
