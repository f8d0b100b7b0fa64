import type { ByteWriter } from '../../lib/bytes.ts'
import type { TableCell } from './argument-values.ts'
import { csvRowWriter } from './csv.ts'
import type { TableColumn } from './table.ts'

/** Writes rows of a table as text. */
export interface RowWriter {
  /** What stands above the rows. */
  head(out: ByteWriter): void
  row(cells: readonly TableCell[], out: ByteWriter): void
}

export const createTableWriter = (columns: readonly TableColumn[], format: 'ndjson' | 'csv' | 'raw-csv'): RowWriter => {
  if (format !== 'ndjson') {
    const write = csvRowWriter({ raw: format === 'raw-csv' })
    return {
      head: out =>
        write(
          columns.map(({ name }) => name),
          out,
        ),
      row: (cells, out) =>
        write(
          cells.map(cell => (Array.isArray(cell) || typeof cell === 'bigint' ? cellJson(cell) : cell)),
          out,
        ),
    }
  }
  const keys = columns.map(({ name }, i) => `${i === 0 ? '{' : ','}${JSON.stringify(name)}:`)
  return {
    head() {},
    row(cells, out) {
      let line = ''
      for (let i = 0; i < keys.length; i++) line += keys[i]! + cellJson(cells[i]!)
      out.text(keys.length === 0 ? '{}\n' : `${line}}\n`)
    },
  }
}

/** Integers as numbers with all their digits. */
const cellJson = (cell: TableCell): string =>
  typeof cell === 'bigint'
    ? String(cell)
    : Array.isArray(cell)
      ? `[${cell.map(cellJson).join(',')}]`
      : JSON.stringify(cell)
