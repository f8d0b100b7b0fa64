import type { ChainSource } from '../../chain/source.ts'
import type { RawBlock } from '../../chain/wire.ts'
import type { Code } from '../../decode/abi-finder.ts'
import { type BlockContract, type ContractCreation, creationsIn } from '../../documents/contracts.ts'
import { positionOf } from '../../engine/schema.ts'
import type { Log } from '../../lib/log.ts'
import type { Clock } from '../../lib/retry.ts'
import { createNodeLookup } from './node-lookup.ts'

export type ChainContracts = ReturnType<typeof createChainContracts>

export interface ContractsOptions {
  state: ChainSource['state']
  readCode(code: string): Code | null
  abiOf(contract: Pick<BlockContract, 'address' | 'code' | 'implementation'>, at: number): BlockContract['abi']
  /** Implementation of a proxy at a position; null if unknown. Default: always null. */
  implementationOf?: (address: string, at: number) => string | null
  log: Log
  now?: () => number
  clock?: Clock
}

const CODES_PER_CALL = 50

export const createChainContracts = ({
  state,
  readCode,
  abiOf,
  implementationOf,
  log,
  now,
  clock,
}: ContractsOptions) => {
  /** Creations with the requested codes, while their blocks are under way. */
  const known = new WeakMap<RawBlock, ContractCreation[]>()
  const creations = (raw: RawBlock): ContractCreation[] => {
    const created = known.get(raw) ?? creationsIn(raw)
    known.set(raw, created)
    return created
  }
  const openIn = (created: readonly ContractCreation[]) => created.filter(({ code }) => code === undefined)

  const toContract = ({ address, creator, tx, code: text, delegate }: ContractCreation, at: number): BlockContract => {
    const code = text === undefined ? null : readCode(text)
    const told = code?.proxy && (implementationOf?.(address, at) ?? code.proxy.target ?? delegate)
    const contract = { address, creator, tx, code, implementation: told ?? null }
    return { ...contract, abi: abiOf(contract, at) }
  }

  const ask = async (open: readonly ContractCreation[], signal: AbortSignal) => {
    const questions = open.map(({ address }) => ({ codeOf: address.toLowerCase() }))
    for (const [index, code] of (await state!(questions, signal)).entries()) open[index]!.code = code
  }
  const lookup = createNodeLookup({ ask, most: CODES_PER_CALL, what: 'for the codes of contracts', log, now, clock })

  const of = (created: readonly ContractCreation[], number: number): BlockContract[] => {
    // As of the end of its creation, after logs of the code that it runs.
    const at = positionOf(number + 1, 0)
    return created.map(creation => toContract(creation, at))
  }

  /** Requests codes that traces lack; waits for nodes, but continues without if they refuse. */
  const prefetchCodes = async (created: readonly ContractCreation[], signal: AbortSignal) => {
    if (state) await lookup.prefetch(openIn(created), signal)
  }

  return {
    prefetch: (blocks: readonly RawBlock[], signal: AbortSignal) => prefetchCodes(blocks.flatMap(creations), signal),
    prefetchCodes,
    isOpen: (raw: RawBlock) => state !== undefined && openIn(creations(raw)).length > 0,
    require: (raw: RawBlock, signal: AbortSignal) => lookup.require(openIn(creations(raw)), signal),
    carry(from: RawBlock, to: RawBlock) {
      const codes = new Map(creations(from).map(({ address, code }) => [address.toLowerCase(), code]))
      for (const created of openIn(creations(to))) created.code = codes.get(created.address.toLowerCase())
    },
    in: (raw: RawBlock) => of(creations(raw), Number(raw.block.number)),
    ...{ creations, of },
  }
}
