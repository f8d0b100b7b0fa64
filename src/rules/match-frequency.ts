import type { Compare } from '../query/ast.ts'

/**
 * How large a share of a kind's entities an equality with this operand finds, roughly, as mainnet's traffic is: rules are found by their
 * rarest equality.
 */
export const frequencyOf = ({ steps }: Pick<Compare, 'steps'>, operand: string): number =>
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
