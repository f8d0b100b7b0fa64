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

/**
 * A rough share of a kind's entities that equal this operand, as on mainnet: rules are found by
 * their rarest equality.
 */
export const frequencyOf = ({ steps }: Pick<CompareNode, 'steps'>, operand: string): number =>
  (steps[0] === 'args' ? undefined : FREQUENCIES[steps[0]!]) ?? frequencyOfValue(operand)
const HASH_FREQUENCY = 1e-6
const INDEXED_ADDRESS = 1e-4
const TEXT_FREQUENCY = 1e-3
const ADDRESS_FREQUENCY = 2e-3
const INTEGER_FREQUENCY = 1e-2
const NAME_FREQUENCY = 0.1
const BOOLEAN_FREQUENCY = 0.5
const FREQUENCIES: Readonly<Record<string, number | undefined>> = {
  __proto__: null as never,
  hash: HASH_FREQUENCY,
  transactionHash: HASH_FREQUENCY,
  blockHash: HASH_FREQUENCY,
  parentHash: HASH_FREQUENCY,
  from: ADDRESS_FREQUENCY,
  to: ADDRESS_FREQUENCY,
  address: ADDRESS_FREQUENCY,
  contractAddress: INDEXED_ADDRESS,
  blockNumber: INTEGER_FREQUENCY,
  event: NAME_FREQUENCY,
  method: NAME_FREQUENCY,
  signature: NAME_FREQUENCY,
  topics: INTEGER_FREQUENCY,
  type: BOOLEAN_FREQUENCY,
  status: BOOLEAN_FREQUENCY,
  removed: BOOLEAN_FREQUENCY,
  error: BOOLEAN_FREQUENCY,
  probability: BOOLEAN_FREQUENCY,
}
const frequencyOfValue = (operand: string): number => {
  if (operand.length >= 66) return HASH_FREQUENCY
  if (operand.length === 42) return INDEXED_ADDRESS
  if (operand === 'true' || operand === 'false') return BOOLEAN_FREQUENCY
  return operand.length <= 2 ? NAME_FREQUENCY : /^\d+$/.test(operand) ? INTEGER_FREQUENCY : TEXT_FREQUENCY
}
