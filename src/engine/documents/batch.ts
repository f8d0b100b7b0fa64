import type { RpcReceipt, RpcTrace } from '../../chain/wire.ts'
import type { Code } from '../../decode/contract-code.ts'
import type { Delegation } from '../../decode/proxies.ts'
import type { Signature } from '../../decode/types.ts'
import type { BlockCall } from '../../documents/calls.ts'
import type { BlockContract } from '../../documents/contracts.ts'
import type { DecodedBlock } from '../../documents/decoded-block.ts'
import { hasInteger } from '../../documents/logs.ts'
import { placesOf } from '../../documents/places.ts'
import type { TokenFacts, TokenStandard } from '../../documents/tokens.ts'
import { traceReader } from '../../documents/traces.ts'
import { upgradesIn } from '../../documents/upgrades.ts'
import { snakeCase } from '../../documents/wire.ts'
import type { Hash62 } from '../../lib/hash.ts'
import { encodeRlp, type Rlp } from '../../lib/rlp.ts'
import type { Field, List } from '../../mapping/index.ts'
import type { Added, Dictionary } from '../index/dictionary.ts'
import { createIndexing, firstTopicOf, isEvent, type Numbered } from '../index/indexing.ts'
import { createNumbersBuilder, type Numbers } from '../index/points.ts'
import { createPairsBuilder, type Pairs } from '../index/postings.ts'
import { encodeHeader, type SegmentHeader } from '../index/segment.ts'
import type { SegmentCounts } from '../index/segments.ts'
import { FACETS, termOf } from '../index/terms.ts'
import { positionOf } from '../schema.ts'
import { type Column, tableColumns } from './forms.ts'
import { pack, packTopic } from './pack.ts'
import { createRowsBuilder, type Rows, type RowsBuilder } from './rows.ts'

/** A run of neighbouring blocks, ready to be written in one transaction; typed arrays all through, so that it moves between threads. */
export interface Batch extends SegmentCounts {
  chainId: number | undefined
  header: Uint8Array<ArrayBuffer>
  traceEnds: Uint32Array<ArrayBuffer>
  callEnds: Uint32Array<ArrayBuffer>
  rows: Record<TableName, Rows>
  pairs: Pairs
  numbers: Numbers
  /** Tokens that were seen in no lower block that is stored, with what is known of them by now. */
  sights: (TokenRow & { position: number })[]
  /** Ids of addresses. */
  upgrades: { position: number; address: number; implementation: number | null }[]
  /** Dictionary entries that came up until this batch was finished: this one may use them, or one that is built at the same time. */
  added: Additions
}

const AMOUNT = tableColumns('tx', 'tx').find(({ field }) => field === 'value')!

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

export type TableName = 'block' | 'tx' | 'tx_bulk' | 'log' | 'trace' | 'trace_bulk' | 'call' | 'contract'

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

/** Ids of what a block names, given if need be. */
interface Ids {
  /** Of an address as the wire has it. */
  address(text: string): number
  addressOfDigits: Dictionary['id']
  name: Dictionary['id']
  /** Packed forms of large data, by their text: a transaction's is that of its first trace too, and compressing takes time. */
  packed: Map<string, Uint8Array>
}

const COLUMNS = {
  block: tableColumns('block', 'block'),
  tx: tableColumns('tx', 'tx'),
  tx_bulk: tableColumns('tx', 'tx_bulk'),
}

const readColumns = (table: 'trace' | 'trace_bulk') =>
  tableColumns('trace', table).map(column => ({ column, read: traceReader(column.wire) }))
const TRACE_COLUMNS = { trace: readColumns('trace'), trace_bulk: readColumns('trace_bulk') }

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
  const rows = {
    block: createRowsBuilder(),
    tx: createRowsBuilder(),
    tx_bulk: createRowsBuilder(),
    log: createRowsBuilder(),
    trace: createRowsBuilder(),
    trace_bulk: createRowsBuilder(),
    call: createRowsBuilder(),
    contract: createRowsBuilder(),
  }
  const sights: Batch['sights'] = []
  const upgrades: Batch['upgrades'] = []
  const postings = createPairsBuilder()
  const numbers = createNumbersBuilder()
  const txEnds: number[] = []
  const logEnds: number[] = []
  const traceEnds: number[] = []
  const callEnds: number[] = []
  const times: number[] = []
  const excerpts: SegmentHeader['excerpts'] = new Map()
  /** Dictionary ids of the topics behind the first of the log at hand, where they are addresses. */
  const topicIds: (number | undefined)[] = []
  let first = -1
  let txs = 0
  let logs = 0
  let traces = 0
  let calls = 0
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
  const { hashed } = indexing
  const addressTerm = (address: unknown, facet: number, ordinal: number) => {
    if (typeof address === 'string') postings.add(termOf(ids.address(address), facet), 0, ordinal)
  }

  const addCall = (position: number, call: BlockCall) => {
    const { tx, trace, from, to, signature, args, reverted, value, depth, callType } = call
    const numbered = context.signature(signature)
    const targetId = ids.address(to)
    const decimals = args && hasInteger(args) ? decimalsOf(targetId, to) : undefined
    const row = rows.call
    row.number(position)
    row.number(tx)
    if (trace === null) row.null()
    else row.number(trace)
    const fromId = ids.address(from)
    row.number(fromId)
    row.number(targetId)
    row.number(numbered.id)
    if (decimals === undefined) row.null()
    else row.number(decimals)
    row.number(reverted ? 1 : 0)
    encode(row, AMOUNT, value, ids)
    row.number(depth)
    row.number(context.names.id(callType))
    postings.add(termOf(fromId, FACETS['call.from']), 0, calls)
    indexing.call({ signature, args, numbered, target: targetId, decimals }, calls)
  }

  const addTrace = (position: number, trace: RpcTrace) => {
    rows.trace.number(position)
    rows.trace_bulk.number(position)
    if (trace.type === 'reward') rows.trace.null()
    else rows.trace.number(trace.transactionPosition)
    for (const { column, read } of TRACE_COLUMNS.trace) encode(rows.trace, column, read(trace), ids)
    for (const { column, read } of TRACE_COLUMNS.trace_bulk) encode(rows.trace_bulk, column, read(trace), ids)
    const error = readError(trace)
    if (typeof error === 'string') postings.add(termOf(context.names.id(error), FACETS['trace.error']), 0, traces)
    for (const { read, facet } of TRACE_ADDRESSES) addressTerm(read(trace), facet, traces)
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
    const index = times.length
    const number = Number(input.raw.block.number)
    known.clear()
    decimals.clear()
    ids.packed.clear()
    if (index === 0) first = number
    const { block, receipts } = input.raw
    rows.block.number(positionOf(number, 0))
    for (const column of COLUMNS.block) encode(rows.block, column, block[column.wire], ids)
    hashed(block.hash.toLowerCase(), FACETS['block.hash'], index)
    addressTerm(block.miner, FACETS['block.miner'], index)

    const places = placesOf(input.raw)
    if (places) excerpts.set(index, places)
    let logIndex = 0
    for (let i = 0; i < receipts.length; i++) {
      const tx = block.transactions[i]!
      const receipt = receipts[i]!
      const place = places ? places.txs[i]! : i
      const position = positionOf(number, place)
      rows.tx.number(position)
      rows.tx_bulk.number(position)
      const method = input.methods[i] ?? undefined
      for (const table of ['tx', 'tx_bulk'] as const)
        for (const column of COLUMNS[table]) {
          const value =
            column.origin === 'receipt' ? receipt[column.wire] : column.origin === 'decoded' ? method : tx[column.wire]
          if (column.form === 'bloom') encodeBloom(rows[table], value, receipt, context)
          else encode(rows[table], column, value, ids)
        }
      hashed(tx.hash.toLowerCase(), FACETS['tx.hash'], txs)
      addressTerm(tx.from, FACETS['tx.from'], txs)
      addressTerm(tx.to, FACETS['tx.to'], txs)
      addressTerm(receipt.contractAddress, FACETS['tx.contractAddress'], txs)
      if (method !== undefined) postings.add(termOf(context.names.id(method), FACETS['tx.method']), 0, txs)
      if (receipt.status != null && !isTrue(receipt.status)) postings.add(termOf(0, FACETS.failed), 0, txs)

      for (const log of receipt.logs) {
        const { signature, args } = input.logs[logIndex]!
        const numbered = context.signature(signature)
        const firstTopic = firstTopicOf(numbered)
        const emitterId = ids.address(log.address)
        const decimals = args && hasInteger(args) ? decimalsOf(emitterId, log.address) : undefined
        const row = rows.log
        row.number(positionOf(number, places ? places.logs[logIndex]! : logIndex))
        row.number(emitterId)
        row.number(numbered.id)
        row.number(place)
        if (decimals === undefined) row.null()
        else row.number(decimals)
        if (log.topics.length <= firstTopic) row.null()
        else {
          row.beginBlob()
          for (let t = firstTopic; t < log.topics.length; t++)
            topicIds[t - firstTopic] = packTopic(row.pool, log.topics[t]!, context.addresses.id)
          row.endBlob()
        }
        words(row, log.data, ids)

        const { topics } = log
        indexing.log({ signature, args, numbered, emitter: emitterId, decimals, topics, topicIds }, logs)
        if (isEvent(signature, numbered)) events++
        logIndex++
        logs++
      }
      txs++
    }
    for (const [at, trace] of input.traces.entries()) {
      addTrace(positionOf(number, at), trace)
      traces++
    }
    traceEnds.push(traces)
    for (const [at, call] of input.calls.entries()) {
      addCall(positionOf(number, at), call)
      calls++
    }
    callEnds.push(calls)
    for (const [at, contract] of input.contracts.entries()) addContract(positionOf(number, at), contract)
    for (const token of input.tokens)
      sights.push({ ...tokenRow(digitsOf(token.address), token), position: positionOf(number, token.place) })
    for (const { address, place, implementation } of upgradesIn(input.raw))
      upgrades.push({
        position: positionOf(number, place),
        address: context.addresses.id(digitsOf(address)),
        implementation: implementation === null ? null : context.addresses.id(digitsOf(implementation)),
      })
    txEnds.push(txs)
    logEnds.push(logs)
    times.push(Number(block.timestamp))
  }

  return {
    add,
    get blocks() {
      return times.length
    },
    get documents() {
      return times.length + txs + logs + traces + calls
    },
    finish() {
      const last = first + times.length - 1
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
        first,
        last,
        txEnds: Uint32Array.from(txEnds),
        logEnds: Uint32Array.from(logEnds),
        times: Float64Array.from(times),
        excerpts,
      })
      return {
        chainId: context.chainId,
        first,
        last,
        txs,
        logs,
        traces,
        calls,
        events,
        header,
        traceEnds: Uint32Array.from(traceEnds),
        callEnds: Uint32Array.from(callEnds),
        rows: {
          block: rows.block.finish(),
          tx: rows.tx.finish(),
          tx_bulk: rows.tx_bulk.finish(),
          log: rows.log.finish(),
          trace: rows.trace.finish(),
          trace_bulk: rows.trace_bulk.finish(),
          call: rows.call.finish(),
          contract: rows.contract.finish(),
        },
        sights,
        upgrades,
        pairs: postings.finish(),
        numbers: numbers.finish(),
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
  batch.traceEnds.buffer,
  batch.callEnds.buffer,
  ...Object.values(batch.rows).flatMap(({ cells, pool }) => [cells.buffer, pool.buffer]),
  ...Object.values(batch.pairs).map(array => array.buffer),
  ...Object.values(batch.numbers).map(array => array.buffer),
]

/** Hex digits of integers that a double holds exactly whatever they are: 13 digits are 52 bits. */
const EXACT_DIGITS = 13

const numberOrNull = (row: RowsBuilder, value: number | null) => (value === null ? row.null() : row.number(value))

const digitsOf = (address: string): string => address.slice(2).toLowerCase()

/** Characters of data below which they may as well be packed again. */
const LARGE = 1000

const words = (row: RowsBuilder, data: string, ids: Ids) => {
  if (data.length <= 2) return row.null()
  row.beginBlob()
  const packed = data.length > LARGE ? ids.packed.get(data) : undefined
  if (packed) row.pool.bytes(packed)
  else {
    const start = row.pool.length
    pack(row.pool, data, ids.addressOfDigits)
    if (data.length > LARGE) ids.packed.set(data, Buffer.from(row.pool.view(start)))
  }
  row.endBlob()
}

const encodeBloom = (row: RowsBuilder, value: unknown, receipt: RpcReceipt, context: BatchContext) => {
  if (typeof value !== 'string') return value === null ? row.number(0) : row.null()
  if (value === context.bloom(receipt)) return row.number(1)
  bytes(row, value)
}

const bytes = (row: RowsBuilder, hex: string) => {
  row.beginBlob()
  row.pool.hex(hex.length % 2 ? `0${hex.slice(2)}` : hex.slice(2))
  row.endBlob()
}

/** An integer in SQLite's own order (see the form `uint` in columns.ts). `digits` without leading zeros. */
export const encodeInteger = (row: RowsBuilder, digits: string) => {
  if (digits.length <= EXACT_DIGITS) return row.number(digits === '' ? 0 : Number.parseInt(digits, 16))
  const number = Number(`0x${digits}`)
  if (number < Number.MAX_SAFE_INTEGER) return row.number(number)
  row.beginBlob()
  row.pool.byte((digits.length + 1) >> 1)
  row.pool.hex(digits.length % 2 ? `0${digits}` : digits)
  row.endBlob()
}

const withoutLeadingZeros = (hex: string): string => {
  let start = 2
  while (start < hex.length && hex.charCodeAt(start) === 48) start++
  return hex.slice(start)
}

const encode = (row: RowsBuilder, column: Column, value: unknown, ids: Ids) => {
  if (value === undefined) return row.null()
  if (value === null)
    return column.form === 'uint' || column.form === 'digits' ? row.explicitNull() : nullOf(row, column)
  switch (column.form) {
    case 'address':
      return row.number(ids.address(value as string))
    case 'bytes':
    case 'bloom':
      return bytes(row, value as string)
    case 'words':
      return value === '0x' ? emptyBlob(row) : words(row, value as string, ids)
    case 'hashes':
      row.beginBlob()
      for (const hash of value as string[]) row.pool.hex(hash.slice(2))
      return row.endBlob()
    case 'uint':
      // Up to 13 digits a double holds whatever they are, leading zeros included.
      if (typeof value === 'string' && value.length > 2 && value.length <= 2 + EXACT_DIGITS)
        return row.number(Number(value))
      return encodeInteger(row, withoutLeadingZeros(integerHex(value)))
    case 'digits': {
      const hex = integerHex(value)
      const digits = withoutLeadingZeros(hex)
      // Padded digits keep their zeros, behind a byte that is no length.
      if (digits.length < hex.length - 2 && hex.length > 3 && hex.length % 2 === 0)
        return bytes(row, `0x00${hex.slice(2)}`)
      return encodeInteger(row, digits)
    }
    case 'boolean':
      return row.number(isTrue(value) ? 1 : 0)
    case 'name':
      return row.number(ids.name(value as string))
    case 'integers':
      row.beginBlob()
      for (const integer of value as number[]) row.pool.varint(integer)
      return row.endBlob()
    case 'list':
      row.beginBlob()
      row.pool.bytes(encodeRlp(listItems(column.declaration as List, value as Record<string, unknown>[])))
      return row.endBlob()
  }
}

const TRACE_ADDRESSES = Object.entries(FACETS).flatMap(([name, facet]) =>
  name.startsWith('trace.') && name !== 'trace.error'
    ? [{ read: traceReader(name.slice('trace.'.length)), facet }]
    : [],
)
const readError = traceReader('error')

const isTrue = (value: unknown): boolean => value === '0x1' || value === true

const emptyBlob = (row: RowsBuilder) => {
  row.beginBlob()
  row.endBlob()
}

const nullOf = (row: RowsBuilder, column: Column) => row.number(column.form === 'boolean' ? 2 : 0)

/** Some nodes write small integers as JSON numbers. */
const integerHex = (value: unknown): string =>
  typeof value === 'number' ? `0x${value.toString(16)}` : (value as string)

/** Members in the order of the mapping; a member that an item does not carry is an empty list. */
const listItems = (declaration: List, items: Record<string, unknown>[]): Rlp =>
  items.map(item =>
    Object.entries(declaration.members).map(([name, member]) =>
      listMember(member, item[name] ?? item[snakeCase(name)]),
    ),
  )

const listMember = (member: Field, value: unknown): Rlp => {
  if (value === undefined || value === null) return []
  if (member.kind === 'hexList') return [(value as string[]).map(hex => Buffer.from(hex.slice(2), 'hex'))]
  const hex = integerHex(value)
  return [Buffer.from(member.kind === 'hexNumber' ? evenDigits(withoutLeadingZeros(hex)) : hex.slice(2), 'hex')]
}

const evenDigits = (digits: string): string => (digits.length % 2 ? `0${digits}` : digits)
