import type { Caller } from '../accounts/index.ts'
import { retry } from '../lib/errors.ts'
import { DEFAULT_LIMITS, LIMITS, type Limits, overNow } from '../limits/index.ts'
import { RATE_LIMIT, RATE_POLICY } from './context.ts'

type CountedCaller = Pick<Caller, 'id' | 'token' | 'rate'>

interface RateWindow {
  used: number
  endsAt: number
}

/** A rate limit that applies to a request. */
interface Quota {
  /** Name in the headers. */
  name: 'requests' | 'account'
  most: number
  window: RateWindow
  error(wait: { retryAfterMs: number }): Error
}

const NO_HEADERS: readonly string[] = []
const RATE_WINDOW_MS = 60_000
/** Most addresses to track; beyond that, the oldest are dropped. */
const MAX_ADDRESSES = 10_000

export type RequestQuotas = ReturnType<typeof createRequestQuotas>

/** Counts requests by token and account, and refusals by address, in one-minute windows. */
export const createRequestQuotas = (limits: Limits, now: () => number = () => performance.now()) => {
  const tokens = new Map<number, RateWindow>()
  const accounts = new Map<number, RateWindow>()
  const addresses = new Map<string, RateWindow>()

  const windowOf = <K>(windows: Map<K, RateWindow>, key: K, at: number): RateWindow => {
    let window = windows.get(key)
    if (!window || at >= window.endsAt) {
      window = { used: 0, endsAt: at + RATE_WINDOW_MS }
      windows.delete(key)
      windows.set(key, window)
    }
    return window
  }

  const ofToken = ({ token, rate }: CountedCaller, at: number): Quota => ({
    name: 'requests',
    most: rate ?? limits.requestsByToken,
    window: windowOf(tokens, token, at),
    error: wait =>
      rate === undefined ? overNow('requestsByToken', limits, undefined, wait) : overOwn(token, rate, wait),
  })
  const ofAccount = ({ id }: CountedCaller, at: number): Quota => ({
    name: 'account',
    most: limits.requestsByAccount,
    window: windowOf(accounts, id, at),
    error: wait => overNow('requestsByAccount', limits, undefined, wait),
  })
  const isLimited = (name: 'requestsByToken' | 'requestsByAccount') => limits[name] < DEFAULT_LIMITS[name]
  const tokensAreLimited = isLimited('requestsByToken')
  const accountsAreLimited = isLimited('requestsByAccount')

  /** The account's quota comes last: if both are used up, the token's is reported. */
  const quotasOf = (caller: CountedCaller, at: number): Quota[] => [
    ...(tokensAreLimited || caller.rate !== undefined ? [ofToken(caller, at)] : []),
    ...(accountsAreLimited ? [ofAccount(caller, at)] : []),
  ]

  return {
    /**
     * Counts a request and returns rate-limit headers (names and values); undefined if a quota is
     * used up. Empty without configured quotas: the default exceeds what a server can answer.
     */
    take(caller: CountedCaller): readonly string[] | undefined {
      if (!tokensAreLimited && !accountsAreLimited && caller.rate === undefined) return NO_HEADERS
      const at = now()
      const quotas = quotasOf(caller, at)
      if (quotas.some(({ most, window }) => window.used >= most)) return undefined
      for (const { window } of quotas) window.used++
      return quotaHeaders(quotas, at)
    },
    /** The headers and the error for a used-up quota. */
    exceeded(caller: CountedCaller): { headers: readonly string[]; error: Error } {
      const at = now()
      const quotas = quotasOf(caller, at)
      const full = quotas.find(({ most, window }) => window.used >= most) ?? ofToken(caller, at)
      const error = full.error({ retryAfterMs: Math.max(1, full.window.endsAt - at) })
      return { headers: quotaHeaders(quotas, at), error }
    },
    /** Counts a refused request of an address; returns an error if there were too many. */
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

/** The standard lists several policies in each header. */
const quotaHeaders = (quotas: readonly Quota[], at: number): readonly string[] => {
  if (quotas.length === 0) return NO_HEADERS
  const policies = quotas.map(({ name, most }) => `"${name}";q=${most};w=${RATE_WINDOW_MS / 1_000}`)
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
