import type { CompareNode, Exact } from '../query/ast.ts'
import type { ComparedValue } from '../query/compare.ts'
import { parseExact, simplifyExact } from '../query/exact.ts'

/**
 * Keys by which rules are found. Values that are equal, as numbers or as text in any letter case,
 * have the same key; different values may share one, and are then compared exactly. An integer is
 * its hex digits, a fraction `digits/scale`, any other text is itself after a `t`.
 */
export const keyOfText = (text: string): string => {
  const lower = text.toLowerCase()
  if (HEX.test(lower)) return withoutZeros(lower)
  const number = parseExact(lower)
  if (number !== undefined) return keyOfNumber(number)
  return BOOLEANS[lower] ?? `t${lower}`
}

const HEX = /^0x[0-9a-f]+$/
const BOOLEANS: Readonly<Record<string, string>> = { __proto__: null as never, true: '1', false: '0' }

/** For text that is surely hex. */
export const keyOfHex = (hex: string): string => (hex.length > 2 ? withoutZeros(hex.toLowerCase()) : keyOfText(hex))

const withoutZeros = (lower: string): string => {
  let start = 2
  while (start < lower.length - 1 && lower.charCodeAt(start) === ZERO) start++
  return lower.slice(start)
}

const ZERO = 48

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

/**
 * A rough share of a kind's entities that equal this operand, as on mainnet: rules are found by
 * their rarest equality.
 */
export const frequencyOf = ({ steps }: Pick<CompareNode, 'steps'>, operand: string): number =>
  (steps[0] === 'args' ? undefined : FREQUENCIES[steps[0]!]) ?? frequencyOfValue(operand)
const HASH = 1e-6
const INDEXED_ADDRESS = 1e-4
const TEXT = 1e-3
const ADDRESS = 2e-3
const INTEGER = 1e-2
const NAME = 0.1
const BOOLEAN = 0.5
const FREQUENCIES: Readonly<Record<string, number | undefined>> = {
  __proto__: null as never,
  hash: HASH,
  transactionHash: HASH,
  blockHash: HASH,
  parentHash: HASH,
  from: ADDRESS,
  to: ADDRESS,
  address: ADDRESS,
  contractAddress: INDEXED_ADDRESS,
  blockNumber: INTEGER,
  event: NAME,
  method: NAME,
  signature: NAME,
  topics: INTEGER,
  type: BOOLEAN,
  status: BOOLEAN,
  removed: BOOLEAN,
  error: BOOLEAN,
  probability: BOOLEAN,
}
const frequencyOfValue = (operand: string): number => {
  if (operand.length >= 66) return HASH
  if (operand.length === 42) return INDEXED_ADDRESS
  if (operand === 'true' || operand === 'false') return BOOLEAN
  return operand.length <= 2 ? NAME : /^\d+$/.test(operand) ? INTEGER : TEXT
}
