import type { RawBlock, RpcBlock } from '../../../chain/wire.ts'
import type { BlockPlaces } from '../../../documents/logs.ts'
import { joinByteArrays, joinDoubleArrays, joinWordArrays, lowerBound } from '../../../lib/arrays.ts'
import { type ByteWriter, createByteWriter } from '../../../lib/bytes.ts'
import { writeHexBytes } from '../../forms/bytes.ts'
import { cursor, type Ids, NO_BYTES, takeLength, takeVarint } from '../../forms/form.ts'
import { positionOf } from '../../schema.ts'
import { columnIndex } from '../columns.ts'
import { wireBlockReader } from '../wire-readers.ts'
import { fieldsWriter, seek } from './fields.ts'
import { appendChecksum, endOfSealed, newStarts, startsIn, writeRow } from './rows.ts'

export interface StoredBlock {
  number: number
  hash: Buffer
  time: number
  /** Hashes of its transactions, 32 bytes each, then a checksum. */
  hashes: Buffer
  txs: number
  /** For each transaction, the number of logs up to and including it. */
  logEnds: Uint32Array
  /** Ascending; undefined if they have no gaps. */
  places: BlockPlaces | undefined
}

/** Blobs share one buffer, which moves between threads without a copy. */
export interface BlockRows {
  numbers: Float64Array<ArrayBuffer>
  times: Float64Array<ArrayBuffer>
  /** Lengths of the four blobs of each row: hash, transaction hashes, ends of logs, record. */
  lengths: Uint32Array<ArrayBuffer>
  bytes: Uint8Array<ArrayBuffer>
}

export const createBlockRows = (ids: Ids) => {
  const write = createBlockWriter(ids)
  const pool = createByteWriter(1 << 16)
  const numbers: number[] = []
  const times: number[] = []
  const lengths: number[] = []
  const blob = (append: (out: ByteWriter) => void) => {
    const start = pool.length
    append(pool)
    lengths.push(pool.length - start)
  }
  return {
    add(raw: RawBlock, places: BlockPlaces | undefined) {
      const { block } = raw
      numbers.push(Number(block.number))
      times.push(Number(block.timestamp))
      blob(out => writeHexBytes(out, block.hash, 2))
      blob(out => write.hashes(out, block))
      blob(out => write.ends(out, raw, places))
      blob(out => write.record(out, block))
    },
    finish: (): BlockRows => ({
      numbers: Float64Array.from(numbers),
      times: Float64Array.from(times),
      lengths: Uint32Array.from(lengths),
      bytes: pool.take(),
    }),
  }
}

export const joinBlockRows = (parts: readonly BlockRows[]): BlockRows => ({
  numbers: joinDoubleArrays(parts.map(({ numbers }) => numbers)),
  times: joinDoubleArrays(parts.map(({ times }) => times)),
  lengths: joinWordArrays(parts.map(({ lengths }) => lengths)),
  bytes: joinByteArrays(parts.map(({ bytes }) => bytes)),
})

export const createBlockWriter = (ids: Ids) => {
  const writeFields = fieldsWriter('block', wireBlockReader, ids)
  const record = createByteWriter(1 << 12)
  const end = new Uint32Array(1)
  return {
    hashes(out: ByteWriter, { transactions }: RpcBlock): void {
      const start = out.length
      for (const { hash } of transactions) writeHexBytes(out, hash, 2)
      appendChecksum(out, start)
    },
    ends(out: ByteWriter, { receipts }: RawBlock, places: BlockPlaces | undefined): void {
      const start = out.length
      out.varint(receipts.length * 2 + (places ? 1 : 0))
      for (const { logs } of receipts) out.varint(logs.length)
      if (places) for (const list of [places.txs, places.logs]) writeAscending(out, list)
      appendChecksum(out, start)
    },
    record(out: ByteWriter, block: RpcBlock): void {
      record.truncate(0)
      writeFields(record, block)
      end[0] = record.length
      writeRow(out, record, end, 1)
    },
  }
}

const writeAscending = (out: ByteWriter, places: Uint32Array) => {
  for (let i = 0; i < places.length; i++) out.varint(places[i]! - (i === 0 ? 0 : places[i - 1]!))
}

const HASH_BYTES = 32

export const readBlockRow = (
  number: number,
  [hash, time, hashes, ends]: readonly [Buffer, number, Buffer, Buffer],
): StoredBlock => {
  const txs = endOfSealed(hashes, 'block', number) / HASH_BYTES
  endOfSealed(ends, 'block', number)
  cursor.at = 0
  const isPartial = takeVarint(ends) % 2 === 1
  const logEnds = new Uint32Array(txs)
  let logs = 0
  for (let i = 0; i < txs; i++) {
    logs += takeVarint(ends)
    logEnds[i] = logs
  }
  const places = isPartial ? { txs: readAscending(ends, txs), logs: readAscending(ends, logs) } : undefined
  return { number, hash, time, hashes, txs, logEnds, places }
}

const readAscending = (bytes: Buffer, count: number): Uint32Array => {
  const places = new Uint32Array(count)
  let place = 0
  for (let i = 0; i < count; i++) {
    place += takeVarint(bytes)
    places[i] = place
  }
  return places
}

/** Index of the transaction at a place; -1 if there is none. */
export const indexOfTx = ({ txs, places }: StoredBlock, place: number): number =>
  places ? indexIn(places.txs, place) : place < txs ? place : -1

/** Start of the hash of the transaction at a place; -1 if there is none. */
export const hashStart = (block: StoredBlock, place: number): number => {
  const index = indexOfTx(block, place)
  return index < 0 ? -1 : index * HASH_BYTES
}

export const hashOfTx = (block: StoredBlock, place: number): string | undefined => {
  const start = hashStart(block, place)
  return start < 0 ? undefined : `0x${block.hashes.toString('hex', start, start + HASH_BYTES)}`
}

const indexIn = (places: Uint32Array, place: number): number => {
  const index = lowerBound(places, place)
  return places[index] === place ? index : -1
}

const PARENT_HASH = columnIndex('block', 'parentHash')
const LOGS_BLOOM = columnIndex('block', 'logsBloom')
const starts = newStarts()

export const parentHashIn = (record: Buffer, number: number): string => readBytesField(record, number, PARENT_HASH)!

export const logsBloomIn = (record: Buffer, number: number): string | undefined =>
  readBytesField(record, number, LOGS_BLOOM)

const readBytesField = (record: Buffer, number: number, column: number): string | undefined => {
  startsIn(record, 'block', positionOf(number, 0), starts)
  if (!seek('block', column, record, starts[0]!)) return undefined
  const length = takeLength(record)
  return length === NO_BYTES ? undefined : `0x${record.toString('hex', cursor.at, cursor.at + length)}`
}
