// As a whole: a name that an older Node does not have would end the program before it can say which Node it needs.
import zlib from 'node:zlib'
import { joinBytes, joinDoubles, joinWords } from '../../../lib/arrays.ts'
import { type ByteWriter, createByteWriter } from '../../../lib/bytes.ts'
import type { RecordKind } from '../../../mapping/index.ts'
import { impossible } from '../../../sqlite/damage.ts'
import { cursor, takeVarint } from '../../forms/form.ts'
import { blockOf, positionOf } from '../../schema.ts'
import { PLACES_PER_ROW } from '../columns.ts'

/** Rows of one kind on their way to the thread that writes: all bytes in one buffer, so that they move without a copy. */
export interface RecordRows {
  /** Position of the first place of each row. */
  positions: Float64Array<ArrayBuffer>
  lengths: Uint32Array<ArrayBuffer>
  bytes: Uint8Array<ArrayBuffer>
}

export interface RecordRowsBuilder {
  /** Where a record is appended to, between `begin` and `end`. */
  readonly out: ByteWriter
  /** True where the record is the first one of its row. Places ascend within a block. */
  begin(block: number, place: number): boolean
  end(): void
  finish(): RecordRows
}

export const createRecordRows = (kind: RecordKind): RecordRowsBuilder => {
  const size = PLACES_PER_ROW[kind]
  const out = createByteWriter(1 << 14)
  const pool = createByteWriter(1 << 16)
  const positions: number[] = []
  const lengths: number[] = []
  /** Where the records of the row at hand end. */
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
    out,
    begin(number, place) {
      const inside = place % size
      if (number !== block || place - inside !== first) {
        flush()
        block = number
        first = place - inside
      }
      // Places of a partial block that are not stored.
      while (count < inside) ends[count++] = out.length
      return out.length === 0
    },
    end() {
      ends[count++] = out.length
    },
    finish() {
      flush()
      return { positions: Float64Array.from(positions), lengths: Uint32Array.from(lengths), bytes: pool.take() }
    },
  }
}

/** One behind the other: no row holds records of two parts. */
export const joinRecordRows = (parts: readonly RecordRows[]): RecordRows => {
  const [first, ...others] = parts
  if (first && others.length === 0) return first
  return {
    positions: joinDoubles(parts.map(part => part.positions)),
    lengths: joinWords(parts.map(part => part.lengths)),
    bytes: joinBytes(parts.map(part => part.bytes)),
  }
}

/** Appends a row of the records that `records` holds, sealed by its checksum. */
export const writeRow = (out: ByteWriter, records: ByteWriter, ends: Uint32Array, count: number): void => {
  const start = out.length
  out.byte(PLAIN)
  out.varint(count)
  for (let i = 0; i < count; i++) out.varint(ends[i]! - (i === 0 ? 0 : ends[i - 1]!))
  out.bytes(records.view())
  seal(out, start)
}

/** What follows is as it is; any other first byte is kept for later. */
const PLAIN = 0
const SUM = 4

/** Appends the checksum of all bytes from `start` on. */
export const seal = (out: ByteWriter, start: number): void => {
  const sum = zlib.crc32(out.view(start))
  out.reserve(SUM).writeUInt32LE(sum, out.length)
  out.advance(SUM)
}

/** Where sealed bytes end before their checksum; throws where it is another than theirs. */
export const endOfSealed = (bytes: Buffer, table: string, block: number): number => {
  const end = bytes.length - SUM
  if (end < 0 || zlib.crc32(bytes.subarray(0, end)) !== bytes.readUInt32LE(end)) throw damagedRow(table, block)
  return end
}

const damagedRow = (table: string, block: number) => impossible(`block ${block} in the table "${table}"`)

/** Finds where the records of a row begin, and where the last one ends; returns how many there are. */
export const startsIn = (bytes: Buffer, table: string, position: number, starts: Uint32Array): number => {
  const block = blockOf(position)
  const end = endOfSealed(bytes, table, block)
  cursor.at = 1
  const count = takeVarint(bytes)
  if (bytes[0] !== PLAIN || !(count < starts.length)) throw damagedRow(table, block)
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

/** Most records of a row, and one more. */
export const newStarts = (): Uint32Array => new Uint32Array(Math.max(...Object.values(PLACES_PER_ROW)) + 1)
