import type { CompareNode } from '../query/ast.ts'

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
