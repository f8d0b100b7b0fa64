import type { Caller } from '../accounts/index.ts'
import { retry } from '../lib/errors.ts'
import { DEFAULT_LIMITS, LIMITS, type Limits, overNow } from '../limits/index.ts'
import { RATE_LIMIT, RATE_POLICY } from './facts.ts'

/** Whose requests are counted: of one token, and of all tokens of its account. */
export type Counted = Pick<Caller, 'id' | 'token' | 'rate'>

interface Window {
  used: number
  endsAt: number
}

/** One of the limits of a request. */
interface Quota {
  /** Its name in the headers. */
  name: 'requests' | 'account'
  most: number
  window: Window
  error(wait: { retryAfterMs: number }): Error
}

const NONE: readonly string[] = []
const WINDOW_MS = 60_000
/** Addresses that are known at once; beyond them, the oldest are forgotten. */
const MAX_ADDRESSES = 10_000

export type Rates = ReturnType<typeof createRates>

/** Counts requests of tokens and accounts, and refusals of addresses, by windows of a minute that begin with the first one. */
export const createRates = (limits: Limits, now: () => number = () => performance.now()) => {
  const tokens = new Map<number, Window>()
  const accounts = new Map<number, Window>()
  const addresses = new Map<string, Window>()

  const windowOf = <K>(windows: Map<K, Window>, key: K, at: number): Window => {
    let window = windows.get(key)
    if (!window || at >= window.endsAt) {
      window = { used: 0, endsAt: at + WINDOW_MS }
      windows.delete(key)
      windows.set(key, window)
    }
    return window
  }

  const ofToken = ({ token, rate }: Counted, at: number): Quota => ({
    name: 'requests',
    most: rate ?? limits.requestsByToken,
    window: windowOf(tokens, token, at),
    error: wait =>
      rate === undefined ? overNow('requestsByToken', limits, undefined, wait) : overOwn(token, rate, wait),
  })
  const ofAccount = ({ id }: Counted, at: number): Quota => ({
    name: 'account',
    most: limits.requestsByAccount,
    window: windowOf(accounts, id, at),
    error: wait => overNow('requestsByAccount', limits, undefined, wait),
  })
  const isLimited = (name: 'requestsByToken' | 'requestsByAccount') => limits[name] < DEFAULT_LIMITS[name]
  const tokensAreLimited = isLimited('requestsByToken')
  const accountsAreLimited = isLimited('requestsByAccount')

  /** The account's quota comes last: of two that are used up, the token's is told. */
  const quotasOf = (caller: Counted, at: number): Quota[] => [
    ...(tokensAreLimited || caller.rate !== undefined ? [ofToken(caller, at)] : []),
    ...(accountsAreLimited ? [ofAccount(caller, at)] : []),
  ]

  return {
    /**
     * Counts a request: names and values of headers that tell what is left, or undefined where nothing is. There are none
     * where the operator sets no quota: the default is more than a server answers.
     */
    take(caller: Counted): readonly string[] | undefined {
      if (!tokensAreLimited && !accountsAreLimited && caller.rate === undefined) return NONE
      const at = now()
      const quotas = quotasOf(caller, at)
      if (quotas.some(({ most, window }) => window.used >= most)) return undefined
      for (const { window } of quotas) window.used++
      return headersOf(quotas, at)
    },
    /** The same headers where nothing is left, and the error to tell. */
    exceeded(caller: Counted): { headers: readonly string[]; error: Error } {
      const at = now()
      const quotas = quotasOf(caller, at)
      const full = quotas.find(({ most, window }) => window.used >= most) ?? ofToken(caller, at)
      const error = full.error({ retryAfterMs: Math.max(1, full.window.endsAt - at) })
      return { headers: headersOf(quotas, at), error }
    },
    /** Counts a refused request of an address: the error to tell where there were too many. */
    refused(address: string): Error | undefined {
      const at = now()
      const window = windowOf(addresses, address, at)
      if (addresses.size > MAX_ADDRESSES) addresses.delete(addresses.keys().next().value!)
      if (window.used < limits.refusalsByAddress) window.used++
      else return overNow('refusalsByAddress', limits, undefined, { retryAfterMs: Math.max(1, window.endsAt - at) })
      return undefined
    },
  }
}

/** Of several policies, the standard has one list in each header. */
const headersOf = (quotas: readonly Quota[], at: number): readonly string[] => {
  if (quotas.length === 0) return NONE
  const policies = quotas.map(({ name, most }) => `"${name}";q=${most};w=${WINDOW_MS / 1_000}`)
  const left = quotas.map(({ name, most, window: { used, endsAt } }) => {
    const seconds = Math.max(1, Math.ceil((endsAt - at) / 1_000))
    return `"${name}";r=${Math.max(0, most - used)};t=${seconds}`
  })
  return [RATE_POLICY, policies.join(', '), RATE_LIMIT, left.join(', ')]
}

const overOwn = (token: number, rate: number, wait: { retryAfterMs: number }) => {
  const { code, remedy } = LIMITS.requestsByToken
  return retry(
    code,
    `Token ${token} has more than its ${rate} requests in a minute. ${remedy} The operator can raise this with: ` +
      `chainsieve token limit ${token} --rate N`,
    wait,
  )
}
