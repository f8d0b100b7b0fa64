import type { BlockContract } from '../../documents/contracts.ts'
import type { BlockToken } from '../../documents/tokens.ts'
import type { Upgrade } from '../../documents/upgrades.ts'
import { positionOf } from '../schema.ts'
import { type createAdditions, digitsOf, type TokenRow } from './additions.ts'
import type { BatchContext } from './batch.ts'

/** What is found in a block besides its documents. It may depend on what the blocks before it hold. */
export interface Findings {
  /** Of the block. */
  number: number
  contracts: readonly BlockContract[]
  /** Those that no lower block has shown. */
  tokens: readonly BlockToken[]
  upgrades: readonly Upgrade[]
}

/** What a row of a contract holds beside its position. */
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

export interface FoundRows {
  contracts: ContractRow[]
  /** Tokens that were seen in no lower block that is stored, with what is known of them by now. */
  sights: (TokenRow & { position: number })[]
  /** Ids of addresses. */
  upgrades: { position: number; address: number; implementation: number | null }[]
}

export const createFindings = (
  context: Pick<BatchContext, 'addresses' | 'address' | 'code'>,
  { nameId, tokenRow }: Pick<ReturnType<typeof createAdditions>, 'nameId' | 'tokenRow'>,
) => {
  const contracts: ContractRow[] = []
  const sights: FoundRows['sights'] = []
  const upgrades: FoundRows['upgrades'] = []
  const idOf = (address: string | null): number | null =>
    address === null ? null : context.addresses.id(digitsOf(address))

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
    add({ number, contracts: created, tokens, upgrades: told }: Findings) {
      for (const [at, contract] of created.entries()) contracts.push(contractRow(positionOf(number, at), contract))
      for (const token of tokens)
        sights.push({ ...tokenRow(digitsOf(token.address), token), position: positionOf(number, token.place) })
      for (const { address, place, implementation } of told)
        upgrades.push({
          position: positionOf(number, place),
          address: context.addresses.id(digitsOf(address)),
          implementation: idOf(implementation),
        })
    },
    finish: (): FoundRows => ({ contracts, sights, upgrades }),
  }
}
