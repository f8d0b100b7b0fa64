import type { Code } from '../../decode/abi-finder.ts'
import type { Delegation } from '../../decode/proxies.ts'
import type { Signature } from '../../decode/types.ts'
import type { BlockContract } from '../../documents/contracts.ts'
import type { BlockToken, TokenFacts, TokenStandard } from '../../documents/tokens.ts'
import type { CodeUpgrade } from '../../documents/upgrades.ts'
import type { Added } from '../index/dictionary.ts'
import { positionOf } from '../schema.ts'
import type { BatchContext } from './batch.ts'

/** New dictionary entries, written with the next batch that is committed, whichever that is. */
export interface Additions {
  addresses: Added
  names: Added
  signatures: { first: number; entries: Signature[] }
  codes: CodeRow[]
  tokens: TokenIds[]
  links: LinkRow[]
}

/** Texts are name ids. */
export interface CodeRow extends Pick<Code, 'hash' | 'size' | 'selectors' | 'topics' | 'features'> {
  id: number
  standard: number | null
  source: number | null
}

/** `id` is that of its address. */
export interface TokenIds {
  id: number
  decimals: number | null
  name: number | null
  symbol: number | null
  standard: number | null
  error: number | null
}

/** Answers of a contract to token calls. */
export interface LearntToken extends TokenFacts {
  address: string
  /** Null if the answers do not show it. */
  standard: TokenStandard | null
}

export interface LearntLink {
  address: string
  /** `0x` hex; null without code. */
  codeHash: string | null
  delegation: Delegation | null
  /** Head of the chain when it was asked. */
  position: number
}

/** `id` is that of its address. */
export interface LinkRow extends Omit<LearntLink, 'address'> {
  id: number
}

/** Converts what was added since the last batch to rows. */
export const createAdditions = (context: BatchContext) => {
  const nameId = (text: string | null): number | null => (text === null ? null : context.names.id(text))

  const tokenRow = (
    address: string,
    { decimals, name, symbol, standard, error }: Omit<LearntToken, 'address'>,
  ): TokenIds => ({
    id: context.addresses.id(address),
    decimals,
    name: nameId(name),
    symbol: nameId(symbol),
    standard: nameId(standard),
    error: nameId(error),
  })

  const codeRow = ({ id, code }: { id: number; code: Code }): CodeRow => {
    const { hash, size, selectors, topics, features, standard, standardSource } = code
    return { id, hash, size, selectors, topics, features, standard: nameId(standard), source: nameId(standardSource) }
  }

  return {
    nameId,
    tokenRow,
    take(): Additions {
      // Before the dictionaries are taken, which these may add to.
      const codes = context.takeCodes().map(codeRow)
      const tokens = context.takeTokens().map(token => tokenRow(token.address, token))
      const links = context
        .takeLinks()
        .map(({ address, ...link }): LinkRow => ({ id: context.addresses.id(addressDigits(address)), ...link }))
      return {
        addresses: context.addresses.takeAdded(),
        names: context.names.takeAdded(),
        signatures: context.takeSignatures(),
        codes,
        tokens,
        links,
      }
    },
  }
}

export const addressDigits = (address: string): string => address.slice(2).toLowerCase()

/** Rows of a block besides documents. They may depend on lower blocks. */
export interface DerivedRows {
  number: number
  contracts: readonly BlockContract[]
  tokens: readonly BlockToken[]
  upgrades: readonly CodeUpgrade[]
}
export type ContractColumns = [
  address: number,
  creator: number,
  tx: number,
  code: number | null,
  implementation: number | null,
  name: number | null,
  source: number | null,
  probability: number | null,
]
export type ContractRow = [position: number, ...ContractColumns]
export interface BatchDerivedRows {
  contracts: ContractRow[]
  /** Tokens that no lower stored block has. */
  sights: (TokenIds & { position: number })[]
  upgrades: { position: number; address: number; implementation: number | null }[]
}
export const createDerivedRows = (
  context: Pick<BatchContext, 'addresses' | 'address' | 'code'>,
  { nameId, tokenRow }: Pick<ReturnType<typeof createAdditions>, 'nameId' | 'tokenRow'>,
) => {
  const contracts: ContractRow[] = []
  const sights: BatchDerivedRows['sights'] = []
  const upgrades: BatchDerivedRows['upgrades'] = []
  const idOf = (address: string | null): number | null =>
    address === null ? null : context.addresses.id(addressDigits(address))

  const contractRow = (position: number, contract: BlockContract): ContractRow => {
    const { address, creator, tx, code, implementation, abi } = contract
    return [
      ...[position, context.address(address), context.address(creator), tx],
      code === null ? null : context.code(code),
      implementation === null ? null : context.address(implementation),
      ...[nameId(abi.name), nameId(abi.source), abi.probability],
    ] as ContractRow
  }

  return {
    add({ number, contracts: created, tokens, upgrades: told }: DerivedRows) {
      for (const [at, contract] of created.entries()) contracts.push(contractRow(positionOf(number, at), contract))
      for (const token of tokens)
        sights.push({ ...tokenRow(addressDigits(token.address), token), position: positionOf(number, token.place) })
      for (const { address, place, implementation } of told)
        upgrades.push({
          position: positionOf(number, place),
          address: context.addresses.id(addressDigits(address)),
          implementation: idOf(implementation),
        })
    },
    finish: (): BatchDerivedRows => ({ contracts, sights, upgrades }),
  }
}
