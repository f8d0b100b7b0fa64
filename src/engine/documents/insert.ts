import type { Db } from '../../sqlite/database.ts'
import type { ContractRow } from './derived-rows.ts'
import type { BlockRows } from './records/block.ts'
import type { RecordRows } from './records/rows.ts'

const blobsOf = ({ lengths, bytes }: Pick<RecordRows, 'lengths' | 'bytes'>): (() => Buffer) => {
  const pool = Buffer.from(bytes.buffer)
  let [start, blob] = [0, 0]
  return () => {
    const from = start
    start += lengths[blob++]!
    return pool.subarray(from, start)
  }
}

export const blockInserter = (db: Db) => {
  const many = manyInserter(db, 'block', 6, 4)
  return {
    add(rows: BlockRows) {
      const { numbers, times } = rows
      const next = blobsOf(rows)
      for (let i = 0; i < numbers.length; i++) many.add(numbers[i]!, next(), times[i]!, next(), next(), next())
      many.flush()
    },
    discard: many.discard,
  }
}

export const contractInserter = (db: Db) => {
  const many = manyInserter(db, 'contract', 9, 16, 'INSERT OR REPLACE')
  return {
    add(rows: readonly ContractRow[]) {
      for (const row of rows) many.add(...row)
      many.flush()
    },
    discard: many.discard,
  }
}

export const recordInserter = (db: Db, table: string) => {
  const many = manyInserter(db, table, 2, RECORD_ROWS)
  return {
    add(rows: RecordRows) {
      const next = blobsOf(rows)
      for (const position of rows.positions) many.add(position, next())
      many.flush()
    },
    discard: many.discard,
  }
}
const RECORD_ROWS = 16

/** Inserts rows by statements of many VALUES, which takes half the time of single ones. */
export const manyInserter = (
  db: Db,
  table: string,
  columns: number,
  rows: number,
  verb: 'INSERT' | 'INSERT OR REPLACE' = 'INSERT',
) => {
  const row = `(${Array(columns).fill('?').join(',')})`
  const one = db.prepare(`${verb} INTO "${table}" VALUES ${row}`)
  const many = db.prepare(`${verb} INTO "${table}" VALUES ${Array(rows).fill(row).join(',')}`)
  const size = columns * rows
  let values: unknown[] = new Array(size)
  let count = 0
  const push = (value: unknown) => {
    values[count++] = value
    if (count < size) return
    many.run(values)
    count = 0
  }
  return {
    push,
    add(...row: unknown[]) {
      for (const value of row) push(value)
    },
    flush() {
      for (let i = 0; i < count; i += columns) one.run(values.slice(i, i + columns))
      count = 0
      // Keeps no batch's buffers alive.
      values = new Array(size)
    },
    discard() {
      count = 0
      values = new Array(size)
    },
  }
}
