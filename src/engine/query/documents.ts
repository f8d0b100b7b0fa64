import { createEventDecoder, createFunctionDecoder, type FunctionDecoder } from '../../decode/abi.ts'
import type { DecodedArg, DecodeResult } from '../../decode/types.ts'
import { callDocument } from '../../documents/calls.ts'
import { type BlockContract, contractDocument, type ShownCode } from '../../documents/contracts.ts'
import type { Document } from '../../documents/document.ts'
import { type BlockParts, blockParts, eventDocument, logDocument } from '../../documents/logs.ts'
import * as show from '../../documents/show.ts'
import { type TokenStandard, tokenDocument } from '../../documents/tokens.ts'
import { traceDocument } from '../../documents/traces.ts'
import { decodeRlp, type Rlp } from '../../lib/rlp.ts'
import { type Field, type Kind, type List, MAPPING } from '../../mapping/index.ts'
import { type Column, type Stored, tableColumns } from '../documents/forms.ts'
import { unpack } from '../documents/pack.ts'
import { createStored, readVarints, type StoredLog } from '../documents/stored.ts'
import type { Reader } from '../reader.ts'
import { blockOf, PLACES, placeOf, positionOf } from '../schema.ts'
import { itemsOf } from './sparse.ts'

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

/** Rebuilds documents from rows: `_source` is kept nowhere. */
export const createDocuments = ({ reader, big, bloom }: DocumentsOptions): Documents => {
  const decoders = new Map<number, (topics: readonly string[], data: string) => DecodeResult>()
  const address = (id: number): string => show.address(`0x${reader.addressDigits(id)}`)
  const stored = createStored(reader)
  const blocks = createBlocks(reader)
  const transactionHashes = createTransactionHashes(reader)

  const shown = (column: Column, cell: Cell, position: number): unknown => {
    if (cell === null) return undefined
    switch (column.form) {
      case 'address':
        return cell === 0 ? null : address(cell as number)
      case 'bytes':
        return typeof cell === 'number' ? null : `0x${(cell as Buffer).toString('hex')}`
      case 'words':
        return typeof cell === 'number' ? null : unpack(cell as Buffer, reader.addressDigits)
      case 'bloom':
        if (typeof cell === 'number') return cell === 0 ? null : bloom(logsOf(position))
        return `0x${cell.toString('hex')}`
      case 'hashes':
        return typeof cell === 'number' ? null : hashesOf(cell)
      case 'uint':
        return cell === -1 ? null : show.INTEGERS[(column.declaration as Field).kind](integerOf(cell), big)
      case 'digits':
        return cell === -1 ? null : digitsOf(cell)
      case 'boolean':
        return cell === 2 ? null : cell === 1
      case 'name':
        return cell === 0 ? null : reader.name(cell as number)
      case 'integers':
        return typeof cell === 'number' ? null : readVarints(cell)
      case 'list':
        return typeof cell === 'number' ? null : listOf(column.declaration as List, decodeRlp(cell))
    }
  }

  /** Addresses and topics of a transaction's logs. Documents of one block are often asked for together. */
  const logsOf = (position: number) => {
    const block = blockOf(position)
    const place = placeOf(position)
    const range = [positionOf(block, 0), positionOf(block, PLACES - 1)]
    if (block !== lastBlock.number) {
      lastBlock = { number: block, rows: undefined }
      return readLogs.all(...range, place, place).map(toBloomLog)
    }
    lastBlock.rows ??= Map.groupBy(readLogs.all(...range, 0, PLACES) as BloomRow[], row => row[3])
    return (lastBlock.rows.get(place) ?? []).map(toBloomLog)
  }
  const readLogs = reader
    .prepare('SELECT address, signature, topics, tx FROM log WHERE pos BETWEEN ? AND ? AND tx BETWEEN ? AND ?')
    .raw()
  let lastBlock: { number: number; rows: Map<number, BloomRow[]> | undefined } = { number: -1, rows: undefined }

  const toBloomLog = (row: unknown) => {
    const [id, signature, topics] = row as BloomRow
    return {
      address: `0x${reader.addressDigits(id)}`,
      topics: stored.topics(signature, topics),
    }
  }

  const load: Record<Kind, (position: number) => Document | undefined> = {
    block(position) {
      const cells = readBlock.get(position) as Cell[] | undefined
      if (!cells) return undefined
      const number = blockOf(position)
      const source = assemble('block', cells, position, {
        number: show.quantity(number, big),
        transactions: transactionHashes.ofBlock(number),
      })
      return { _id: source.hash as string, _source: source }
    },
    tx(position) {
      const small = readTx.get(position) as Cell[] | undefined
      if (!small) return undefined
      const bulk = readTxBulk.get(position) as Cell[]
      const { hash, time } = blocks.get(blockOf(position))
      const source = assemble('tx', small.concat(bulk), position, {
        blockHash: hash,
        blockNumber: show.quantity(blockOf(position), big),
        timestamp: time,
        transactionIndex: show.quantity(placeOf(position), big),
      })
      return { _id: source.hash as string, _routing: hash, _parent: hash, _source: source }
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
      const args = error === null ? decode(log) : null
      const { decimals } = log
      return eventDocument(placeOfLog(position, log), { event, args, error, probability, decimals }, big)
    },
    trace: position => traceAt(position),
    call: position => callAt(position),
    contract(position) {
      const row = readContract.get(position) as ContractRow | undefined
      if (!row) return undefined
      const [addressId, creator, tx, code, implementation, name, source, probability] = row
      const number = blockOf(position)
      const place = {
        block: blocks.get(number),
        transactionHash: transactionHashes.get(positionOf(number, tx)),
      }
      const parts = {
        address: address(addressId),
        creator: address(creator),
        code: code === null ? null : codeAt(code),
        implementation: implementation === null ? null : address(implementation),
        abi: { name: text(name), source: text(source) as BlockContract['abi']['source'], probability },
      }
      return contractDocument(place, parts, big)
    },
    token(position) {
      const row = readToken.get(position) as TokenRow | undefined
      if (!row) return undefined
      const [id, name, symbol, decimals, standard, error] = row
      const parts = {
        address: address(id),
        name: text(name),
        symbol: text(symbol),
        decimals,
        standard: text(standard) as TokenStandard,
        error: text(error),
      }
      return tokenDocument(blocks.get(blockOf(position)), parts, big)
    },
  }
  const text = (id: number | null): string | null => (id === null ? null : reader.name(id))
  const readContract = reader
    .prepare('SELECT address, creator, tx, code, implementation, name, abi, probability FROM contract WHERE pos = ?')
    .raw()
  const readToken = reader.prepare('SELECT id, name, symbol, decimals, standard, error FROM token WHERE pos = ?').raw()
  const readCode = reader.prepare('SELECT hash, size, selectors, topics, standard, source FROM code WHERE id = ?').raw()
  const codeAt = (id: number): ShownCode => {
    const [hash, size, selectors, topics, standard, source] = readCode.get(id) as CodeCells
    return {
      hash: `0x${hash.toString('hex')}`,
      size,
      selectors: itemsOf(selectors.toString('hex'), 4),
      topics: itemsOf(topics.toString('hex'), 32),
      standard: text(standard),
      standardSource: text(source) as ShownCode['standardSource'],
    }
  }

  const traceAt = (position: number): Document | undefined => {
    const [tx, ...small] = (readTrace.get(position) as Cell[] | undefined) ?? []
    if (tx === undefined) return undefined
    const cells = small.concat(readTraceBulk.get(position) as Cell[])
    const fields = new Map<string, unknown>()
    for (const { field, column, index } of FIELDS.trace) {
      const value = column ? shown(column, cells[index]!, position) : undefined
      if (value !== undefined) fields.set(field, value)
    }
    const number = blockOf(position)
    const block = blocks.get(number)
    if (tx === null) {
      const first = readFirstReward.get(positionOf(number, 0), positionOf(number, PLACES - 1)) as number
      return traceDocument({ block, reward: position - first }, fields, big)
    }
    const transactionIndex = tx as number
    const transactionHash = transactionHashes.get(positionOf(number, transactionIndex))
    return traceDocument({ block, transactionHash, transactionIndex }, fields, big)
  }
  const callAt = (position: number): Document | undefined => {
    const call = stored.call(position)
    if (!call) return undefined
    const { tx, value, input, traceAddress, reverted, decimals } = call
    const number = blockOf(position)
    const { event, probability } = reader.signature(call.signature)
    const { args, error } = event ? decodeCall(call.signature, input) : NOTHING_DECODED
    const parts = {
      block: blocks.get(number),
      transactionHash: transactionHashes.get(positionOf(number, tx)),
      transactionIndex: tx,
      from: address(call.from),
      to: address(call.to),
      value: value === null || value === -1 ? null : show.amount(integerOf(value), big),
      callType: reader.name(call.callType),
      traceAddress,
      reverted,
      selector: input.slice(0, 10),
      event,
      args,
      error,
      probability: event && probability,
      decimals,
    }
    return callDocument(parts, big)
  }

  const decodeCall = (signature: number, input: string) => {
    let decoder = callDecoders.get(signature)
    if (!decoder) {
      decoder = createFunctionDecoder(reader.signature(signature).event!)
      callDecoders.set(signature, decoder)
    }
    return decoder(input)
  }
  const callDecoders = new Map<number, FunctionDecoder>()

  const readTrace = reader.prepare(`SELECT tx, ${namesOf('trace', 'trace')} FROM trace WHERE pos = ?`).raw()
  const readTraceBulk = reader.prepare(`SELECT ${namesOf('trace', 'trace_bulk')} FROM trace_bulk WHERE pos = ?`).raw()
  const readFirstReward = reader.prepare('SELECT min(pos) FROM trace WHERE pos BETWEEN ? AND ? AND tx IS NULL').pluck()

  /** `_source` in the order of the mapping, of cells and of what the position tells. */
  const assemble = (
    kind: 'block' | 'tx',
    cells: readonly Cell[],
    position: number,
    derived: Record<string, unknown>,
  ) => {
    const source: Record<string, unknown> = {}
    for (const { field, column, index } of FIELDS[kind]) {
      const value = column ? shown(column, cells[index]!, position) : derived[field]
      if (value !== undefined) source[field] = value
    }
    return source
  }
  const readBlock = reader.prepare(`SELECT ${namesOf('block', 'block')} FROM block WHERE pos = ?`).raw()
  // Two statements take a third of the time of one that joins the tables.
  const readTx = reader.prepare(`SELECT ${namesOf('tx', 'tx')} FROM tx WHERE pos = ?`).raw()
  const readTxBulk = reader.prepare(`SELECT ${namesOf('tx', 'tx_bulk')} FROM tx_bulk WHERE pos = ?`).raw()

  const placeOfLog = (position: number, { address: emitter, tx }: StoredLog) => {
    const number = blockOf(position)
    return {
      block: blocks.get(number),
      transactionHash: transactionHashes.get(positionOf(number, tx)),
      transactionIndex: tx,
      logIndex: placeOf(position),
      address: address(emitter),
    }
  }

  const decode = ({ signature, topics, data }: StoredLog): DecodedArg[] | null => {
    let decoder = decoders.get(signature)
    if (!decoder) {
      decoder = createEventDecoder(reader.signature(signature).event!)
      decoders.set(signature, decoder)
    }
    return decoder(topics, data).args
  }

  let version = -1
  return {
    load(kind, positions) {
      // What is known of blocks by their numbers holds for one state of the store: a reorganisation replaces them.
      if (reader.version() !== version) {
        blocks.clear()
        transactionHashes.clear()
        lastBlock = { number: -1, rows: undefined }
        version = reader.version()
      }
      return positions.map(load[kind])
    },
  }
}

type ContractRow = [
  address: number,
  creator: number,
  tx: number,
  code: number | null,
  implementation: number | null,
  name: number | null,
  source: number | null,
  probability: number | null,
]
type TokenRow = [
  id: number,
  name: number | null,
  symbol: number | null,
  decimals: number | null,
  standard: number | null,
  error: number | null,
]
type CodeCells = [
  hash: Buffer,
  size: number,
  selectors: Buffer,
  topics: Buffer,
  standard: number | null,
  source: number | null,
]

type Cell = number | Buffer | null
type BloomRow = [address: number, signature: number, topics: Buffer | null, tx: number]

/** Columns in the order in which they are read: a transaction's small ones, then its bulk. */
const COLUMNS = {
  block: tableColumns('block', 'block'),
  tx: [...tableColumns('tx', 'tx'), ...tableColumns('tx', 'tx_bulk')],
  trace: [...tableColumns('trace', 'trace'), ...tableColumns('trace', 'trace_bulk')],
}
const namesOf = (kind: Stored, table: string) =>
  tableColumns(kind, table)
    .map(({ field }) => `"${field}"`)
    .join(', ')

/** Members of `_source` in the order of the mapping, with the column of those that have one. */
const fieldsOf = (kind: Stored) =>
  Object.keys(MAPPING[kind].fields).map(field => {
    const index = COLUMNS[kind].findIndex(column => column.field === field)
    return { field, column: COLUMNS[kind][index], index }
  })
const FIELDS = { block: fieldsOf('block'), tx: fieldsOf('tx'), trace: fieldsOf('trace') }

/** The integer of the stored form `uint`. */
const integerOf = (cell: number | Buffer): show.Integer =>
  typeof cell === 'number' ? cell : BigInt(`0x${cell.toString('hex', 1)}`)

/** Hex text of the stored form `digits`: what has a zero in place of a length is shown with all its digits. */
const digitsOf = (cell: number | Buffer): string => {
  if (typeof cell === 'number') return show.rawHex(cell)
  return cell[0] === 0 ? `0x${cell.toString('hex', 1)}` : show.rawHex(integerOf(cell))
}

const NOTHING_DECODED = { args: null, error: null } as const

const hashesOf = (bytes: Buffer): string[] =>
  Array.from({ length: bytes.length / 32 }, (_, i) => `0x${bytes.toString('hex', i * 32, i * 32 + 32)}`)

const listOf = (declaration: List, items: Rlp): unknown[] => {
  const members = Object.entries(declaration.members)
  return (items as Rlp[]).map(item =>
    Object.fromEntries(
      members.flatMap(([name, member], index) => {
        const [value] = (item as Rlp[])[index] as Rlp[]
        return value === undefined ? [] : [[name, memberOf(member, value)]]
      }),
    ),
  )
}

const memberOf = ({ kind }: Field, value: Rlp): unknown =>
  kind === 'hexList' ? (value as Rlp[]).map(item => `0x${digits(item)}`) : show.member(kind, digits(value))

const digits = (bytes: Rlp): string => Buffer.from(bytes as Uint8Array).toString('hex')

const createBlocks = (reader: Reader) => {
  const known = new Map<number, BlockParts>()
  return {
    get(number: number) {
      let block = known.get(number)
      if (!block) {
        const [hash, time] = reader
          .prepare('SELECT hash, timestamp FROM block WHERE pos = ?')
          .raw()
          .get(positionOf(number, 0)) as [Buffer, number]
        block = blockParts(number, `0x${hash.toString('hex')}`, time)
        if (known.size > 1_000) known.clear()
        known.set(number, block)
      }
      return block
    },
    clear: () => known.clear(),
  }
}

/** Hashes of transactions by position; only those of the present state of the store are kept. */
const createTransactionHashes = (reader: Reader) => {
  const known = new Map<number, string>()
  return {
    get(position: number): string {
      let hash = known.get(position)
      if (!hash) {
        const bytes = reader.prepare('SELECT hash FROM tx_bulk WHERE pos = ?').pluck().get(position) as Buffer
        hash = `0x${bytes.toString('hex')}`
        if (known.size > 2_000) known.clear()
        known.set(position, hash)
      }
      return hash
    },
    ofBlock(number: number): string[] {
      const rows = reader
        .prepare('SELECT hash FROM tx_bulk WHERE pos BETWEEN ? AND ?')
        .pluck()
        .all(positionOf(number, 0), positionOf(number, PLACES - 1)) as Buffer[]
      return rows.map(hash => `0x${hash.toString('hex')}`)
    },
    clear: () => known.clear(),
  }
}
