import type { Batch } from '../../../src/engine/documents/batch.ts'
import { tableColumns } from '../../../src/engine/documents/forms.ts'
import type { Reader } from '../../../src/engine/reader.ts'
import type { Db } from '../../../src/sqlite/database.ts'
import { decodeColumn, encodeColumn, type StoredColumn } from './columns.ts'

/** Fields that have a column; of a log the transaction follows from the segment's header. */
export const TX_FIELDS = ['from', 'to', 'method', 'type', 'status', 'nonce', 'gas', 'gasPrice', 'gasUsed', 'value']
export const LOG_FIELDS = { address: 1, signature: 2, tx: 3 } as const
const TX_COLUMNS = tableColumns('tx', 'tx')

const LENGTH = 2 ** 24
/** Missing values stand below all others. */
const MISSING = -1

/** Stored integers beyond 2^53 come near enough as doubles for an order; equal ones are then compared exactly. */
const numberOf = (cell: number, pool: Buffer): number => {
  if (Number.isNaN(cell) || cell === Number.POSITIVE_INFINITY) return MISSING
  if (cell >= 0) return cell
  const place = -1 - cell
  const offset = Math.floor(place / LENGTH)
  return Number(`0x${pool.toString('hex', offset + 1, offset + (place - offset * LENGTH))}`)
}

/** The columns of a batch, which is a segment. */
export const columnsOfBatch = ({ rows: { tx, log } }: Batch): [field: string, blob: Buffer][] => {
  const pick = ({ cells, pool }: Batch['rows']['tx'], stride: number, offset: number): Float64Array => {
    const bytes = Buffer.from(pool.buffer)
    const values = new Float64Array(cells.length / stride)
    for (let i = 0, at = offset; i < values.length; i++, at += stride) values[i] = numberOf(cells[at]!, bytes)
    return values
  }
  const places = TX_FIELDS.map(name => 1 + TX_COLUMNS.findIndex(({ field }) => field === name))
  return [
    ...TX_FIELDS.map((name, i): [string, Buffer] => [
      `tx.${name}`,
      encodeColumn(pick(tx, 1 + TX_COLUMNS.length, places[i]!)),
    ]),
    ...Object.entries(LOG_FIELDS).map(([name, offset]): [string, Buffer] => [
      `log.${name}`,
      encodeColumn(pick(log, 7, offset)),
    ]),
  ]
}

export const createColumnWriter = (db: Db) => {
  db.exec('CREATE TABLE col (segment INT NOT NULL, field TEXT NOT NULL, data BLOB NOT NULL)')
  db.exec('CREATE UNIQUE INDEX col_field ON col (field, segment)')
  const insert = db.prepare('INSERT INTO col (segment, field, data) VALUES (?, ?, ?)')
  return db.transaction((segment: number, columns: readonly [string, Buffer][]) => {
    for (const [field, blob] of columns) insert.run(segment, field, blob)
  })
}

/** One column of all segments in order, beside what their headers tell. */
export const openColumns = (db: Db, reader: Reader) => {
  const select = db.prepare('SELECT data FROM col WHERE field = ? ORDER BY segment').pluck()
  const headers = reader.segments().map(segment => reader.header(segment))
  return {
    headers,
    blobs: (name: string) => select.all(name) as Buffer[],
    field: (name: string): StoredColumn[] => (select.all(name) as Buffer[]).map(decodeColumn),
  }
}
