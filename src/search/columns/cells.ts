import { type ByteWriter, createByteWriter } from '../../lib/bytes.ts'
import type { CellType, TableCell } from './argument-values.ts'

/**
 * The cells of a column. Values are text behind one another, as objects for each would take longer
 * than the rest of an export.
 */
export interface CellColumn extends CellType {
  length: number
  /** For each cell 1, or 0 if it is null. */
  present: Uint8Array
  /** UTF-8, each value behind its length in four bytes, as Parquet has it. */
  text: ByteWriter
  /** The values of a column of lists, which has no text. */
  values: TableCell[]
  /** Where the last value begins in the text. */
  last: number
}

/** Bytes before a value. */
export const LENGTH_BYTES = 4

export const createColumn = ({ form, lists }: CellType): CellColumn => ({
  ...{ form, lists, length: 0, present: new Uint8Array(1024), values: [], last: 0 },
  text: createByteWriter(1 << 12),
})

const countCell = (column: CellColumn, isPresent: 0 | 1) => {
  if (column.length === column.present.length) {
    const { present } = column
    column.present = new Uint8Array(present.length * 2)
    column.present.set(present)
  }
  column.present[column.length++] = isPresent
}

export const addNull = (column: CellColumn) => {
  column.last = column.text.length
  countCell(column, 0)
}

/** Begins a value, which is to be written to `text`. */
export const beginValue = (column: CellColumn): ByteWriter => {
  const { text } = column
  column.last = text.length
  text.uint32(0)
  return text
}

export const endValue = (column: CellColumn) => {
  column.text.endSized(column.last)
  countCell(column, 1)
}

/** Adds a value that is written already. */
export const addText = (column: CellColumn, bytes: DataView, start: number, end: number) => {
  const { text } = column
  column.last = text.length
  text.uint32(end - start)
  text.words(bytes, start, end)
  countCell(column, 1)
}

export const addCell = (column: CellColumn, cell: TableCell) => {
  if (cell === null) {
    if (column.lists > 0) column.values.push(null)
    addNull(column)
  } else if (column.lists > 0) {
    column.values.push(cell)
    countCell(column, 1)
  } else {
    beginValue(column).text(String(cell))
    endValue(column)
  }
}

/** Rows of a table. */
export interface Cells {
  columns: readonly CellColumn[]
  /** Number of rows. */
  length: number
  add(row: readonly TableCell[]): void
  append(more: Cells): void
  /** Drops what was added since the last row. */
  drop(): void
  clear(): void
}

export const createCells = (types: readonly CellType[]): Cells => {
  const columns = types.map(createColumn)
  const cells: Cells = {
    columns,
    length: 0,
    add(row) {
      for (let i = 0; i < columns.length; i++) addCell(columns[i]!, row[i]!)
      cells.length++
    },
    append(more) {
      for (const [i, { length, present, text, values }] of more.columns.entries()) {
        const column = columns[i]!
        column.text.bytes(text.view())
        for (const value of values) column.values.push(value)
        for (let row = 0; row < length; row++) countCell(column, present[row] as 0 | 1)
      }
      cells.length += more.length
    },
    drop() {
      for (const column of columns) {
        if (column.length === cells.length) continue
        column.length = cells.length
        if (column.lists > 0) column.values.length = cells.length
        column.text.truncate(column.last)
      }
    },
    clear() {
      for (const column of columns) {
        column.length = 0
        column.values = []
        column.text.clear()
      }
      cells.length = 0
    },
  }
  return cells
}
