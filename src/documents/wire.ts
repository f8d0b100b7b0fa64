import { type Field, type FieldKind, isList, type List } from '../mapping/index.ts'
import * as show from './show.ts'

/** How a value of the wire looks in `_source`, as it would once it was stored; undefined where nothing of it would be kept. */
export type Shown = (value: unknown, big: show.BigIntegers) => unknown

/** Bytes as lower-case hex; half a byte at the start is padded. */
export const lowerHex = (hex: string): string => (hex.length % 2 ? `0x0${hex.slice(2)}` : hex).toLowerCase()

export const shownOf = (declaration: Field | List): Shown => {
  if (isList(declaration)) return listOf(declaration)
  return declaration.words ? words : BY_KIND[declaration.kind]
}

/** Call data is kept as whole bytes from its start. */
const words: Shown = value => {
  const hex = (value as string).toLowerCase()
  return hex.length % 2 ? hex.slice(0, -1) : hex
}

const integerOf =
  (kind: FieldKind): Shown =>
  (value, big) => {
    const integer = parse(value)
    return integer === undefined ? undefined : show.INTEGERS[kind](integer, big)
  }

/** Hex digits of integers that a double holds exactly whatever they are: 13 digits are 52 bits. */
const EXACT_DIGITS = 13

/** Some nodes write small integers as JSON numbers, or leave nothing behind the `0x`. */
const parse = (value: unknown): show.Integer | undefined => {
  const number = value === '0x' ? 0 : Number(value)
  if (Number.isNaN(number)) return undefined
  if (typeof value === 'string' && value.length <= 2 + EXACT_DIGITS) return number
  return number < Number.MAX_SAFE_INTEGER ? number : BigInt(value as string)
}

const integerHex = (value: unknown): string =>
  typeof value === 'number' ? show.rawHex(value) : (value as string).toLowerCase()

/** Padded digits stay as they are; a zero before an odd number of them means nothing. */
const hexNumber: Shown = value => {
  const hex = integerHex(value)
  return hex.length % 2 === 0 && hex.length > 3 ? hex : show.member('hexNumber', hex.slice(2))
}

const hex: Shown = value => lowerHex(value as string)

const BY_KIND = {
  address: value => show.address(value as string),
  hex,
  hexList: value => (value as string[]).map(lowerHex),
  hexNumber,
  quantity: integerOf('quantity'),
  wide: integerOf('wide'),
  amount: integerOf('amount'),
  boolean: value => value === '0x1' || value === true,
  seconds: integerOf('seconds'),
  datetime: integerOf('datetime'),
  keyword: String,
  text: String,
  long: integerOf('long'),
  integers: value => (value as unknown[]).map(Number),
  double: integerOf('double'),
  integer256: integerOf('integer256'),
  decimal: integerOf('decimal'),
  flattened: value => value,
} as const satisfies Record<FieldKind, Shown>

/** Objects with the members of the mapping that they carry. */
const listOf = ({ members }: List): Shown => {
  const named = Object.entries(members).map(([name, { kind }]) => ({ name, kind, older: snakeCase(name) }))
  return value =>
    (value as Record<string, unknown>[]).map(item => {
      const shown: Record<string, unknown> = {}
      for (const { name, kind, older } of named) {
        const member = item[name] ?? item[older]
        if (member === undefined || member === null) continue
        shown[name] =
          kind === 'hexList' ? (member as string[]).map(lowerHex) : show.member(kind, integerHex(member).slice(2))
      }
      return shown
    })
}

/** Some older nodes and exports write `validator_index`. */
export const snakeCase = (name: string): string => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
