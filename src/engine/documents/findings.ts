import type { BlockContract } from '../../documents/contracts.ts'
import type { BlockToken } from '../../documents/tokens.ts'
import type { Upgrade } from '../../documents/upgrades.ts'
import { positionOf } from '../schema.ts'
import { type createAdditions, digitsOf, type TokenRow } from './additions.ts'
import type { BatchContext } from './batch.ts'
import { createRowsBuilder, type Rows, type RowsBuilder } from './rows.ts'

/** What is found in a block besides its documents. It may depend on what the blocks before it hold. */
export interface Findings {
  /** Of the block. */
  number: number
  contracts: readonly BlockContract[]
  /** Those that no lower block has shown. */
  tokens: readonly BlockToken[]
  upgrades: readonly Upgrade[]
}

export interface FoundRows {
  contract: Rows
  /** Tokens that were seen in no lower block that is stored, with what is known of them by now. */
  sights: (TokenRow & { position: number })[]
  /** Ids of addresses. */
  upgrades: { position: number; address: number; implementation: number | null }[]
}

export const createFindings = (
  context: Pick<BatchContext, 'addresses' | 'address' | 'code'>,
  { nameId, tokenRow }: Pick<ReturnType<typeof createAdditions>, 'nameId' | 'tokenRow'>,
) => {
  const row = createRowsBuilder()
  const sights: FoundRows['sights'] = []
  const upgrades: FoundRows['upgrades'] = []
  const idOf = (address: string | null): number | null =>
    address === null ? null : context.addresses.id(digitsOf(address))

  const addContract = (position: number, contract: BlockContract) => {
    const { address, creator, tx, code, implementation, abi } = contract
    row.number(position)
    row.number(context.address(address))
    row.number(context.address(creator))
    row.number(tx)
    numberOrNull(row, code === null ? null : context.code(code))
    numberOrNull(row, implementation === null ? null : context.address(implementation))
    numberOrNull(row, nameId(abi.name))
    numberOrNull(row, nameId(abi.source))
    numberOrNull(row, abi.probability)
  }

  return {
    add({ number, contracts, tokens, upgrades: told }: Findings) {
      for (const [at, contract] of contracts.entries()) addContract(positionOf(number, at), contract)
      for (const token of tokens)
        sights.push({ ...tokenRow(digitsOf(token.address), token), position: positionOf(number, token.place) })
      for (const { address, place, implementation } of told)
        upgrades.push({
          position: positionOf(number, place),
          address: context.addresses.id(digitsOf(address)),
          implementation: idOf(implementation),
        })
    },
    finish: (): FoundRows => ({ contract: row.finish(), sights, upgrades }),
  }
}

const numberOrNull = (row: RowsBuilder, value: number | null) => (value === null ? row.null() : row.number(value))
