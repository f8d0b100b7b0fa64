import type { RawBlock } from '../chain/wire.ts'
import type { BlockContract } from './contracts.ts'
import type { Document } from './document.ts'
import type { BlockParts } from './logs.ts'
import * as show from './show.ts'

export type TokenStandard = 'ERC-20' | 'ERC-721' | 'ERC-1155' | 'ERC-4626'

export interface TokenFacts {
  name: string | null
  symbol: string | null
  decimals: number | null
  error: string | null
}

/** A token that no lower block has. */
export interface BlockToken extends TokenFacts {
  address: string
  standard: TokenStandard
  /** Place among all tokens of the block. */
  place: number
}

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const APPROVAL = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925'
const TRANSFER_SINGLE = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62'
const TRANSFER_BATCH = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb'

/** The only standard whose contracts emit such a log. */
const standardOfLog = (topics: readonly string[]): TokenStandard | undefined => {
  switch (topics[0]?.toLowerCase()) {
    case TRANSFER:
    case APPROVAL:
      return topics.length === 3 ? 'ERC-20' : topics.length === 4 ? 'ERC-721' : undefined
    case TRANSFER_SINGLE:
    case TRANSFER_BATCH:
      return topics.length === 4 ? 'ERC-1155' : undefined
  }
  return undefined
}

const TOKEN_STANDARDS: ReadonlySet<string> = new Set<TokenStandard>(['ERC-20', 'ERC-721', 'ERC-1155', 'ERC-4626'])
const isTokenStandard = (standard: string | null | undefined): standard is TokenStandard =>
  typeof standard === 'string' && TOKEN_STANDARDS.has(standard)

/** Contracts that emit token events, by lower-case address, in the order of the first event. */
export const emittersIn = ({ receipts }: Pick<RawBlock, 'receipts'>): Map<string, TokenStandard> => {
  const emitters = new Map<string, TokenStandard>()
  for (const { logs } of receipts)
    for (const { address, topics } of logs) {
      const standard = standardOfLog(topics)
      if (standard === undefined) continue
      const key = address.toLowerCase()
      if (!emitters.has(key)) emitters.set(key, standard)
    }
  return emitters
}

/** A block's tokens by lower-case address: first those that it creates, then those that emit. */
export const tokensOf = (
  emitters: ReadonlyMap<string, TokenStandard>,
  contracts: readonly Pick<BlockContract, 'address' | 'code'>[],
): Map<string, TokenStandard> => {
  const tokens = new Map<string, TokenStandard>()
  for (const { address, code } of contracts)
    if (isTokenStandard(code?.standard)) tokens.set(address.toLowerCase(), code.standard)
  for (const [address, standard] of emitters) if (!tokens.has(address)) tokens.set(address, standard)
  return tokens
}

export const tokensIn = (
  raw: Pick<RawBlock, 'receipts'>,
  contracts: readonly Pick<BlockContract, 'address' | 'code'>[] = [],
): Map<string, TokenStandard> => tokensOf(emittersIn(raw), contracts)

/** Expects a checksummed address. */
export const tokenDocument = (
  block: BlockParts,
  { address, name, symbol, decimals, standard, error }: Omit<BlockToken, 'place'>,
  big: show.BigIntegers,
): Document => ({
  _id: address.toLowerCase(),
  _source: {
    address,
    name,
    symbol,
    decimals,
    standard,
    firstSeen: show.formatQuantity(block.number, big),
    blockHash: block.hash,
    timestamp: block.datetime,
    error,
  },
})
