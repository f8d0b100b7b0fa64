import type { Exact } from './ast.ts'
import type { ComparedValue } from './compare.ts'
import { parseExact, simplifyExact } from './exact.ts'

/**
 * Keys by which rules and values of lists are found. Values that are equal, as numbers or as text in any letter case,
 * have the same key; different values may share one, and are then compared exactly. An integer is
 * its hex digits, a fraction `digits/scale`, any other text is itself after a `t`.
 */
export const keyOfText = (text: string): string => {
  const lower = text.toLowerCase()
  if (HEX_KEY.test(lower)) return trimZeros(lower)
  const number = parseExact(lower)
  if (number !== undefined) return keyOfNumber(number)
  return BOOLEANS[lower] ?? `t${lower}`
}

const HEX_KEY = /^0x[0-9a-f]+$/
const BOOLEANS: Readonly<Record<string, string>> = { __proto__: null as never, true: '1', false: '0' }

/** For text that is surely hex. */
export const keyOfHex = (hex: string): string => (hex.length > 2 ? trimZeros(hex.toLowerCase()) : keyOfText(hex))

const trimZeros = (lower: string): string => {
  let start = 2
  while (start < lower.length - 1 && lower.charCodeAt(start) === ZERO_CHARACTER) start++
  return lower.slice(start)
}

const ZERO_CHARACTER = 48

export const keyOfInteger = (value: bigint): string => value.toString(16)

export const keyOfNumber = (number: Exact): string => {
  const { digits, scale } = simplifyExact(number)
  return scale === 0 ? keyOfInteger(digits) : `${digits}/${scale}`
}

/** Keys of all operands that the value may be equal to. */
export const keysOfFace = ({ text, number }: ComparedValue): string[] => {
  const key = keyOfText(text)
  const other = number === undefined ? key : keyOfNumber(number)
  return key === other ? [key] : [key, other]
}
