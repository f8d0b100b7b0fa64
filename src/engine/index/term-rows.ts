import { rawBytesOf } from '../../lib/bytes.ts'
import { damagedValue } from '../../sqlite/damage.ts'
import type { Db } from '../../sqlite/database.ts'
import { readOrdinals } from './ordinals.ts'
import { checkRow, rowContent, sealRow, type TermBlocks, type TermCursor } from './term-blocks.ts'

/** Maximal rows of a segment in the table `post`; its key is segment × this + row number. */
const ROWS_PER_SEGMENT = 2 ** 20
const ROOT = 0
const FILTER = 1
const FIRST_ROW = 2
/** Segments of fewer blocks have no filter: they are few, and soon merged. */
const FILTERED_BLOCKS = 8

export const rowId = (segment: number, number: number): number => segment * ROWS_PER_SEGMENT + number

/** Cached data of a segment to find a term's block. */
export interface Root extends TermBlocks {
  /** The number of the next new row. */
  next: number
  /** Bytes of an ordinal. */
  width: number
  /** Number of keys in the filter, if any. */
  held: number
}

const ROOT_HEAD_BYTES = 16

/** Layout: next row, ordinal bytes, blocks, filter keys; first terms, fingerprints and rows. */
const encodeRoot = ({ next, width, held, terms, fingerprints, rows }: Root): Buffer =>
  Buffer.concat([Uint32Array.of(next, width, terms.length, held), terms, fingerprints, rows].map(rawBytesOf))

const decodeRoot = (row: Buffer): Root => {
  const { buffer, byteLength } = new Uint8Array(rowContent(row))
  if (byteLength < ROOT_HEAD_BYTES || byteLength % 16 !== 0) throw damagedValue('the root of an index')
  const [next, width, count, held] = new Uint32Array(buffer, 0, 4) as unknown as [number, number, number, number]
  if (byteLength !== ROOT_HEAD_BYTES + count * 16) throw damagedValue('the root of an index')
  return {
    next,
    width,
    held,
    terms: new Float64Array(buffer, ROOT_HEAD_BYTES, count),
    fingerprints: new Uint32Array(buffer, ROOT_HEAD_BYTES + count * 8, count),
    rows: new Uint32Array(buffer, ROOT_HEAD_BYTES + count * 12, count),
  }
}

/** The last block that begins at or before this term; -1 if none. */
export const blockIndexOf = ({ terms, fingerprints }: TermBlocks, term: number, fingerprint: number): number => {
  let low = 0
  let high = terms.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const first = terms[middle]!
    if (first < term || (first === term && fingerprints[middle]! <= fingerprint)) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** Reads rows of the table `post`. */
export const createTermReading = (db: Db) => {
  const select = db.prepare('SELECT bytes FROM post WHERE id = ?').pluck()
  const find = (segment: number, number: number): Buffer | undefined => {
    const row = select.get(rowId(segment, number)) as Buffer | undefined
    return row && checkRow(row)
  }
  return {
    root(segment: number): Root | undefined {
      const row = find(segment, ROOT)
      return row && decodeRoot(row)
    },
    filter(segment: number): Uint32Array<ArrayBuffer> | undefined {
      const row = find(segment, FILTER)
      return row && new Uint32Array(new Uint8Array(rowContent(row)).buffer)
    },
    /** A block or a list, followed by its checksum. */
    row(segment: number, number: number): Buffer {
      const row = find(segment, number)
      if (!row) throw damagedValue('a row of the index')
      return row
    },
  }
}
export type TermReading = ReturnType<typeof createTermReading>

/** Location of a term's ordinals. */
export type ListLocation = Pick<TermCursor, 'count' | 'ordinal' | 'row' | 'start' | 'end' | 'bytes'>

export const ordinalsAt = (reading: TermReading, segment: number, at: ListLocation): Uint32Array => {
  if (at.count === 1) return Uint32Array.of(at.ordinal)
  if (at.row < 0) return readOrdinals(at.bytes, at.count, at.start, at.end)
  return readOrdinals(rowContent(reading.row(segment, at.row)), at.count)
}

/** Whether a segment of this number of blocks has a filter. */
export const isFiltered = (blocks: number): boolean => blocks >= FILTERED_BLOCKS

/** Writes rows of the table `post`. */
export const createTermWriting = (db: Db) => {
  const insert = db.prepare('INSERT INTO post (id, bytes) VALUES (?, ?)')
  const replace = db.prepare('INSERT OR REPLACE INTO post (id, bytes) VALUES (?, ?)')
  const drop = db.prepare('DELETE FROM post WHERE id = ?')
  const dropBelow = db.prepare('DELETE FROM post WHERE id >= ? AND id < ?')
  const nth = db.prepare('SELECT id FROM post WHERE id >= ? AND id < ? ORDER BY id LIMIT 1 OFFSET ?').pluck()
  return {
    add: (segment: number, number: number, bytes: Uint8Array) =>
      void insert.run(rowId(segment, number), sealRow(bytes)),
    /** A row that has its checksum. */
    addSealed: (segment: number, number: number, row: Buffer) => void insert.run(rowId(segment, number), row),
    setRoot: (segment: number, root: Root) => void replace.run(rowId(segment, ROOT), sealRow(encodeRoot(root))),
    setFilter: (segment: number, words: Uint32Array) =>
      void replace.run(rowId(segment, FILTER), sealRow(rawBytesOf(words))),
    drop: (segment: number, number: number) => void drop.run(rowId(segment, number)),
    /** Deletes a number of rows of a segment; returns whether there are more. */
    dropSome(segment: number, count: number): boolean {
      const [first, behind] = [rowId(segment, 0), rowId(segment + 1, 0)]
      const next = nth.get(first, behind, count) as number | undefined
      dropBelow.run(first, next ?? behind)
      return next !== undefined
    },
  }
}
export type TermWriting = ReturnType<typeof createTermWriting>

/** Numbers of a new segment's rows. */
export const rowNumbers = (first = FIRST_ROW) => {
  let next = first
  return {
    take: () => next++,
    get next() {
      return next
    },
  }
}
