import type { Exact } from '../query/ast.ts'
import type { Face } from '../query/compare.ts'
import { parseExact, simplest } from '../query/exact.ts'

/**
 * Keys by which rules are found: what is equal, as numbers or as text in any letter case, has the same key. Several values may share
 * one (hex with leading zeros, an address and the integer of its digits): what a key finds is still compared exactly.
 *
 * An integer is its hex digits, a fraction `digits/scale`, any other text is itself behind a `t`.
 */
export const keyOfText = (text: string): string => {
  const lower = text.toLowerCase()
  if (HEX.test(lower)) return withoutZeros(lower)
  const number = parseExact(lower)
  if (number !== undefined) return keyOfNumber(number)
  return BOOLEANS[lower] ?? `t${lower}`
}

const HEX = /^0x[0-9a-f]+$/
/** Booleans are equal to the numbers 1 and 0, too. */
const BOOLEANS: Readonly<Record<string, string>> = { __proto__: null as never, true: '1', false: '0' }

/** Of what is hex text for sure, as nodes send it. */
export const keyOfHex = (hex: string): string => (hex.length > 2 ? withoutZeros(hex.toLowerCase()) : keyOfText(hex))

const withoutZeros = (lower: string): string => {
  let start = 2
  while (start < lower.length - 1 && lower.charCodeAt(start) === ZERO) start++
  return lower.slice(start)
}

const ZERO = 48

export const keyOfInteger = (value: bigint): string => value.toString(16)

export const keyOfNumber = (number: Exact): string => {
  const { digits, scale } = simplest(number)
  return scale === 0 ? keyOfInteger(digits) : `${digits}/${scale}`
}

/** Keys under one of which every operand stands that the value may be equal to. */
export const keysOfFace = ({ text, number }: Face): string[] => {
  const key = keyOfText(text)
  const other = number === undefined ? key : keyOfNumber(number)
  return key === other ? [key] : [key, other]
}
