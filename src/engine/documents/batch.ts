import type { RawBlock, RpcLog, RpcReceipt, RpcTrace } from '../../chain/wire.ts'
import type { Code } from '../../decode/contract-code.ts'
import type { Delegation } from '../../decode/proxies.ts'
import type { Signature } from '../../decode/types.ts'
import type { BlockCall } from '../../documents/calls.ts'
import type { BlockContract } from '../../documents/contracts.ts'
import type { DecodedBlock } from '../../documents/decoded-block.ts'
import { hasInteger } from '../../documents/logs.ts'
import { type Places, placesOf } from '../../documents/places.ts'
import type { TokenFacts, TokenStandard } from '../../documents/tokens.ts'
import { traceReader } from '../../documents/traces.ts'
import { upgradesIn } from '../../documents/upgrades.ts'
import type { Hash62 } from '../../lib/hash.ts'
import { byKind, type FieldwiseKind, RECORD_KINDS, type RecordKind } from '../../mapping/index.ts'
import { type BatchColumn, createColumnsBuilder } from '../index/column-builder.ts'
import type { Added, Dictionary } from '../index/dictionary.ts'
import { createFieldTerms } from '../index/field-terms.ts'
import { createIndexing, firstTopicOf, type IndexedLog, isEvent, type Numbered } from '../index/indexing.ts'
import { createNumbersBuilder, type Numbers } from '../index/points.ts'
import { createPairsBuilder, type Pairs } from '../index/postings.ts'
import { encodeHeader, type SegmentHeader } from '../index/segment.ts'
import { FULL_LEVEL, levelOf, type SegmentCounts } from '../index/segments.ts'
import { fieldId, termOf } from '../index/terms.ts'
import { positionOf } from '../schema.ts'
import { packTopic } from './pack.ts'
import { blockReader, createBlockWriter } from './records/block.ts'
import { writeCall } from './records/call.ts'
import { endTopics, writeLog } from './records/log.ts'
import { createRecordRows, type RecordRows } from './records/rows.ts'
import { createTraceWriter } from './records/trace.ts'
import { createTxWriter, txReader } from './records/tx.ts'
import { type Ids, writeHex, writeWords } from './records/values.ts'
import { createRowsBuilder, type Rows, type RowsBuilder } from './rows.ts'

/** A run of neighbouring blocks, ready to be written in one transaction; typed arrays all through, so that it moves between threads. */
export interface Batch extends SegmentCounts {
  chainId: number | undefined
  header: Uint8Array<ArrayBuffer>
  rows: Record<'block' | 'contract', Rows>
  records: Record<RecordKind, RecordRows>
  pairs: Pairs
  numbers: Numbers
  columns: BatchColumn[]
  /** Tokens that were seen in no lower block that is stored, with what is known of them by now. */
  sights: (TokenRow & { position: number })[]
  /** Ids of addresses. */
  upgrades: { position: number; address: number; implementation: number | null }[]
  /** Dictionary entries that came up until this batch was finished: this one may use them, or one that is built at the same time. */
  added: Additions
}

/** New dictionary entries. They are written with the first batch that is committed after they came up, whichever that is. */
export interface Additions {
  addresses: Added
  names: Added
  signatures: { first: number; entries: Signature[] }
  codes: CodeRow[]
  /** What contracts answered. */
  tokens: TokenRow[]
  links: LinkRow[]
}

/** Texts by their ids in the dictionary of names, null where there is none. */
export interface CodeRow extends Pick<Code, 'hash' | 'size' | 'selectors' | 'topics' | 'features'> {
  id: number
  standard: number | null
  source: number | null
}

/** The same; `id` is that of its address. */
export interface TokenRow {
  id: number
  decimals: number | null
  name: number | null
  symbol: number | null
  standard: number | null
  error: number | null
}

/** What a contract answered when it was asked for what tokens tell. */
export interface LearntToken extends TokenFacts {
  /** 40 lower-case hex digits. */
  address: string
  /** Null where the answers leave that open. */
  standard: TokenStandard | null
}

/** What a contract was found to run. */
export interface LearntLink {
  /** Lower-case. */
  address: string
  /** Of its own code, as `0x` hex; null where it has none. */
  codeHash: string | null
  delegation: Delegation | null
  /** Up to where the chain was known when it was asked. */
  position: number
}

/** `id` is that of its address. */
export interface LinkRow extends Omit<LearntLink, 'address'> {
  id: number
}

export interface BatchContext {
  /** EIP-155 chain id, where it is known. */
  chainId: number | undefined
  addresses: Dictionary
  names: Dictionary
  signature(signature: Signature): Numbered
  takeSignatures(): { first: number; entries: Signature[] }
  code(code: Code): number
  takeCodes(): { id: number; code: Code }[]
  takeTokens(): LearntToken[]
  takeLinks(): LearntLink[]
  hash(text: string): Hash62
  /** Decimals of the token at an address (40 lower-case digits), undefined where unknown or no token. */
  decimals(address: string): number | undefined
  /** The bloom filter of a receipt's logs, as `0x` hex. */
  bloom(receipt: RpcReceipt): unknown
}

export interface BatchBuilder {
  /** The block above the last one. It is taken apart at once: nothing of it is kept. */
  add(input: DecodedBlock): void
  readonly blocks: number
  /** Documents of all kinds but events. */
  readonly documents: number
  finish(): Batch
}

/** Builds the batch of a run of neighbouring blocks, which have been checked and decoded. */
export const createBatch = (context: BatchContext): BatchBuilder => {
  const rows = { block: createRowsBuilder(), contract: createRowsBuilder() }
  const records = byKind(RECORD_KINDS, createRecordRows)
  const sights: Batch['sights'] = []
  const upgrades: Batch['upgrades'] = []
  const postings = createPairsBuilder()
  const numbers = createNumbersBuilder()
  /** Documents so far. */
  const counts = byKind(RECORD_KINDS, () => 0)
  const ends = byKind(RECORD_KINDS, (): number[] => [])
  const times: number[] = []
  const partials: SegmentHeader['partials'] = new Map()
  /** Dictionary ids of the topics behind the first of the log at hand, where they are addresses. */
  const topicIds: (number | undefined)[] = []
  let first = -1
  let events = 0

  /** By the text of the wire: a block names the same addresses again and again. */
  const known = new Map<string, number>()
  const ids: Ids = {
    address(text) {
      let id = known.get(text)
      if (id === undefined) {
        id = context.addresses.id(digitsOf(text))
        known.set(text, id)
      }
      return id
    },
    addressOfDigits: context.addresses.id,
    name: context.names.id,
    packed: new Map(),
  }
  const write = { block: createBlockWriter(ids), tx: createTxWriter(ids), trace: createTraceWriter(ids) }

  const columns = createColumnsBuilder(ids)
  const termsOf = createFieldTerms(postings, ids, context.hash)
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

  const indexing = createIndexing(context, postings, numbers)

  const addBlock = (number: number, raw: RawBlock, places: Places | undefined) => {
    const { block } = raw
    const row = rows.block
    row.number(number)
    row.beginBlob()
    writeHex(row.pool, block.hash, 2)
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
      topicIds[t - firstTopic] = packTopic(out, topics[t]!, context.addresses.id)
    endTopics(out, start)
    writeWords(out, data, ids)
    end()
  }

  const addCall = (number: number, place: number, call: BlockCall) => {
    const { tx, trace, from, to, signature, args, reverted, depth, callType } = call
    const numbered = context.signature(signature)
    const targetId = ids.address(to)
    const decimals = args && hasInteger(args) ? decimalsOf(targetId, to) : undefined
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
    postings.add(termOf(fromId, CALLER), 0, counts.call)
    indexing.call({ signature, args, numbered, target: targetId, decimals }, counts.call++)
  }

  const addTrace = (number: number, place: number, trace: RpcTrace, txInput: string | undefined) => {
    const { out, begin, end } = records.trace
    const isFirst = begin(number, place)
    write.trace(out, trace, txInput, isFirst)
    end()
    index.trace(trace, counts.trace++)
  }

  const nameId = (text: string | null): number | null => (text === null ? null : context.names.id(text))

  const tokenRow = (
    address: string,
    { decimals, name, symbol, standard, error }: Omit<LearntToken, 'address'>,
  ): TokenRow => ({
    id: context.addresses.id(address),
    decimals,
    name: nameId(name),
    symbol: nameId(symbol),
    standard: nameId(standard),
    error: nameId(error),
  })

  const addContract = (position: number, contract: BlockContract) => {
    const { address, creator, tx, code, implementation, abi } = contract
    const row = rows.contract
    row.number(position)
    row.number(ids.address(address))
    row.number(ids.address(creator))
    row.number(tx)
    numberOrNull(row, code === null ? null : context.code(code))
    numberOrNull(row, implementation === null ? null : ids.address(implementation))
    numberOrNull(row, nameId(abi.name))
    numberOrNull(row, nameId(abi.source))
    numberOrNull(row, abi.probability)
  }

  const add = (input: DecodedBlock) => {
    const number = Number(input.raw.block.number)
    known.clear()
    decimals.clear()
    ids.packed.clear()
    if (times.length === 0) first = number
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
      const transaction = { tx, receipt, method, bloom: context.bloom(receipt) }
      records.tx.begin(number, place)
      write.tx(records.tx.out, transaction)
      records.tx.end()
      index.tx(transaction, counts.tx++)

      for (const log of receipt.logs) {
        const { signature, args } = input.logs[logIndex]!
        const numbered = context.signature(signature)
        const emitter = ids.address(log.address)
        const decimals = args && hasInteger(args) ? decimalsOf(emitter, log.address) : undefined
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
    for (const [at, contract] of input.contracts.entries()) addContract(positionOf(number, at), contract)
    for (const token of input.tokens)
      sights.push({ ...tokenRow(digitsOf(token.address), token), position: positionOf(number, token.place) })
    for (const { address, place, implementation } of upgradesIn(input.raw))
      upgrades.push({
        position: positionOf(number, place),
        address: context.addresses.id(digitsOf(address)),
        implementation: implementation === null ? null : context.addresses.id(digitsOf(implementation)),
      })
    for (const kind of RECORD_KINDS) ends[kind].push(counts[kind])
    times.push(Number(block.timestamp))
  }

  return {
    add,
    get blocks() {
      return times.length
    },
    get documents() {
      return RECORD_KINDS.reduce((sum, kind) => sum + counts[kind], times.length)
    },
    finish() {
      const held = { first, last: first + times.length - 1, events, ...counts }
      // Before the dictionaries are taken: they hold the texts of these.
      const codes = context.takeCodes().map(
        ({ id, code: { hash, size, selectors, topics, features, standard, standardSource } }): CodeRow => ({
          ...{ id, hash, size, selectors, topics, features },
          standard: nameId(standard),
          source: nameId(standardSource),
        }),
      )
      const tokens = context.takeTokens().map(token => tokenRow(token.address, token))
      const links = context.takeLinks().map(
        ({ address, ...link }): LinkRow => ({
          id: context.addresses.id(digitsOf(address)),
          ...link,
        }),
      )
      const header = encodeHeader({
        ends: byKind(RECORD_KINDS, kind => Uint32Array.from(ends[kind])),
        times: Float64Array.from(times),
        partials,
      })
      return {
        chainId: context.chainId,
        ...held,
        header,
        rows: { block: rows.block.finish(), contract: rows.contract.finish() },
        records: byKind(RECORD_KINDS, kind => records[kind].finish()),
        sights,
        upgrades,
        pairs: postings.finish(),
        numbers: numbers.finish(),
        columns: columns.finish(levelOf(held) === FULL_LEVEL),
        added: {
          addresses: context.addresses.takeAdded(),
          names: context.names.takeAdded(),
          signatures: context.takeSignatures(),
          codes,
          tokens,
          links,
        },
      }
    },
  }
}

/** The buffers of a batch, to be moved to another thread instead of copied. */
export const transferables = (batch: Batch): ArrayBuffer[] => [
  batch.header.buffer,
  ...Object.values(batch.rows).flatMap(({ cells, pool }) => [cells.buffer, pool.buffer]),
  ...Object.values(batch.records).flatMap(rows => Object.values(rows).map(({ buffer }) => buffer)),
  ...Object.values(batch.pairs).map(array => array.buffer),
  ...Object.values(batch.numbers).map(array => array.buffer),
  ...batch.columns.map(({ data }) => data.buffer),
]

const numberOrNull = (row: RowsBuilder, value: number | null) => (value === null ? row.null() : row.number(value))

const digitsOf = (address: string): string => address.slice(2).toLowerCase()

const CALLER = fieldId('call', 'from')

/** Reads a field of a trace, as the mapping names it; of rewards, no transaction. */
const stepReader = (field: string): ((trace: RpcTrace) => unknown) =>
  field === 'transactionPosition'
    ? trace => (trace.type === 'reward' ? undefined : trace.transactionPosition)
    : traceReader(field)

/** The call data of the transaction that a trace is of. */
const txInputs = ({ block: { transactions } }: RawBlock, places: Places | undefined) => {
  if (!places)
    return (trace: RpcTrace): string | undefined =>
      trace.type === 'reward' ? undefined : transactions[trace.transactionPosition]?.input
  const inputs = new Map(transactions.map(({ input }, i) => [places.txs[i]!, input]))
  return (trace: RpcTrace): string | undefined =>
    trace.type === 'reward' ? undefined : inputs.get(trace.transactionPosition)
}
