import type { ChainSource } from '../chain/source.ts'
import type { RawBlock } from '../chain/wire.ts'
import type { StoredToken } from '../store/batch.ts'

/** Knows the decimals of tokens: from the bundled list, from the store, and from the chain itself where it can be asked. */
export interface Decimals {
  /** Decimals of the token at an address (40 lower-case digits), undefined where unknown or no token. */
  of(address: string): number | undefined
  /** Asks the chain for all tokens in these blocks that are not known yet. */
  learn(blocks: readonly RawBlock[], signal: AbortSignal): Promise<void>
  /** What was learnt since the last call. */
  takeLearnt(): StoredToken[]
}

export interface DecimalsOptions {
  listed(address: string): number | undefined
  stored(address: string): StoredToken | undefined
  call: ChainSource['call']
}

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const APPROVAL = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925'
/** Selector of `decimals()`. */
const DECIMALS = '0x313ce567'
/** More decimals than a 256-bit integer has digits are nonsense. */
const MOST_DECIMALS = 77
/** Contracts that are asked in one go. */
const CALLS = 100

export const createDecimals = ({ listed, stored, call }: DecimalsOptions): Decimals => {
  const known = new Map<string, number | null | undefined>()
  let learnt: StoredToken[] = []

  const find = (address: string): number | null | undefined => {
    if (known.has(address)) return known.get(address)
    const token = stored(address)
    const decimals = listed(address) ?? (token ? token.decimals : undefined)
    if (known.size > 200_000) known.clear()
    known.set(address, decimals)
    return decimals
  }

  return {
    of: address => find(address) ?? undefined,
    async learn(blocks, signal) {
      if (!call) return
      const unknown = [...tokensIn(blocks)].filter(address => find(address) === undefined)
      for (let i = 0; i < unknown.length; i += CALLS) {
        const some = unknown.slice(i, i + CALLS)
        const answers = await call(
          some.map(address => ({ to: `0x${address}`, data: DECIMALS })),
          signal,
        )
        for (const [index, address] of some.entries()) {
          const decimals = toDecimals(answers[index] ?? null)
          known.set(address, decimals)
          learnt.push({ address, decimals })
        }
      }
    },
    takeLearnt() {
      const taken = learnt
      learnt = []
      return taken
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
