import { CLOSE, CLOSE_LIST, COMMA, OPEN, OPEN_LIST, piece, QUOTE } from '../../engine/forms/json.ts'
import { NO_CELL, ROW_MARK } from '../../engine/show/row.ts'
import type { ArgumentReader, TableCell } from './argument-values.ts'
import { addCell, addNull, addText, beginValue, type CellColumn, type Cells, endValue, LENGTH_BYTES } from './cells.ts'
import { writeHexDecimal } from './hex-decimal.ts'

/**
 * Copies cells from the bytes of an answer, in a small part of the time that parsing takes. It knows
 * how documents are written; a hit that differs is parsed.
 */

/** Adds the value at a place to a column, if there is one. Returns its end, or -1 if it differs. */
export type ScanValue = (from: ScannedBytes, at: number, column: CellColumn | undefined) => number

interface ScannedBytes {
  bytes: Buffer
  /** Reads four bytes in the time of one. */
  view: DataView
}

/** The members of `_source`, in their order there. `at`: place of the first cell. */
export type ScannedMember =
  | { path: string; scan: ScanValue; at: number }
  | {
      path: string
      args: readonly { type: string; hasUnits: boolean; reader: ArgumentReader }[]
      anyUnits: boolean
      at: number
    }

/** Reads one hit as a row; the hit as JSON text. */
type ReadHit = (json: string) => readonly TableCell[]

/** Adds rows for the list of hits that begins at a place. Returns its end, or -1 if it has none. */
export type ScanHits = (answer: Buffer, from: number, cells: Cells) => number

export const createHitScanner = (members: readonly ScannedMember[], read: ReadHit): ScanHits => {
  const steps = compileSteps(members)
  const scanHit = (from: ScannedBytes, start: number, { columns }: Cells): number => {
    if (from.bytes[start] === ROW_MARK) return scanRow(from, start + 1, columns)
    let at = sourceOf(from, start)
    for (let i = 0; i < steps.length && at >= 0; i++) {
      const { before, scan, column } = steps[i]!
      at = skipPiece(from, at, before)
      if (at >= 0 && scan) at = scan(from, at, columns[column])
    }
    return at < 0 ? at : endOfEnvelope(from, at)
  }
  return (answer, from, cells) => {
    if (answer[from] === CLOSE_LIST) return from
    const source = { bytes: answer, view: new DataView(answer.buffer, answer.byteOffset, answer.length) }
    for (let at = from; ; at++) {
      let end = scanHit(source, at, cells)
      if (end < 0) {
        cells.drop()
        end = endOfHit(answer, at)
        if (end < 0) return -1
        cells.add(read(answer.toString('utf8', at, end)))
      } else cells.length++
      at = end
      if (answer[at] === CLOSE_LIST) return at
      if (answer[at] !== COMMA) return -1
    }
  }
}

/** Copies a row as the store wrote it. */
const scanRow = ({ bytes, view }: ScannedBytes, start: number, columns: readonly CellColumn[]): number => {
  let at = start
  for (let i = 0; i < columns.length; i++) {
    const size = view.getUint32(at, true)
    at += LENGTH_BYTES
    if (size === NO_CELL) addNull(columns[i]!)
    else {
      addText(columns[i]!, view, at, at + size)
      at += size
    }
  }
  return bytes[at] === CLOSE ? at + 1 : -1
}

interface ScanStep {
  before: ScannedPiece
  scan?: ScanValue
  /** -1 for none. */
  column: number
}

const compileSteps = (members: readonly ScannedMember[]): ScanStep[] => {
  const steps: ScanStep[] = []
  let before = ''
  const step = (scan: ScanValue, column: number) => {
    steps.push({ before: scannedPiece(before), scan, column })
    before = ''
  }
  for (const [i, member] of members.entries()) {
    before += `${i > 0 ? ',' : ''}"${member.path}":`
    if ('scan' in member) step(member.scan, member.at)
    else {
      let { at } = member
      before += '['
      for (const [pos, { type, hasUnits, reader }] of member.args.entries()) {
        before += `${pos > 0 ? ',' : ''}{"value":{"hex":`
        step(scanArgument(reader), at++)
        if (member.anyUnits) {
          before += ',"scaled":'
          step(scanNumber, hasUnits ? at++ : -1)
        }
        before += `,"type":${JSON.stringify(type)}}}`
      }
      before += ']'
    }
  }
  return [...steps, { before: scannedPiece(`${before}}`), column: -1 }]
}

interface ScannedPiece {
  length: number
  /** Four bytes each, and those that remain. */
  words: Int32Array
  rest: Uint8Array
}

const scannedPiece = (text: string): ScannedPiece => {
  const { length, buffer } = piece(text)
  const whole = length & ~3
  return { length, words: new Int32Array(buffer, 0, whole / 4), rest: new Uint8Array(buffer, whole, length - whole) }
}

const NULL_PIECE = scannedPiece('null')
const BARE_START = scannedPiece('{"_source":{')
const SOURCE_START = scannedPiece('"_source":{')
const SORT_START = scannedPiece(',"sort":[')
const RAW_START = scannedPiece('{"raw":')

/** The place after a piece, or -1 if something else is there. */
const skipPiece = ({ bytes, view }: ScannedBytes, start: number, { length, words, rest }: ScannedPiece): number => {
  if (start + length > bytes.length) return -1
  let at = start
  for (let i = 0; i < words.length; i++, at += 4) if (view.getInt32(at, true) !== words[i]) return -1
  for (let i = 0; i < rest.length; i++, at++) if (bytes[at] !== rest[i]) return -1
  return at
}

/** The first member of a hit's `_source`. What is before it has no objects. */
const sourceOf = (from: ScannedBytes, start: number): number => {
  const { bytes } = from
  const bare = skipPiece(from, start, BARE_START)
  if (bare >= 0 || bytes[start] !== OPEN) return bare
  for (let at = start + 1; at < bytes.length; ) {
    const byte = bytes[at]
    if (byte === OPEN || byte === CLOSE) return -1
    const source = byte === QUOTE ? skipPiece(from, at, SOURCE_START) : -1
    if (source >= 0) return source
    at = byte === QUOTE ? plainEnd(bytes, at) : at + 1
    if (at < 0) return -1
  }
  return -1
}

/** The end of a hit after its `_source`. */
const endOfEnvelope = (from: ScannedBytes, at: number): number => {
  const { bytes } = from
  if (bytes[at] === CLOSE) return at + 1
  const sort = skipPiece(from, at, SORT_START)
  if (sort < 0) return -1
  const end = bytes.indexOf(CLOSE_LIST, sort)
  return end >= 0 && bytes[end + 1] === CLOSE ? end + 2 : -1
}

/** The end of a text without escapes, or -1. */
const plainEnd = (bytes: Buffer, at: number): number => {
  for (let end = at + 1; end < bytes.length; end++) {
    const byte = bytes[end]
    if (byte === QUOTE) return end + 1
    if (byte === HIT_BACKSLASH) return -1
  }
  return -1
}

const HIT_BACKSLASH = 0x5c

const scanOrNull =
  (scan: ScanValue): ScanValue =>
  (from, at, column) => {
    if (from.bytes[at] !== LOWER_N) return scan(from, at, column)
    if (column) addNull(column)
    return skipPiece(from, at, NULL_PIECE)
  }
const LOWER_N = 0x6e

/** `size`: characters of values of one length, in which quotes need not be looked for. */
const stringScan =
  (size?: number): ScanValue =>
  ({ bytes, view }, at, column) => {
    if (bytes[at] !== QUOTE) return -1
    const isKnown = size !== undefined && bytes[at + size + 1] === QUOTE
    const end = isKnown ? at + size + 2 : plainEnd(bytes, at)
    if (end >= 0 && column) addText(column, view, at + 1, end - 1)
    return end
  }

export const scanText = (size?: number): ScanValue => scanOrNull(stringScan(size))

/** A text that all hits have. */
export const scanConstant = (text: string): ScanValue => {
  const expected = scannedPiece(JSON.stringify(text))
  return (from, at, column) => {
    const end = skipPiece(from, at, expected)
    if (end >= 0 && column) addCell(column, text)
    return end
  }
}

/** Hex of an argument, as its reader reads it. */
const scanArgument = ({ read, bits, isVerbatim, size }: ArgumentReader): ScanValue => {
  if (isVerbatim) return stringScan(size)
  return ({ bytes }, at, column) => {
    const end = bytes[at] === QUOTE ? plainEnd(bytes, at) : -1
    if (end < 0 || !column) return end
    const first = at + 1 + HEX_TEXT_START
    const size = end - 1 - first
    // Shorter ones have no sign.
    if (bits !== undefined && size > 0 && size * 4 < bits) {
      writeHexDecimal(beginValue(column), bytes, first, end - 1)
      endValue(column)
    } else addCell(column, read(bytes.toString('utf8', at + 1, end - 1)))
    return end
  }
}

const HEX_TEXT_START = 2

/** `{"raw":"0x…"}` */
export const scanRaw = (reader: ArgumentReader): ScanValue => {
  const hex = scanArgument(reader)
  return scanOrNull((from, at, column) => {
    const start = skipPiece(from, at, RAW_START)
    const end = start < 0 ? start : hex(from, start, column)
    return end >= 0 && from.bytes[end] === CLOSE ? end + 1 : -1
  })
}

/** The end of a number, of a word, or of a list of numbers. */
const endOfScalar = (bytes: Buffer, at: number): number => {
  let end = at
  if (bytes[at] === OPEN_LIST) {
    while (bytes[end] !== CLOSE_LIST && end < bytes.length) end++
    return end + 1
  }
  while (bytes[end] !== COMMA && bytes[end] !== CLOSE && end < bytes.length) end++
  return end
}

export const scanJson: ScanValue = scanOrNull(({ bytes }, at, column) => {
  const end = endOfScalar(bytes, at)
  if (column) addCell(column, JSON.parse(bytes.toString('latin1', at, end)) as TableCell)
  return end
})

/** A number as it is written, unless some writers would write it in another way. */
const scanNumber: ScanValue = scanOrNull(({ bytes, view }, at, column) => {
  const end = endOfScalar(bytes, at)
  if (!column) return end
  if (isPlainNumber(bytes, at, end)) addText(column, view, at, end)
  else addCell(column, Number(bytes.toString('latin1', at, end)))
  return end
})

const [ZERO, NINE, POINT] = [0x30, 0x39, 0x2e]
/** Beyond, numbers have an exponent. */
const MAX_INTEGER_DIGITS = 20

/** Whether the digits have no exponent, and no zeros that could be left out. */
const isPlainNumber = (bytes: Buffer, at: number, end: number): boolean => {
  let point = end
  for (let i = at; i < end; i++) {
    const byte = bytes[i]!
    if (byte === POINT && point === end) point = i
    else if (byte < ZERO || byte > NINE) return false
  }
  if (point === at || point - at > MAX_INTEGER_DIGITS) return false
  if (bytes[at] !== ZERO) return point === end ? end - at <= MAX_SAFE_DIGITS : bytes[end - 1] !== ZERO
  return point === end
    ? end - at === 1
    : point === at + 1 && bytes[end - 1] !== ZERO && isNoMillionth(bytes, point, end)
}

/** An integer with more digits may be no double. */
const MAX_SAFE_DIGITS = 15

/** Smaller ones have an exponent: a digit among the first six behind the point is none. */
const isNoMillionth = (bytes: Buffer, point: number, end: number): boolean => {
  for (let i = point + 1; i < end && i <= point + 6; i++) if (bytes[i] !== ZERO) return true
  return false
}

/** The end of the object at a place, or -1 if it has none. */
export const endOfHit = (answer: Buffer, start: number): number => {
  let depth = 0
  for (let at = start; at < answer.length; at++) {
    switch (answer[at]) {
      case QUOTE:
        at = endOfString(answer, at)
        if (at < 0) return -1
        break
      case OPEN:
        depth++
        break
      case CLOSE:
        if (--depth === 0) return at + 1
        break
      default:
        if (depth === 0) return -1
    }
  }
  return -1
}

/** Position of the quotation mark that ends the string starting at `at`. */
const endOfString = (answer: Buffer, at: number): number => {
  for (let end = answer.indexOf(QUOTE, at + 1); end > 0; end = answer.indexOf(QUOTE, end + 1)) {
    let first = end
    while (answer[first - 1] === HIT_BACKSLASH) first--
    if ((end - first) % 2 === 0) return end
  }
  return -1
}
