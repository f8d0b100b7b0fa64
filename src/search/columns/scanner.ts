import type { TableCell } from './argument-values.ts'

/**
 * Reads cells from the text of an answer by one regular expression, in a fifth of the time that
 * parsing takes. It knows how documents are written; where one differs, the caller parses.
 */

export interface ScannedHits {
  rows: TableCell[][]
  /** Where the list of hits ends. */
  end: number
}

/** A value in `_source`: its pattern with one group, and the cell of what the group matched. */
export interface ScannedValue {
  pattern: string
  read(text: string | undefined): TableCell
}

/** The members of `_source`, in their order there. `at`: place of the first cell. */
export type ScannedMember =
  | { path: string; text: string }
  | { path: string; value: ScannedValue; at: number }
  | {
      path: string
      args: readonly { type: string; hasUnits: boolean; read(hex: string): TableCell }[]
      anyUnits: boolean
      at: number
    }

/** Neither escaped nor beyond ASCII, so that the bytes are the text. */
const PLAIN_ASCII = '[ !#-[\\]-~]*'

export const SCANNED_TEXT: ScannedValue = { pattern: `(?:null|"(${PLAIN_ASCII})")`, read: text => text ?? null }

export const SCANNED_JSON: ScannedValue = {
  pattern: '(null|true|false|[-+.eE\\d]+|\\[[\\d,]*\\])',
  read: text => JSON.parse(text!) as TableCell,
}

export const scannedRaw = (integer: (hex: string) => TableCell): ScannedValue => ({
  pattern: '(?:null|\\{"raw":"(0x[0-9a-f]+)"\\})',
  read: text => (text === undefined ? null : integer(text)),
})

const SCANNED_UNITS: ScannedValue = {
  pattern: '(null|[-+.eE\\d]+)',
  read: text => (text === 'null' ? null : Number(text)),
}

export const createHitScanner = (members: readonly ScannedMember[], fields: number) => {
  /** The value of each group, and the place of its cell; -1 for none. */
  const groups: { value: ScannedValue; at: number }[] = []
  const group = (value: ScannedValue, at: number): string => {
    groups.push({ value, at })
    return value.pattern
  }
  const memberPattern = (member: ScannedMember): string => {
    if ('text' in member) return escapePattern(member.text)
    if ('value' in member) return group(member.value, member.at)
    let { at } = member
    const patterns = member.args.map(({ type, hasUnits, read }) => {
      const hex = group({ pattern: `"(${PLAIN_ASCII})"`, read: text => read(text!) }, at++)
      const units = member.anyUnits ? `,"scaled":${group(SCANNED_UNITS, hasUnits ? at++ : -1)}` : ''
      return `\\{"value":\\{"hex":${hex}${units},"type":${escapePattern(JSON.stringify(type))}\\}\\}`
    })
    return `\\[${patterns.join()}\\]`
  }
  const source = members.map(member => `"${member.path}":${memberPattern(member)}`).join()
  const hit = new RegExp(`\\{[^{}]*"_source":\\{${source}\\}(?:,"sort":\\[[^\\]]*\\])?\\}([,\\]])`, 'y')
  const size = Math.max(fields, ...groups.map(({ at }) => at + 1))
  return (answer: Buffer, from: number): ScannedHits | undefined => {
    const text = answer.toString('latin1', from)
    if (text.startsWith(']')) return { rows: [], end: from }
    const rows: TableCell[][] = []
    hit.lastIndex = 0
    for (;;) {
      const found = hit.exec(text)
      if (!found) return undefined
      const row = new Array<TableCell>(size)
      for (let i = 0; i < groups.length; i++) {
        const { value, at } = groups[i]!
        if (at >= 0) row[at] = value.read(found[i + 1])
      }
      rows.push(row)
      if (found[groups.length + 1] === ']') return { rows, end: from + hit.lastIndex - 1 }
    }
  }
}

const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
