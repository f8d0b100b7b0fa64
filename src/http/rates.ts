import { DEFAULT_LIMITS, type Limits, overNow } from '../limits/index.ts'
import { RATE_LIMIT, RATE_POLICY } from './facts.ts'

/** Counts the requests of tokens, and refusals of addresses, by windows of a minute that begin with the first one. */
export interface Rates {
  /**
   * Counts a request of a token: names and values of headers that tell what is left, or undefined where it has no more. There are none
   * where the operator sets no quota: the default is more than a server answers.
   */
  take(token: number): readonly string[] | undefined
  /** The same headers of a token that has no more, and the error to tell. */
  exceeded(token: number): { headers: readonly string[]; error: Error }
  /** Counts a refused request of an address: the error to tell where there were too many. */
  refused(address: string): Error | undefined
}

interface Window {
  left: number
  endsAt: number
}

const NONE: readonly string[] = []
const WINDOW_MS = 60_000
/** Addresses that are known at once; beyond them, the oldest are forgotten. */
const MAX_ADDRESSES = 10_000

export const createRates = (limits: Limits, now: () => number = () => performance.now()): Rates => {
  const tokens = new Map<number, Window>()
  const addresses = new Map<string, Window>()

  const windowOf = <K>(windows: Map<K, Window>, key: K, most: number, at: number): Window => {
    let window = windows.get(key)
    if (!window || at >= window.endsAt) {
      window = { left: most, endsAt: at + WINDOW_MS }
      windows.delete(key)
      windows.set(key, window)
    }
    return window
  }
  const hasQuota = limits.requestsByToken < DEFAULT_LIMITS.requestsByToken
  const policy = `"requests";q=${limits.requestsByToken};w=${WINDOW_MS / 1_000}`
  const headersOf = ({ left, endsAt }: Window, at: number): readonly string[] => {
    if (!hasQuota) return NONE
    const seconds = Math.max(1, Math.ceil((endsAt - at) / 1_000))
    return [RATE_POLICY, policy, RATE_LIMIT, `"requests";r=${left};t=${seconds}`]
  }

  return {
    take(token) {
      const at = now()
      const window = windowOf(tokens, token, limits.requestsByToken, at)
      if (window.left === 0) return undefined
      window.left--
      return headersOf(window, at)
    },
    exceeded(token) {
      const at = now()
      const window = windowOf(tokens, token, limits.requestsByToken, at)
      const error = overNow('requestsByToken', limits, undefined, { retryAfterMs: Math.max(1, window.endsAt - at) })
      return { headers: headersOf(window, at), error }
    },
    refused(address) {
      const at = now()
      const window = windowOf(addresses, address, limits.refusalsByAddress, at)
      if (addresses.size > MAX_ADDRESSES) addresses.delete(addresses.keys().next().value!)
      if (window.left > 0) window.left--
      else return overNow('refusalsByAddress', limits, undefined, { retryAfterMs: Math.max(1, window.endsAt - at) })
      return undefined
    },
  }
}
