import type { ChainSource } from '../chain/source.ts'
import type { RawBlock } from '../chain/wire.ts'
import { type Code, readCode } from '../decode/contract-code.ts'
import { type BlockContract, type ContractAbi, type Creation, creationsIn } from '../documents/contracts.ts'
import { ChainsieveError } from '../lib/errors.ts'
import { keccak256 } from '../lib/keccak.ts'
import type { Log } from '../lib/log.ts'
import { type Clock, systemClock } from '../lib/retry.ts'

/** Knows the contracts that blocks create: from their traces, and from the chain itself where these do not tell. */
export interface Contracts {
  /**
   * Asks the chain for the codes of the contracts in these blocks that their traces do not tell. Waits while no node can be reached; where
   * nodes do not answer this question, goes on without.
   */
  learn(blocks: readonly RawBlock[], signal: AbortSignal): Promise<void>
  /** Whether there is a node to be asked for the code of a contract in this block, and no answer yet. */
  isOpen(raw: RawBlock): boolean
  /** Asks for them, whether or not nodes have answered lately; resolves a while later where they do not. */
  insist(raw: RawBlock, signal: AbortSignal): Promise<void>
  /** Contracts that a block creates, in the order of its execution. */
  in(raw: RawBlock): BlockContract[]
}

export interface ContractsOptions {
  state: ChainSource['state']
  /** What is known of a contract's functions and events. */
  abiOf(contract: Pick<BlockContract, 'address' | 'code' | 'implementation'>): ContractAbi
  log: Log
  /** Milliseconds, monotonic; default `performance.now`. */
  now?: () => number
  clock?: Clock
}

/** Time for which nodes that do not answer are not asked. */
const PAUSE_MS = 60_000
/** Time between two tries to get what a rule cannot be decided without. */
const AGAIN_MS = 3_000
const PASSING = ['node_unreachable', 'node_rate_limited']
/** Contracts that are asked in one go. */
const CONTRACTS = 50
/** Codes that are remembered: most contracts are copies of a few. */
const CODES = 2_000

export const createContracts = ({
  state,
  abiOf,
  log,
  now = () => performance.now(),
  clock = systemClock,
}: ContractsOptions): Contracts => {
  /** Codes by the address, for blocks that are on their way. */
  const asked = new WeakMap<RawBlock, Map<string, string>>()
  const codes = new Map<string, Code>()
  let pausedUntil = Number.NEGATIVE_INFINITY

  const codeOf = (text: string): Code | null => {
    if (text.length <= 2) return null
    const key = Buffer.from(keccak256(Buffer.from(text.slice(2), 'hex'))).toString('hex')
    let code = codes.get(key)
    if (!code) {
      code = readCode(text)
      if (codes.size >= CODES) codes.clear()
      codes.set(key, code)
    }
    return code
  }

  /** Undefined where they were answered, else why not. */
  const ask = async (addresses: string[], signal: AbortSignal): Promise<string[] | ChainsieveError> => {
    for (;;) {
      try {
        return await state!(
          addresses.map(codeOf => ({ codeOf })),
          signal,
        )
      } catch (error) {
        if (!(error instanceof ChainsieveError) || error.next !== 'retry') throw error
        if (!PASSING.includes(error.code)) return error
      }
    }
  }

  const toContract = (creation: Creation, answers: ReadonlyMap<string, string> | undefined): BlockContract => {
    const { address, creator, tx, delegate } = creation
    const text = creation.code ?? answers?.get(address.toLowerCase())
    const code = text === undefined ? null : codeOf(text)
    const implementation = (code?.proxy && (code.proxy.target ?? delegate)) ?? null
    const contract = { address, creator, tx, code, implementation }
    return { ...contract, abi: abiOf(contract) }
  }

  const openIn = (raw: RawBlock): { raw: RawBlock; address: string }[] =>
    creationsIn(raw).flatMap(({ address, code }) => {
      const key = address.toLowerCase()
      return code === undefined && !asked.get(raw)?.has(key) ? [{ raw, address: key }] : []
    })

  /** The error where one of them was not answered. */
  const askAll = async (open: readonly { raw: RawBlock; address: string }[], signal: AbortSignal) => {
    for (let i = 0; i < open.length; i += CONTRACTS) {
      const some = open.slice(i, i + CONTRACTS)
      const answers = await ask(
        some.map(({ address }) => address),
        signal,
      )
      if (answers instanceof ChainsieveError) return answers
      for (const [index, { raw, address }] of some.entries()) {
        const known = asked.get(raw) ?? new Map()
        asked.set(raw, known.set(address, answers[index]))
      }
    }
    return undefined
  }

  return {
    async learn(blocks, signal) {
      if (!state || now() < pausedUntil) return
      const error = await askAll(blocks.flatMap(openIn), signal)
      if (error === undefined) return
      pausedUntil = now() + PAUSE_MS
      log.warn('Cannot ask the node for the codes of contracts, goes on without', { error })
    },
    isOpen: raw => state !== undefined && openIn(raw).length > 0,
    async insist(raw, signal) {
      if (await askAll(openIn(raw), signal)) await clock.sleep(AGAIN_MS, signal)
    },
    in(raw) {
      const answers = asked.get(raw)
      return creationsIn(raw).map(creation => toContract(creation, answers))
    },
  }
}
