import type { ChainSource } from '../chain/source.ts'
import type { RawBlock } from '../chain/wire.ts'
import { ChainsieveError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { type Clock, systemClock } from '../lib/retry.ts'
import type { StoredToken } from '../store/batch.ts'

/** Knows the decimals of tokens: from the bundled list, from the store, and from the chain itself where it can be asked. */
export interface Decimals {
  /** Decimals of the token at an address (40 lower-case digits), undefined where unknown or no token. */
  of(address: string): number | undefined
  /**
   * Asks the chain for all tokens in these blocks that are not known yet. Waits while no node can be reached, as for blocks; where
   * nodes do not answer this question, goes on without, and asks again after a while.
   */
  learn(blocks: readonly RawBlock[], signal: AbortSignal): Promise<void>
  /** Whether there is a node to be asked for the decimals of this address (40 digits), and no answer yet, not even that there are none. */
  isUndecided(address: string): boolean
  /** Asks for these, whether or not nodes have answered lately; resolves a while later where one is not answered. */
  insist(addresses: readonly string[], signal: AbortSignal): Promise<void>
  /** What was learnt since the last call. */
  takeLearnt(): StoredToken[]
  /** The chain was begun anew, with other contracts at the same addresses, and the store has forgotten its tokens. */
  forget(): void
}

export interface DecimalsOptions {
  listed(address: string): number | undefined
  stored(address: string): StoredToken | undefined
  call: ChainSource['call']
  log: Log
  /** Milliseconds, monotonic; default `performance.now`. */
  now?: () => number
  clock?: Clock
}

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const APPROVAL = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925'
/** Selector of `decimals()`. */
const DECIMALS = '0x313ce567'
/** More decimals than a 256-bit integer has digits are nonsense. */
const MOST_DECIMALS = 77
/** Contracts that are asked in one go. */
const CALLS = 100
/** Time for which nodes that do not answer are not asked. */
const PAUSE_MS = 60_000
/** Time between two tries to get what a rule cannot be decided without. */
const AGAIN_MS = 3_000
/** What passes; everything else a node may say to every such call. */
const PASSING = ['node_unreachable', 'node_rate_limited']

export const createDecimals = (options: DecimalsOptions): Decimals => {
  const { listed, stored, call, log, now = () => performance.now(), clock = systemClock } = options
  const known = new Map<string, number | null | undefined>()
  /** Those that are being asked, so that two lanes which meet a new token ask it once. */
  const asked = new Map<string, Promise<void>>()
  let learnt: StoredToken[] = []
  let pausedUntil = Number.NEGATIVE_INFINITY

  const find = (address: string): number | null | undefined => {
    if (known.has(address)) return known.get(address)
    const token = stored(address)
    const decimals = listed(address) ?? (token ? token.decimals : undefined)
    if (known.size > 200_000) known.clear()
    known.set(address, decimals)
    return decimals
  }

  /** Undefined where they were answered, else why not. */
  const ask = async (addresses: readonly string[], signal: AbortSignal): Promise<ChainsieveError | undefined> => {
    const calls = addresses.map(address => ({ to: `0x${address}`, data: DECIMALS }))
    for (;;) {
      try {
        const answers = await call!(calls, signal)
        for (const [index, address] of addresses.entries()) {
          const decimals = toDecimals(answers[index] ?? null)
          known.set(address, decimals)
          learnt.push({ address, decimals })
        }
        return undefined
      } catch (error) {
        if (!(error instanceof ChainsieveError) || error.next !== 'retry') throw error
        if (!PASSING.includes(error.code)) return error
      }
    }
  }

  return {
    of: address => find(address) ?? undefined,
    async learn(blocks, signal) {
      if (!call) return
      const unknown = [...tokensIn(blocks)].filter(address => find(address) === undefined)
      const others = unknown.flatMap(address => asked.get(address) ?? [])
      const own = unknown.filter(address => !asked.has(address))
      for (let i = 0; i < own.length && now() >= pausedUntil; i += CALLS) {
        const some = own.slice(i, i + CALLS)
        const asking = ask(some, signal).then(error => {
          if (error === undefined) return
          pausedUntil = now() + PAUSE_MS
          log.warn('Cannot ask the node for decimals of tokens, goes on without', { error })
        })
        for (const address of some) asked.set(address, asking)
        try {
          await asking
        } finally {
          for (const address of some) asked.delete(address)
        }
      }
      await Promise.all(others)
    },
    isUndecided: address => call !== undefined && find(address) === undefined,
    async insist(addresses, signal) {
      const left = addresses.filter(address => find(address) === undefined)
      for (let i = 0; i < left.length; i += CALLS)
        if (await ask(left.slice(i, i + CALLS), signal)) return clock.sleep(AGAIN_MS, signal)
    },
    takeLearnt() {
      const taken = learnt
      learnt = []
      return taken
    },
    forget() {
      known.clear()
      learnt = []
    },
  }
}

/** Contracts that emit what only tokens with amounts emit: `Transfer` and `Approval` with two indexed addresses. */
const tokensIn = (blocks: readonly RawBlock[]): Set<string> => {
  const tokens = new Set<string>()
  for (const { receipts } of blocks)
    for (const { logs } of receipts)
      for (const { address, topics } of logs)
        if (topics.length === 3 && (topics[0] === TRANSFER || topics[0] === APPROVAL))
          tokens.add(address.slice(2).toLowerCase())
  return tokens
}

const toDecimals = (answer: string | null): number | null => {
  if (answer === null || !/^0x[0-9a-fA-F]{64}$/.test(answer)) return null
  const decimals = BigInt(answer)
  return decimals <= MOST_DECIMALS ? Number(decimals) : null
}
