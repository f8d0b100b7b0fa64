// By default import: with an older Node, a missing name would end the program before it asks for a
// newer one.
import zlib from 'node:zlib'
import { joinByteArrays, joinDoubleArrays, joinWordArrays } from '../../../lib/arrays.ts'
import { type ByteWriter, createByteWriter } from '../../../lib/bytes.ts'
import type { RecordKind } from '../../../mapping/index.ts'
import { damagedValue } from '../../../sqlite/damage.ts'
import { cursor, takeVarint } from '../../forms/form.ts'
import { blockOf, positionOf } from '../../schema.ts'
import { PLACES_PER_ROW } from '../columns.ts'

/** Records share one buffer, which moves between threads without a copy. */
export interface RecordRows {
  positions: Float64Array<ArrayBuffer>
  lengths: Uint32Array<ArrayBuffer>
  bytes: Uint8Array<ArrayBuffer>
}

export const createRecordRows = (kind: RecordKind) => {
  const size = PLACES_PER_ROW[kind]
  const out = createByteWriter(1 << 14)
  const pool = createByteWriter(1 << 16)
  const positions: number[] = []
  const lengths: number[] = []
  const ends = new Uint32Array(size)
  let count = 0
  let block = -1
  let first = -1

  const flush = () => {
    if (count === 0) return
    const start = pool.length
    writeRow(pool, out, ends, count)
    positions.push(positionOf(block, first))
    lengths.push(pool.length - start)
    out.truncate(0)
    count = 0
  }

  return {
    /** Takes the record, between `begin` and `end`. */
    out,
    /** True if the record is the first one of its row. Places ascend within a block. */
    begin(number: number, place: number): boolean {
      const inside = place % size
      if (number !== block || place - inside !== first) {
        flush()
        block = number
        first = place - inside
      }
      while (count < inside) ends[count++] = out.length
      return out.length === 0
    },
    end() {
      ends[count++] = out.length
    },
    finish(): RecordRows {
      flush()
      return { positions: Float64Array.from(positions), lengths: Uint32Array.from(lengths), bytes: pool.take() }
    },
  }
}

/** No row holds records of two parts. */
export const joinRecordRows = (parts: readonly RecordRows[]): RecordRows => {
  const [first, ...others] = parts
  if (first && others.length === 0) return first
  return {
    positions: joinDoubleArrays(parts.map(part => part.positions)),
    lengths: joinWordArrays(parts.map(part => part.lengths)),
    bytes: joinByteArrays(parts.map(part => part.bytes)),
  }
}

export const writeRow = (out: ByteWriter, records: ByteWriter, ends: Uint32Array, count: number): void => {
  const start = out.length
  out.byte(PLAIN_ROW)
  out.varint(count)
  for (let i = 0; i < count; i++) out.varint(ends[i]! - (i === 0 ? 0 : ends[i - 1]!))
  out.bytes(records.view())
  appendChecksum(out, start)
}

const PLAIN_ROW = 0
const ROW_CHECKSUM_BYTES = 4

export const appendChecksum = (out: ByteWriter, start: number): void => {
  const sum = zlib.crc32(out.view(start))
  out.reserve(ROW_CHECKSUM_BYTES).writeUInt32LE(sum, out.length)
  out.advance(ROW_CHECKSUM_BYTES)
}

/** End of the bytes before the checksum; throws if it is wrong. */
export const endOfSealed = (bytes: Buffer, table: string, block: number): number => {
  const end = bytes.length - ROW_CHECKSUM_BYTES
  if (end < 0 || zlib.crc32(bytes.subarray(0, end)) !== bytes.readUInt32LE(end)) throw damagedRow(table, block)
  return end
}

const damagedRow = (table: string, block: number) => damagedValue(`block ${block} in the table "${table}"`)

/** Finds where the records of a row begin, and where the last one ends; returns their number. */
export const startsIn = (bytes: Buffer, table: string, position: number, starts: Uint32Array): number => {
  const block = blockOf(position)
  const end = endOfSealed(bytes, table, block)
  cursor.at = 1
  const count = takeVarint(bytes)
  if (bytes[0] !== PLAIN_ROW || !(count < starts.length)) throw damagedRow(table, block)
  let sum = 0
  for (let i = 0; i < count; i++) {
    starts[i] = sum
    sum += takeVarint(bytes)
  }
  const begin = cursor.at
  if (begin + sum !== end) throw damagedRow(table, block)
  for (let i = 0; i < count; i++) starts[i]! += begin
  starts[count] = end
  return count
}

export const newStarts = (): Uint32Array => new Uint32Array(Math.max(...Object.values(PLACES_PER_ROW)) + 1)
