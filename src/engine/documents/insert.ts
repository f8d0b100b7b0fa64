import type { Db } from '../../sqlite/database.ts'
import type { RecordRows } from './records/rows.ts'
import { cellValue, type Rows } from './rows.ts'

/** `verb` tells what becomes of a row that is there. */
export const rowInserter = (db: Db, table: string, columns: number, rows: number, verb?: 'INSERT OR REPLACE') => {
  const many = manyInserter(db, table, columns, rows, verb)
  return {
    add({ cells, pool }: Rows) {
      const bytes = Buffer.from(pool.buffer)
      for (let i = 0; i < cells.length; i++) many.push(cellValue(cells[i]!, bytes))
      many.flush()
    },
    discard: many.discard,
  }
}

/** Inserts rows of records. */
export const recordInserter = (db: Db, table: string) => {
  const many = manyInserter(db, table, 2, RECORD_ROWS)
  return {
    add({ positions, lengths, bytes }: RecordRows) {
      const pool = Buffer.from(bytes.buffer)
      let start = 0
      for (let i = 0; i < positions.length; i++) {
        many.push(positions[i]!)
        many.push(pool.subarray(start, start + lengths[i]!))
        start += lengths[i]!
      }
      many.flush()
    },
    discard: many.discard,
  }
}
/** Rows of one statement. */
const RECORD_ROWS = 16

/** Inserts rows by statements of many VALUES, which takes half the time of single ones. */
export const manyInserter = (db: Db, table: string, columns: number, rows: number, verb = 'INSERT') => {
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
      // Holds on to no batch's buffers.
      values = new Array(size)
    },
    discard() {
      count = 0
      values = new Array(size)
    },
  }
}
