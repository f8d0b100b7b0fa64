import zlib from 'node:zlib'
import { damagedValue } from '../../sqlite/damage.ts'
import { createFilterKeys } from './bloom-filter.ts'
import { FIELDS_PER_VALUE, HASHED } from './terms.ts'

/**
 * Term blocks: the terms of a segment in ascending order with their ordinals, packed into rows of
 * some 1,000 bytes. Long lists of ordinals have their own rows. All rows end with a CRC-32 of the
 * bytes before; integers are little-endian.
 *
 * Block: number of fields (1 byte), bytes of an ordinal (1 byte), fields of its terms (3 bytes
 * each), then its terms:
 *
 *     varint  2 × (value − previous value), + 1 if it has more than one document
 *     u8      index of the field in the block's list
 *     u32     fingerprint, if the value is hashed
 *     one document: its ordinal; else varint number of documents, varint n:
 *       even: a list of n / 2 bytes follows, see ordinals.ts; odd: it is in row (n − 1) / 2
 *
 * Rows of a segment are numbered: 0 is the root, 1 the filter, see term-rows.ts.
 */
const MAX_BLOCK_FIELDS = 255
/**
 * Four rows of this size fill a page of 4 kB. A lookup reads one in each segment that has the term.
 * Rows of 4 kB would save 7 % of the index, but take two and a half times as long.
 */
const BLOCK_BYTES = 1001
const CHECKSUM_BYTES = 4
/** Longer lists have their own row. */
const LIST_BYTES = 250
/** Maximal bytes before a list: two varints, a new field, a fingerprint, and two varints. */
const ENTRY_BYTES = 5 + 1 + 3 + 4 + 4 + 4

/** Bytes of an ordinal for this number of documents. */
export const ordinalBytes = (documents: number): number => (documents <= 2 ** 16 ? 2 : documents <= 2 ** 24 ? 3 : 4)

/** Blocks by their first term. */
export interface TermBlocks {
  terms: Float64Array
  fingerprints: Uint32Array
  rows: Uint32Array
}

export type TermWriter = ReturnType<typeof createTermWriter>

/** Packs terms into blocks. `put` stores a row, whose bytes are reused, and returns its number. */
export const createTermWriter = (width: number, put: (bytes: Uint8Array) => number) => {
  const blocks = { terms: [] as number[], fingerprints: [] as number[], rows: [] as number[] }
  const entries = Buffer.allocUnsafeSlow(BLOCK_BYTES)
  const block = Buffer.allocUnsafeSlow(BLOCK_BYTES)
  const codes = new Map<number, number>()
  const keys = createFilterKeys()
  const limit = BLOCK_BYTES - CHECKSUM_BYTES - 2
  let at = 0
  let before = 0

  const varint = (value: number) => {
    while (value >= 0x80) {
      entries[at++] = (value & 0x7f) | 0x80
      value = value < 2 ** 31 ? value >>> 7 : Math.floor(value / 128)
    }
    entries[at++] = value
  }

  const flush = () => {
    if (at === 0) return
    block[0] = codes.size
    block[1] = width
    let to = 2
    for (const field of codes.keys()) to = block.writeUIntLE(field, to, 3)
    entries.copy(block, to, 0, at)
    blocks.rows.push(put(block.subarray(0, to + at)))
    codes.clear()
    at = 0
    before = 0
  }

  /** Begins a term, `more` being what follows of it at most. */
  const begin = (term: number, fingerprint: number, isList: 0 | 1, more: number) => {
    const value = Math.floor(term / FIELDS_PER_VALUE)
    const field = term - value * FIELDS_PER_VALUE
    if (at + codes.size * 3 + ENTRY_BYTES + more > limit || codes.size === MAX_BLOCK_FIELDS) flush()
    if (at === 0) {
      blocks.terms.push(term)
      blocks.fingerprints.push(fingerprint)
    }
    keys.add(term)
    varint((value - before) * 2 + isList)
    before = value
    let code = codes.get(field)
    if (code === undefined) {
      code = codes.size
      codes.set(field, code)
    }
    entries[at++] = code
    if (value >= HASHED) at = entries.writeUInt32LE(fingerprint, at)
  }

  const stored = (term: number, fingerprint: number, count: number, row: number) => {
    begin(term, fingerprint, 1, 0)
    varint(count)
    varint(row * 2 + 1)
  }

  return {
    /** Terms come in ascending order. */
    single(term: number, fingerprint: number, ordinal: number): void {
      begin(term, fingerprint, 0, 0)
      at = entries.writeUIntLE(ordinal, at, width)
    },
    /** A list of two documents at least. */
    list(term: number, fingerprint: number, count: number, bytes: Uint8Array) {
      if (bytes.length > LIST_BYTES) return stored(term, fingerprint, count, put(bytes))
      begin(term, fingerprint, 1, bytes.length)
      varint(count)
      varint(bytes.length * 2)
      entries.set(bytes, at)
      at += bytes.length
    },
    /** A list that has its row already. */
    stored,
    /** `keys` are those of the terms for the filter. */
    finish(): TermBlocks & { keys: Uint32Array } {
      flush()
      return {
        terms: Float64Array.from(blocks.terms),
        fingerprints: Uint32Array.from(blocks.fingerprints),
        rows: Uint32Array.from(blocks.rows),
        keys: keys.finish(),
      }
    },
  }
}

/** Iterates over the terms of a block: `next` sets the fields to the next term. */
export interface TermCursor {
  term: number
  fingerprint: number
  /** Number of documents. */
  count: number
  /** The document, if `count` is 1. */
  ordinal: number
  /** Row of the list; -1 if it is in `bytes`. */
  row: number
  start: number
  end: number
  bytes: Buffer
  open(block: Buffer): void
  /** False at the end of the block. */
  next(): boolean
  /** Moves to the first later term that is not below `term`, of any fingerprint. */
  seek(term: number): boolean
}

export const createTermCursor = (): TermCursor => {
  const fields: number[] = []
  let at = 0
  let stop = 0
  let width = 0
  let value = 0

  const varint = (bytes: Buffer): number => {
    let byte = bytes[at++]!
    if (byte < 0x80) return byte
    let result = byte & 0x7f
    for (let factor = 128; ; factor *= 128) {
      byte = bytes[at++]!
      result += (byte & 0x7f) * factor
      if (byte < 0x80) return result
    }
  }

  /** Passes over the terms of lower values, without telling of them. */
  const skipBelow = (wanted: number) => {
    const { bytes } = cursor
    while (at < stop) {
      const start = at
      const head = bytes[at]! < 0x80 ? bytes[at++]! : varint(bytes)
      const reached = value + (head >>> 1)
      if (reached >= wanted) {
        at = start
        return
      }
      value = reached
      at += reached < HASHED ? 1 : 5
      if ((head & 1) === 0) at += width
      else {
        varint(bytes)
        const place = varint(bytes)
        if (place % 2 === 0) at += place / 2
      }
    }
  }

  const cursor: TermCursor = {
    ...{ term: 0, fingerprint: 0, count: 0, ordinal: 0, row: -1, start: 0, end: 0, bytes: Buffer.alloc(0) },
    open(block) {
      const count = block[0]!
      width = block[1]!
      cursor.bytes = block
      stop = block.length - CHECKSUM_BYTES
      at = 2 + 3 * count
      fields.length = 0
      for (let i = 0, from = 2; i < count; i++, from += 3) fields.push(block.readUIntLE(from, 3))
      value = 0
      cursor.term = -1
    },
    next() {
      if (at >= stop) return false
      const { bytes } = cursor
      const head = varint(bytes)
      const isList = head % 2 === 1
      value += isList ? (head - 1) / 2 : head / 2
      cursor.term = value * FIELDS_PER_VALUE + fields[bytes[at++]!]!
      if (value >= HASHED) {
        cursor.fingerprint =
          (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0
        at += 4
      } else cursor.fingerprint = 0
      cursor.row = -1
      if (isList) {
        cursor.count = varint(bytes)
        const place = varint(bytes)
        if (place % 2 === 1) cursor.row = (place - 1) / 2
        else {
          cursor.start = at
          at += place / 2
          cursor.end = at
        }
      } else {
        cursor.count = 1
        cursor.ordinal = bytes[at]! | (bytes[at + 1]! << 8)
        if (width > 2) cursor.ordinal += bytes[at + 2]! * 2 ** 16
        if (width > 3) cursor.ordinal += bytes[at + 3]! * 2 ** 24
        at += width
      }
      return true
    },
    seek(term) {
      skipBelow(Math.floor(term / FIELDS_PER_VALUE))
      while (cursor.next()) if (cursor.term >= term) return true
      return false
    },
  }
  return cursor
}

/** A row as it is stored. */
export const sealRow = (bytes: Uint8Array): Buffer => {
  const row = Buffer.allocUnsafeSlow(bytes.length + CHECKSUM_BYTES)
  row.set(bytes)
  row.writeUInt32LE(zlib.crc32(bytes), bytes.length)
  return row
}

/** Verifies the checksum and returns the row, with its checksum. */
export const checkRow = (row: Buffer): Buffer => {
  const end = row.length - CHECKSUM_BYTES
  if (end < 0 || zlib.crc32(row.subarray(0, end)) !== row.readUInt32LE(end)) throw damagedValue('a row of the index')
  return row
}

export const rowContent = (row: Buffer): Buffer => row.subarray(0, row.length - CHECKSUM_BYTES)
