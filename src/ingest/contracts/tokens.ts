import type { ChainSource } from '../../chain/source.ts'
import { isVault, readDecimals, readTokenText, TOKEN_CALLS } from '../../decode/token-answers.ts'
import type { LearntToken } from '../../engine/documents/derived-rows.ts'
import type { Lookups, StoredToken } from '../../engine/port.ts'
import type { Log } from '../../lib/log.ts'
import type { Clock } from '../../lib/retry.ts'
import { createNodeLookup } from './node-lookup.ts'

export type ChainTokens = ReturnType<typeof createChainTokens>

export interface TokensOptions {
  listed(address: string): { decimals: number; symbol: string } | undefined
  stored: Lookups['token']
  onKnown?: (address: string) => void
  call: ChainSource['call']
  log: Log
  now?: () => number
  clock?: Clock
}

interface KnownToken extends StoredToken {
  listed: { decimals: number; symbol: string } | undefined
}

const TOKENS_PER_CALL = 20
const MAX_KNOWN_TOKENS = 200_000

const TOKEN_CALL_DATA = Object.values(TOKEN_CALLS)

/** Symbol and decimals of tokens: from the list, the store, the chain. Addresses: 40 digits. */
export const createChainTokens = (options: TokensOptions) => {
  const { listed, onKnown, stored, call, log, now, clock } = options
  const known = new Map<string, KnownToken>()
  let learnt: LearntToken[] = []

  const find = (address: string): KnownToken => {
    let token = known.get(address)
    if (!token) {
      if (known.size > MAX_KNOWN_TOKENS) known.clear()
      token = Object.assign(stored(address) ?? { asked: false }, { listed: listed(address) })
      known.set(address, token)
    }
    return token
  }

  const decimalsOf = (address: string): number | undefined => {
    const token = find(address)
    return token.listed?.decimals ?? token.decimals ?? undefined
  }

  /** Prefers the list's decimals and the contract's symbol. */
  const told = ({ listed }: KnownToken, { decimals, symbol }: Pick<StoredToken, 'decimals' | 'symbol'>) => ({
    symbol: symbol ?? listed?.symbol ?? null,
    decimals: listed?.decimals ?? decimals ?? null,
  })

  const ask = async (addresses: readonly string[], signal: AbortSignal) => {
    const calls = addresses.flatMap(address => TOKEN_CALL_DATA.map(data => ({ to: `0x${address}`, data })))
    const answers = await call!(calls, signal)
    for (const [index, address] of addresses.entries()) {
      const own = tokenFactsOf(answers.slice(index * TOKEN_CALL_DATA.length, (index + 1) * TOKEN_CALL_DATA.length))
      const token = find(address)
      const facts = { ...own, ...told(token, own) }
      Object.assign(token, facts, { asked: true, standard: facts.standard ?? token.standard })
      learnt.push({ address, ...facts })
      onKnown?.(address)
    }
  }
  const lookup = createNodeLookup({
    ask,
    most: TOKENS_PER_CALL,
    what: 'for names, symbols and decimals of tokens',
    log,
    now,
    clock,
  })
  const unasked = (addresses: Iterable<string>) => [...new Set(addresses)].filter(address => !find(address).asked)

  return {
    /** Decimals of the token at an address, undefined where unknown or no token. */
    of: decimalsOf,
    facts(address: string) {
      const token = find(address)
      const { name = null, error = null, standard = null } = token
      return { name, ...told(token, token), error, standard }
    },
    /** Position of the lowest block, stored or under way, that contains it. */
    seen: (address: string) => find(address).position,
    sighted(address: string, position: number) {
      const token = find(address)
      token.position = Math.min(position, token.position ?? position)
      onKnown?.(address)
    },
    /** Asks unanswered contracts; waits, or continues without, as for codes. */
    async prefetch(addresses: Iterable<string>, signal: AbortSignal) {
      if (call) await lookup.prefetch(unasked(addresses), signal)
    },
    isUndecided: (address: string) => call !== undefined && decimalsOf(address) === undefined && !find(address).asked,
    isUnasked: (address: string) => call !== undefined && !find(address).asked,
    /** Asks for these even during a pause; delays its return if one stays unanswered. */
    require: (addresses: readonly string[], signal: AbortSignal) => lookup.require(unasked(addresses), signal),
    takeLearnt() {
      const taken = learnt
      learnt = []
      return taken
    },
    /** Drops tokens seen from this position on: the chain may have other contracts there now. */
    forget(from: number) {
      for (const [address, { position }] of known)
        if (from <= 0 || (position !== undefined && position >= from)) known.delete(address)
      if (from <= 0) learnt = []
    },
  }
}

const tokenFactsOf = (answers: readonly (string | null)[]): Omit<LearntToken, 'address'> => {
  const [nameAnswer = null, symbolAnswer = null, decimalsAnswer = null, asset = null, totalAssets = null] = answers
  const name = readTokenText('name', nameAnswer)
  const symbol = readTokenText('symbol', symbolAnswer)
  const decimals = readDecimals(decimalsAnswer)
  const errors = [name, symbol, decimals].flatMap(({ error }) => error ?? [])
  return {
    name: name.value,
    symbol: symbol.value,
    decimals: decimals.value,
    error: errors.length > 0 ? errors.join('; ') : null,
    standard: isVault(asset, totalAssets) ? 'ERC-4626' : null,
  }
}
