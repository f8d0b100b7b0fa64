// As a whole: a name that an older Node does not have would end the program before it can say which Node it needs.
import zlib from 'node:zlib'
import Database from 'better-sqlite3'
import { manyInserter } from '../../../src/engine/documents/insert.ts'
import { positionOf } from '../../../src/engine/schema.ts'
import { createByteWriter } from '../../../src/lib/bytes.ts'
import type { Db } from '../../../src/sqlite/database.ts'
import type { BlockRecords } from './records.ts'

/** How stored documents are laid out in rows. */
export interface Layout {
  name: string
  /** Neighbouring documents of a kind in a row (Infinity: all of a block), or a transaction with all that is inside of it. */
  chunk: number | Record<DocumentKind, number> | 'transaction'
  /** Compression by zstd with a dictionary for each kind. */
  zstd?: Dictionaries
  /** Whether all kinds share a table. */
  oneTable?: boolean
  /** Whether the table is WITHOUT ROWID. */
  keyed?: boolean
  /** Whether rows end with a crc32 of their bytes; default true. */
  crc?: boolean
  pageSize?: number
}

export type DocumentKind = 'tx' | 'log' | 'trace' | 'call'
export const DOCUMENT_KINDS = ['tx', 'log', 'trace', 'call'] as const satisfies readonly DocumentKind[]
export type Dictionaries = Partial<Record<DocumentKind | 'mixed', Buffer>>

export const chunkOf = (chunk: Exclude<Layout['chunk'], 'transaction'>, kind: DocumentKind): number =>
  typeof chunk === 'number' ? chunk : chunk[kind]

/** Records joined for one row: their number, their lengths as varints, then their bytes. */
const joined = (records: readonly Uint8Array[]): Buffer => {
  out.truncate(0)
  out.varint(records.length)
  for (const { length } of records) out.varint(length)
  for (const record of records) out.bytes(record)
  return Buffer.from(out.view())
}
const out = createByteWriter(1 << 16)

/** A row ready to be bound: the first byte tells whether it is compressed, the last four are its checksum. */
const sealed = (bytes: Buffer, dictionary: Buffer | undefined, crc: boolean): Buffer => {
  const packed = dictionary ? zlib.zstdCompressSync(bytes, { dictionary }) : bytes
  const isPacked = packed.length < bytes.length
  const body = isPacked ? packed : bytes
  const row = Buffer.allocUnsafe(1 + body.length + (crc ? 4 : 0))
  row[0] = isPacked ? 1 : 0
  row.set(body, 1)
  if (crc) row.writeUInt32LE(zlib.crc32(row.subarray(0, 1 + body.length)), 1 + body.length)
  return row
}

/** Bytes of a row behind its first byte, unpacked. Throws where the checksum is another. */
export const opened = (row: Buffer, dictionary: Buffer | undefined, crc: boolean): { bytes: Buffer; start: number } => {
  const end = row.length - (crc ? 4 : 0)
  if (crc && zlib.crc32(row.subarray(0, end)) !== row.readUInt32LE(end)) throw new Error('a row is damaged')
  if (row[0] === 0) return { bytes: row, start: 1 }
  return { bytes: zlib.zstdDecompressSync(row.subarray(1, end), dictionary ? { dictionary } : {}), start: 0 }
}

export const packedRow = (records: readonly Uint8Array[], dictionary: Buffer | undefined, crc: boolean): Buffer =>
  sealed(joined(records), dictionary, crc)

export interface Row {
  table: DocumentKind | 'mixed'
  key: number
  bytes: Buffer
}

export interface BlockRows {
  block: [number: number, hash: Buffer, time: number, hashes: Buffer, ends: Buffer, record: Buffer]
  rows: Row[]
}

export const rowsOf = (records: BlockRecords, layout: Layout): BlockRows => {
  const { number, hash, time, hashes, block } = records
  const { chunk, zstd, crc = true } = layout
  const rows: Row[] = []
  const put = (table: Row['table'], key: number, list: readonly Uint8Array[]) =>
    rows.push({ table, key, bytes: packedRow(list, zstd?.[table], crc) })
  if (chunk === 'transaction')
    for (const [place, list] of groupByTransaction(records).entries()) put('mixed', positionOf(number, place), list)
  else
    for (const kind of DOCUMENT_KINDS) {
      const list = records[`${kind}s`]
      const size = chunkOf(chunk, kind)
      for (let from = 0; from < list.length; from += size)
        put(kind, positionOf(number, from), list.slice(from, from + size))
    }
  const row = sealed(Buffer.from(block), undefined, crc)
  return { block: [number, hash, time, hashes, logCounts(records), row], rows }
}

/** How many logs each transaction has, as varints. */
const logCounts = ({ txs, logTxs }: BlockRecords): Buffer => {
  const counts = new Array<number>(txs.length).fill(0)
  for (const tx of logTxs) counts[tx]!++
  out.truncate(0)
  for (const count of counts) out.varint(count)
  return Buffer.from(out.view())
}

/** A transaction's record, then those of its logs, traces and calls; calls without traces stand at its end. */
const groupByTransaction = ({ txs, logs, logTxs, traces, traceTxs, calls }: BlockRecords): Uint8Array[][] => {
  const groups = txs.map(tx => [tx])
  for (const [i, log] of logs.entries()) groups[logTxs[i]!]!.push(log)
  for (const [i, trace] of traces.entries()) groups[Math.max(0, traceTxs[i]!)]!.push(trace)
  for (const [i, call] of calls.entries()) groups[Math.min(i, groups.length - 1)]!.push(call)
  return groups
}

export const openStore = (path: string, { pageSize = 4096 }: Pick<Layout, 'pageSize'>): Db => {
  const db = new Database(path)
  db.pragma(`page_size = ${pageSize}`)
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = NORMAL')
  db.pragma('wal_autocheckpoint = 16384')
  db.pragma('cache_size = -131072')
  return db
}

/** Rows of a shared table: each kind at a place of its own within the block, so that a block's rows lie side by side. */
export const keyOf = (table: Row['table'], key: number, oneTable: boolean): number =>
  oneTable && table !== 'mixed' ? key + DOCUMENT_KINDS.indexOf(table) * 2 ** 20 : key

export const createChunkWriter = (path: string, layout: Layout) => {
  const db = openStore(path, layout)
  const { oneTable = false, keyed = false } = layout
  const names: Row['table'][] = layout.chunk === 'transaction' || oneTable ? ['mixed'] : [...DOCUMENT_KINDS]
  const insert: Partial<Record<Row['table'], ReturnType<typeof manyInserter>>> = {}
  for (const name of names) {
    db.exec(`CREATE TABLE "${name}" (pos INTEGER PRIMARY KEY, bytes BLOB NOT NULL)${keyed ? ' WITHOUT ROWID' : ''}`)
    insert[name] = manyInserter(db, name, 2, 16)
  }
  db.exec(
    'CREATE TABLE block (number INTEGER PRIMARY KEY, hash BLOB, time INT, hashes BLOB, ends BLOB, record BLOB NOT NULL)',
  )
  const insertBlock = manyInserter(db, 'block', 6, 1)
  const write = db.transaction((blocks: readonly BlockRows[]) => {
    for (const name of names)
      for (const { rows } of blocks)
        for (const { table, key, bytes } of rows)
          if (oneTable || table === name) insert[name]!.add(keyOf(table, key, oneTable), bytes)
    for (const { block } of blocks) insertBlock.add(...block)
    for (const name of names) insert[name]!.flush()
  })
  const remove = db.transaction((block: number) => {
    for (const name of names) db.prepare(`DELETE FROM "${name}" WHERE pos >= ?`).run(positionOf(block, 0))
    db.prepare('DELETE FROM block WHERE number >= ?').run(block)
  })
  return {
    db,
    write: (blocks: readonly BlockRows[]) => void write.immediate(blocks),
    /** Takes this block and those above out. */
    remove: (block: number) => void remove.immediate(block),
  }
}
