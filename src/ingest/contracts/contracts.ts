import type { ChainSource } from '../../chain/source.ts'
import type { RawBlock } from '../../chain/wire.ts'
import type { Code } from '../../decode/contract-code.ts'
import { type BlockContract, type Creation, creationsIn } from '../../documents/contracts.ts'
import { positionOf } from '../../engine/schema.ts'
import type { Log } from '../../lib/log.ts'
import type { Clock } from '../../lib/retry.ts'
import { createNodeLookup } from './node-lookup.ts'

export type ChainContracts = ReturnType<typeof createChainContracts>

export interface ContractsOptions {
  state: ChainSource['state']
  readCode(code: string): Code | null
  abiOf(contract: Pick<BlockContract, 'address' | 'code' | 'implementation'>, at: number): BlockContract['abi']
  /** Contract that a proxy passes its calls on to at a position, where that is known; default never. */
  implementationOf?: (address: string, at: number) => string | null
  log: Log
  now?: () => number
  clock?: Clock
}

const CODES_PER_CALL = 50

/** Knows the contracts that blocks create: from their traces, and from the chain itself where these do not tell. */
export const createChainContracts = ({
  state,
  readCode,
  abiOf,
  implementationOf,
  log,
  now,
  clock,
}: ContractsOptions) => {
  const asked = new WeakMap<RawBlock, Map<string, string>>()

  const toContract = ({ address, creator, tx, code: text, delegate }: Creation, at: number): BlockContract => {
    const code = text === undefined ? null : readCode(text)
    const told = code?.proxy && (implementationOf?.(address, at) ?? code.proxy.target ?? delegate)
    const contract = { address, creator, tx, code, implementation: told ?? null }
    return { ...contract, abi: abiOf(contract, at) }
  }

  /** A contract whose code a block's traces do not tell. */
  interface Open {
    address: string
    tell(code: string | undefined): void
  }
  const openIn = (raw: RawBlock): Open[] =>
    creationsIn(raw).flatMap(({ address, code }) => {
      const key = address.toLowerCase()
      return code === undefined && !asked.get(raw)?.has(key) ? [{ address: key, tell: note(raw, key) }] : []
    })
  const note = (raw: RawBlock, address: string) => (code: string | undefined) => {
    const known = asked.get(raw) ?? new Map()
    asked.set(raw, known.set(address, code))
  }

  const ask = async (open: readonly Open[], signal: AbortSignal) => {
    const answers = await state!(
      open.map(({ address }) => ({ codeOf: address })),
      signal,
    )
    for (const [index, { tell }] of open.entries()) tell(answers[index])
  }
  const lookup = createNodeLookup({ ask, most: CODES_PER_CALL, what: 'for the codes of contracts', log, now, clock })

  const creations = (raw: RawBlock): Creation[] => {
    const answers = asked.get(raw)
    return creationsIn(raw).map(it => ({ ...it, code: it.code ?? answers?.get(it.address.toLowerCase()) }))
  }

  const of = (created: readonly Creation[], number: number): BlockContract[] => {
    // As it stands when its creation is over, which may end with logs of what it runs.
    const at = positionOf(number + 1, 0)
    return created.map(creation => toContract(creation, at))
  }

  return {
    /** Asks for codes that traces lack; waits for nodes, or goes on without if they refuse. */
    async prefetch(blocks: readonly RawBlock[], signal: AbortSignal) {
      if (state) await lookup.prefetch(blocks.flatMap(openIn), signal)
    },
    async prefetchCodes(creations: readonly Creation[], signal: AbortSignal) {
      const open = creations.filter(({ code }) => code === undefined)
      const opens = open.map(
        (creation): Open => ({
          address: creation.address.toLowerCase(),
          tell(code) {
            creation.code = code
          },
        }),
      )
      if (state) await lookup.prefetch(opens, signal)
    },
    /** Whether there is a node to be asked for the code of a contract in this block, and no answer yet. */
    isOpen: (raw: RawBlock) => state !== undefined && openIn(raw).length > 0,
    /** Asks for them, whether or not nodes have answered lately; resolves a while later where they do not. */
    require: (raw: RawBlock, signal: AbortSignal) => lookup.require(openIn(raw), signal),
    /** What was asked for a block holds for another form of it as well. */
    carry(from: RawBlock, to: RawBlock) {
      const known = asked.get(from)
      if (known) asked.set(to, known)
    },
    in: (raw: RawBlock) => of(creations(raw), Number(raw.block.number)),
    creations,
    of,
  }
}
