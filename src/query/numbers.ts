import { refuse } from '../lib/errors.ts'
import type { FieldPath } from '../mapping/index.ts'
import { type JsonNode, showJson, toScalar, where } from './json-node.ts'
import { GREATEST_LONG, LEAST_LONG } from './simplify.ts'

/** A number's integer part towards minus infinity, and whether nothing was cut off. */
export interface WholeNumber {
  floor: bigint
  exact: boolean
}

/** Reads an integer, decimal or 0x-hex number without loss; refuses values beyond 64 bits. */
export const readLong = (field: FieldPath, place: JsonNode): WholeNumber => {
  const whole = readInteger(place)
  const least = whole.exact ? LEAST_LONG : LEAST_LONG - 1n
  if (whole.floor < least || whole.floor > GREATEST_LONG) throw outOfLongRange(field, place, whole)
  return whole
}

/** Like `readLong`, for numbers of any size. */
export const readInteger = (place: JsonNode): WholeNumber => {
  const text = numeric(place)
  const whole = HEX_TEXT.test(text) ? { floor: BigInt(text), exact: true } : wholeOfDecimal(text)
  if (whole === undefined) throw notANumber(place, EXPECTED_INTEGER)
  return whole
}

export const readDouble = (place: JsonNode): number => {
  const text = numeric(place)
  const number = DECIMAL_TEXT.test(text) ? Number(text) : Number.NaN
  if (Number.isNaN(number)) throw notANumber(place, 'a number, or a number as text')
  if (!Number.isFinite(number)) {
    throw refuse('illegal_argument_exception', `${where(place)}: ${showJson(place.value)} is too large for a double.`)
  }
  // Minus zero is another number to Elasticsearch, and one that no document has.
  return number === 0 ? 0 : number
}

const numeric = (place: JsonNode): string => {
  if (typeof place.value === 'boolean') throw notANumber(place, 'a number')
  const text = toScalar(place, 'a number')
  if (text.length > LONGEST_NUMBER) throw notANumber(place, `a number of at most ${LONGEST_NUMBER} characters`)
  return text
}

const LONGEST_NUMBER = 400
const EXPECTED_INTEGER = 'an integer, as a number, as decimal text or as 0x-hex text'
const HEX_TEXT = /^0[xX][0-9a-fA-F]+$/
const DECIMAL_TEXT = /^([+-]?)(?=\.?\d)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,9}))?$/

const wholeOfDecimal = (text: string): WholeNumber | undefined => {
  const [, sign, before, after = '', exponent = '0'] = DECIMAL_TEXT.exec(text) ?? []
  if (before === undefined) return undefined
  const digits = BigInt(before + after)
  const scale = Number(exponent) - after.length
  const signed = sign === '-' ? -digits : digits
  if (digits === 0n) return { floor: 0n, exact: true }
  // Far more digits than any integer of a chain has; the number itself no longer matters.
  if (scale > 2 * LONGEST_NUMBER) return { floor: signed << 300n, exact: true }
  if (scale >= 0) return { floor: signed * 10n ** BigInt(scale), exact: true }
  if (scale < -2 * LONGEST_NUMBER) return { floor: signed < 0n ? -1n : 0n, exact: false }
  const unit = 10n ** BigInt(-scale)
  const exact = digits % unit === 0n
  const truncated = signed / unit
  return { floor: !exact && signed < 0n ? truncated - 1n : truncated, exact }
}

const notANumber = (place: JsonNode, expected: string) =>
  refuse('number_format_exception', `${where(place)}: expected ${expected}, received ${showJson(place.value)}.`)

const outOfLongRange = (field: FieldPath, place: JsonNode, { floor, exact }: WholeNumber) => {
  const range = `${showJson(place.value)} is out of range for a long: [${field.path}] holds the numbers from ${LEAST_LONG} to ${GREATEST_LONG}.`
  const hex = exact && floor > 0n && floor < 2n ** 256n ? floor.toString(16) : undefined
  const remedies: Partial<Record<FieldPath['kind'], string>> = {
    quantity: `Larger ones are found by ${field.field}.raw${hex ? ` (0x${hex})` : ''}.`,
    amount: `Larger ones are found by ${field.field}.raw${hex ? ` (0x${hex})` : ''}, and their ranges by ${field.field}.padded${hex ? ` (0x${hex.padStart(64, '0')})` : ''}.`,
    integer256: `Larger ones are found by ${field.path.replace(/num$/, 'hex')}${hex ? ` (0x${hex})` : ''}.`,
  }
  const remedy = remedies[field.kind]
  return refuse('illegal_argument_exception', `${where(place)}: ${range}${remedy ? ` ${remedy}` : ''}`)
}

/** A double as Java writes it: `1.0`, `1.0E10`, `1.0E-4`, `NaN`, `-Infinity`. */
export const javaDouble = (value: number): string => {
  const size = Math.abs(value)
  if (size < 1e7 && size >= 1e-3) return Number.isInteger(value) ? `${value}.0` : String(value)
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0'
  if (!Number.isFinite(value)) return String(value)
  const [mantissa, exponent] = value.toExponential().split('e') as [string, string]
  return `${mantissa.includes('.') ? mantissa : `${mantissa}.0`}E${Number(exponent)}`
}
