import type { RawBlock, RpcLog, RpcReceipt, RpcTrace } from '../../chain/wire.ts'
import type { DecodedLog, Signature } from '../../decode/types.ts'
import type { BlockCall } from '../../documents/calls.ts'
import type { DecodedDocuments } from '../../documents/decoded-block.ts'
import { hasInteger } from '../../documents/logs.ts'
import { type Places, placesOf } from '../../documents/places.ts'
import { traceReader } from '../../documents/traces.ts'
import { logsBloomOf } from '../../lib/bloom.ts'
import type { Hash62 } from '../../lib/hash.ts'
import {
  byKind,
  COUNTED_KINDS,
  type CountedKind,
  type FieldwiseKind,
  RECORD_KINDS,
  type RecordKind,
} from '../../mapping/index.ts'
import { writeHexBytes } from '../forms/bytes.ts'
import type { Ids } from '../forms/form.ts'
import { packData, packTopic } from '../forms/words.ts'
import { createColumnsBuilder } from '../index/column-builder.ts'
import type { Dictionary } from '../index/dictionary.ts'
import { createFieldTerms } from '../index/field-terms.ts'
import { createIndexing, firstTopicOf, type IndexedLog, isEvent, type Numbered } from '../index/indexing.ts'
import { createNumbersBuilder, type Numbers } from '../index/points.ts'
import { createPairsBuilder, type Pairs } from '../index/postings.ts'
import type { SegmentHeader } from '../index/segment.ts'
import { fieldId, termOf } from '../index/terms.ts'
import { digitsOf } from './additions.ts'
import { blockReader, createBlockWriter } from './records/block.ts'
import { writeCall } from './records/call.ts'
import { endTopics, writeLog } from './records/log.ts'
import { createRecordRows, type RecordRows } from './records/rows.ts'
import { createTraceWriter, txInputs } from './records/trace.ts'
import { createTxWriter, txReader } from './records/tx.ts'
import { createRowsBuilder, type Rows } from './rows.ts'

/**
 * What some neighbouring blocks come to, before it is joined with others into a batch. Typed arrays all through, so that it moves between
 * threads; they may be views of larger buffers. Ordinals are those within the piece.
 */
export interface Piece {
  events: number
  counts: Record<RecordKind, number>
  header: Pick<SegmentHeader, 'ends' | 'times' | 'partials'> & { numbers: Uint32Array }
  /** 1: of each block what scopes want. */
  scoped: number
  blocks: Rows
  records: Record<RecordKind, RecordRows>
  pairs: Record<CountedKind, Pairs>
  numbers: Record<NumberedKind, Numbers>
  /** Values by the numbers of columns. */
  columns: Map<number, Float64Array<ArrayBuffer>>
}

/** Kinds whose arguments are numbers. */
export const NUMBERED_KINDS = ['log', 'call'] as const
type NumberedKind = (typeof NUMBERED_KINDS)[number]

/** What pieces are built with; whoever has the same dictionaries can build them. */
export interface PieceContext {
  addresses: Pick<Dictionary, 'id'>
  /** Id of an address as the wire has it. */
  address(text: string): number
  /** Id of the address that a topic is. */
  addressOfTopic(topic: string): number
  names: Pick<Dictionary, 'id'>
  signature(signature: Signature): Numbered
  hash(text: string): Hash62
  /** Decimals of the token at an address (40 lower-case digits), undefined where unknown or no token. */
  decimals(address: string): number | undefined
  /** The bloom filter of a receipt's logs, as `0x` hex. */
  bloom(receipt: RpcReceipt): unknown
}

export interface PieceBuilder {
  /** The block above the last one. It is taken apart at once: nothing of it is kept. */
  add(input: DecodedDocuments): void
  readonly blocks: number
  /** Documents of all kinds but events. */
  readonly documents: number
  finish(): Piece
}

export const createPiece = (context: PieceContext): PieceBuilder => {
  const blocks = createRowsBuilder()
  const records = byKind(RECORD_KINDS, createRecordRows)
  const pairs = byKind(COUNTED_KINDS, () => createPairsBuilder(1 << 10))
  const numeric = byKind(NUMBERED_KINDS, createNumbersBuilder)
  /** Documents so far. */
  const counts = byKind(RECORD_KINDS, () => 0)
  const ends = byKind(RECORD_KINDS, (): number[] => [])
  const times: number[] = []
  const numbers: number[] = []
  let scoped = 0
  const partials: SegmentHeader['partials'] = new Map()
  /** Dictionary ids of the topics behind the first of the log at hand, where they are addresses. */
  const topicIds: (number | undefined)[] = []
  let events = 0

  const ids: Ids = {
    address: context.address,
    addressOfDigits: context.addresses.id,
    name: context.names.id,
    packed: undefined,
  }
  const write = { block: createBlockWriter(ids), tx: createTxWriter(ids), trace: createTraceWriter(ids) }

  const columns = createColumnsBuilder(ids)
  const termsOf = createFieldTerms(pairs, ids, context.hash)
  /** Takes a document into the index of its kind: columns and terms. */
  const indexer = <T>(kind: FieldwiseKind, readerOf: (field: string) => (document: T) => unknown) => {
    const [addColumns, addTerms] = [columns.of(kind, readerOf), termsOf(kind, readerOf)]
    return (document: T, ordinal: number) => {
      addColumns(document)
      addTerms(document, ordinal)
    }
  }
  const index = {
    block: indexer('block', blockReader),
    tx: indexer('tx', txReader),
    trace: indexer('trace', stepReader),
  } satisfies Record<FieldwiseKind, unknown>
  const decimals = new Map<number, number | undefined>()
  /** Of the token at an address, by its id; looked up once a block. */
  const decimalsOf = (id: number, address: string): number | undefined => {
    let found = decimals.get(id)
    if (found === undefined && !decimals.has(id)) {
      found = context.decimals(digitsOf(address))
      decimals.set(id, found)
    }
    return found
  }

  /** Those it was stored with before, else as they are known now. */
  const decimalsFor = ({ args, decimals }: Pick<DecodedLog, 'args' | 'decimals'>, id: number, address: string) => {
    if (!args || !hasInteger(args)) return undefined
    return decimals === undefined ? decimalsOf(id, address) : (decimals ?? undefined)
  }

  const indexing = {
    log: createIndexing(context, pairs.log, numeric.log).log,
    call: createIndexing(context, pairs.call, numeric.call).call,
  }

  const addBlock = (number: number, raw: RawBlock, places: Places | undefined) => {
    const { block } = raw
    const row = blocks
    row.number(number)
    row.beginBlob()
    writeHexBytes(row.pool, block.hash, 2)
    row.endBlob()
    row.number(Number(block.timestamp))
    row.beginBlob()
    write.block.hashes(row.pool, block)
    row.endBlob()
    row.beginBlob()
    write.block.ends(row.pool, raw, places)
    row.endBlob()
    row.beginBlob()
    write.block.record(row.pool, block)
    row.endBlob()
  }

  /** Returns the id of the emitter, and leaves those of the topics in `topicIds`. */
  const addLog = (
    [number, place]: readonly [block: number, place: number],
    tx: number,
    { topics, data }: RpcLog,
    { emitter, numbered, decimals }: Pick<IndexedLog, 'emitter' | 'numbered' | 'decimals'>,
  ) => {
    const { out, begin, end } = records.log
    begin(number, place)
    const start = writeLog(out, tx, emitter, numbered.id, decimals)
    const firstTopic = firstTopicOf(numbered)
    for (let t = firstTopic; t < topics.length; t++)
      topicIds[t - firstTopic] = packTopic(out, topics[t]!, context.addressOfTopic)
    endTopics(out, start)
    packData(out, data, ids)
    end()
  }

  const addCall = (number: number, place: number, call: BlockCall) => {
    const { tx, trace, from, to, signature, args, reverted, depth, callType, revert } = call
    const numbered = context.signature(signature)
    const targetId = ids.address(to)
    const decimals = decimalsFor(call, targetId, to)
    const fromId = ids.address(from)
    const { out, begin, end } = records.call
    begin(number, place)
    writeCall(out, {
      trace: trace ?? -1,
      signature: numbered.id,
      decimals: decimals ?? null,
      reverted,
      tx,
      from: fromId,
      to: targetId,
      depth,
      callType: context.names.id(callType),
    })
    end()
    columns.call(call, numbered.id)
    pairs.call.add(termOf(fromId, CALLER), 0, counts.call)
    if (revert?.name) pairs.call.add(termOf(context.names.id(revert.name), REVERT_NAME), 0, counts.call)
    indexing.call({ signature, args, numbered, target: targetId, decimals }, counts.call++)
  }

  const addTrace = (number: number, place: number, trace: RpcTrace, txInput: string | undefined) => {
    const { out, begin, end } = records.trace
    const isFirst = begin(number, place)
    write.trace(out, trace, txInput, isFirst)
    end()
    index.trace(trace, counts.trace++)
  }

  const add = (input: DecodedDocuments) => {
    const number = Number(input.raw.block.number)
    decimals.clear()
    // A transaction's call data is that of its first trace.
    ids.packed = input.traces.length > 0 ? new Map() : undefined
    const { block, receipts } = input.raw
    index.block(block, times.length)

    const places = placesOf(input.raw)
    if (places) partials.set(times.length, places)
    addBlock(number, input.raw, places)
    let logIndex = 0
    for (let i = 0; i < receipts.length; i++) {
      const tx = block.transactions[i]!
      const receipt = receipts[i]!
      const place = places ? places.txs[i]! : i
      const method = input.methods[i] ?? undefined
      const failure = input.failures[i]
      const transaction = {
        tx,
        receipt,
        method,
        failure,
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
        const decimals = decimalsFor(decoded, emitter, log.address)
        const at = places ? places.logs[logIndex]! : logIndex
        addLog([number, at], place, log, { emitter, numbered, decimals })
        columns.log(emitter, numbered.id, place)
        const { topics } = log
        indexing.log({ signature, args, numbered, emitter, decimals, topics, topicIds }, counts.log++)
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
    get blocks() {
      return times.length
    },
    get documents() {
      return RECORD_KINDS.reduce((sum, kind) => sum + counts[kind], times.length)
    },
    finish: () => ({
      events,
      scoped,
      counts,
      header: {
        ends: byKind(RECORD_KINDS, kind => Uint32Array.from(ends[kind])),
        times: Float64Array.from(times),
        numbers: Uint32Array.from(numbers),
        partials,
      },
      blocks: blocks.finish(),
      records: byKind(RECORD_KINDS, kind => records[kind].finish()),
      pairs: byKind(COUNTED_KINDS, kind => pairs[kind].finish()),
      numbers: byKind(NUMBERED_KINDS, kind => numeric[kind].finish()),
      columns: columns.finish(),
    }),
  }
}

/** The buffers of a piece, to be moved to another thread instead of copied. */
export const pieceBuffers = ({ header, blocks, records, pairs, numbers, columns }: Piece): ArrayBuffer[] =>
  [
    header.times,
    header.numbers,
    ...Object.values(header.ends),
    blocks.cells,
    blocks.pool,
    ...[records, pairs, numbers].flatMap(byKind => Object.values<object>(byKind).flatMap(arraysOf)),
    ...columns.values(),
  ].map(array => array.buffer as ArrayBuffer)

const arraysOf = (arrays: object): ArrayBufferView[] => Object.values(arrays)

const CALLER = fieldId('call', 'from')
const REVERT_NAME = fieldId('call', 'revertName')

/** Reads a field of a trace, as the mapping names it; of rewards, no transaction. */
const stepReader = (field: string): ((trace: RpcTrace) => unknown) =>
  field === 'transactionPosition'
    ? trace => (trace.type === 'reward' ? undefined : trace.transactionPosition)
    : traceReader(field)
