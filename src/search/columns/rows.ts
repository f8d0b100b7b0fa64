import { NULL, piece, QUOTE } from '../../engine/forms/json.ts'
import type { ByteWriter } from '../../lib/bytes.ts'
import type { TableCell } from './argument-values.ts'
import { type CellColumn, type Cells, LENGTH_BYTES } from './cells.ts'
import { csvRowWriter, csvText } from './csv.ts'
import type { TableColumn } from './table.ts'

/** Writes rows of a table as text. */
export interface RowWriter {
  /** What stands above the rows. */
  head(out: ByteWriter): void
  rows(cells: Cells, out: ByteWriter): void
}

/** Appends a value, which lies between two places. */
type WriteTextCell = (out: ByteWriter, bytes: Buffer, start: number, end: number) => void

interface RowForm {
  /** Before each cell of a row, and after the last. */
  before: readonly Uint8Array[]
  behind: Uint8Array
  missing: Uint8Array
  /** Around texts. */
  quote: Uint8Array
  text: WriteTextCell
  list(cell: TableCell): string
}

export const createTableWriter = (columns: readonly TableColumn[], format: 'ndjson' | 'csv' | 'raw-csv'): RowWriter => {
  if (format === 'ndjson')
    return {
      head() {},
      rows: writeRows(columns, {
        before: columns.map(({ name }, i) => piece(`${i === 0 ? '{' : ','}${JSON.stringify(name)}:`)),
        behind: piece(columns.length === 0 ? '{}\n' : '}\n'),
        missing: NULL,
        quote: piece('"'),
        text: writeJsonText,
        list: cellJson,
      }),
    }
  const raw = format === 'raw-csv'
  const names = columns.map(({ name }) => name)
  return {
    head: out => csvRowWriter({ raw })(names, out),
    rows: writeRows(columns, {
      before: columns.map((_, i) => piece(i === 0 ? '' : ',')),
      behind: piece('\r\n'),
      missing: piece(''),
      quote: piece(''),
      text: csvTextWriter(raw),
      list: cell => csvText(cellJson(cell), raw),
    }),
  }
}

const writeRows =
  (columns: readonly TableColumn[], { before, behind, missing, quote, text, list }: RowForm): RowWriter['rows'] =>
  (cells, out) => {
    const cursors = cells.columns.map(column => cursorOf(column))
    const isText = columns.map(({ form }) => form === 'text' || form === 'time')
    const writeCell = (i: number, row: number) => {
      const cursor = cursors[i]!
      const { column, view, at } = cursor
      if (column.present[row] === 0) return out.bytes(missing)
      if (column.lists > 0) return out.text(list(column.values[row]!))
      const start = at + LENGTH_BYTES
      const end = start + view.getUint32(at, true)
      cursor.at = end
      if (isText[i] && !columns[i]!.isHex) return text(out, cursor.bytes, start, end)
      if (isText[i]) out.bytes(quote)
      out.words(view, start, end)
      if (isText[i]) out.bytes(quote)
    }
    for (let row = 0; row < cells.length; row++) {
      for (let i = 0; i < cursors.length; i++) {
        out.bytes(before[i]!)
        writeCell(i, row)
      }
      out.bytes(behind)
    }
  }

const cursorOf = (column: CellColumn) => {
  const bytes = column.text.view()
  return { column, bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length), at: 0 }
}

/** Copies a value, unless a byte of it is special: then nothing is written. */
const copyUnescaped = (out: ByteWriter, bytes: Buffer, start: number, end: number, special: Uint8Array): boolean => {
  const target = out.reserve(end - start)
  const offset = out.length - start
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!
    if (special[byte] === 1) return false
    target[offset + at] = byte
  }
  out.advance(end - start)
  return true
}

const specialBytes = (isSpecial: (text: string, byte: number) => boolean): Uint8Array =>
  Uint8Array.from({ length: 256 }, (_, byte) => (isSpecial(String.fromCharCode(byte), byte) ? 1 : 0))

/** What JSON escapes, and what a cell is quoted for. */
const JSON_ESCAPED = specialBytes((text, byte) => byte < 0x20 || '"\\'.includes(text))
const CSV_QUOTED = specialBytes(text => ',"\r\n'.includes(text))
/** Formulas begin with none of these. */
const NO_FORMULA = specialBytes((text, byte) => byte < 0x80 && /\w/.test(text))

const writeJsonText: WriteTextCell = (out, bytes, start, end) => {
  out.byte(QUOTE)
  if (copyUnescaped(out, bytes, start, end, JSON_ESCAPED)) return out.byte(QUOTE)
  out.text(JSON.stringify(bytes.toString('utf8', start, end)).slice(1))
}

const csvTextWriter =
  (raw: boolean): WriteTextCell =>
  (out, bytes, start, end) => {
    const isSafe = raw || start === end || NO_FORMULA[bytes[start]!] === 1
    if (!isSafe || !copyUnescaped(out, bytes, start, end, CSV_QUOTED))
      out.text(csvText(bytes.toString('utf8', start, end), raw))
  }

/** Integers as numbers with all their digits. */
const cellJson = (cell: TableCell): string =>
  typeof cell === 'bigint'
    ? String(cell)
    : Array.isArray(cell)
      ? `[${cell.map(cellJson).join(',')}]`
      : JSON.stringify(cell)
