import type { ByteWriter } from '../../lib/bytes.ts'

/**
 * Writes CSV rows, quoted as in RFC 4180. Prevents CSV injection: unless `raw`, an apostrophe
 * precedes text of the chain that spreadsheets would run as a formula.
 */
export const csvRowWriter = ({ raw = false } = {}) => {
  const cellText = raw ? rawCell : safeCell
  return (cells: readonly unknown[], out: ByteWriter): void => {
    let line = ''
    for (let i = 0; i < cells.length; i++) line += (i > 0 ? ',' : '') + quotedCell(cellText(cells[i]))
    out.text(`${line}\r\n`)
  }
}

/** Lists and objects as JSON; missing values as nothing. */
const rawCell = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value)
/** Only for texts: a negative number is no formula. */
const safeCell = (value: unknown): string =>
  typeof value === 'string' && FORMULA.test(value) ? `'${value}` : rawCell(value)

/** A text as a cell, quoted if need be. */
export const csvText = (text: string, raw: boolean): string => quotedCell(raw ? text : safeCell(text))

const FORMULA = /^[=+\-@\t\r]/
const quotedCell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
