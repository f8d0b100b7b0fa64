import { type Limits, overNow } from '../limits/index.ts'

/** Counts the requests of tokens, and refusals of addresses, by windows of a minute that begin with the first one. */
export interface Rates {
  /** Counts a request of a token: the header `RateLimit`, or undefined where it has no more. */
  take(token: number): string | undefined
  /** The header of a token that has no more, and the error to tell. */
  exceeded(token: number): { header: string; error: Error }
  /** `RateLimit-Policy`, the same for all. */
  policy: string
  /** Counts a refused request of an address: the error to tell where there were too many. */
  refused(address: string): Error | undefined
}

interface Window {
  left: number
  endsAt: number
}

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
  const header = ({ left, endsAt }: Window, at: number) =>
    `"requests";r=${left};t=${Math.max(1, Math.ceil((endsAt - at) / 1_000))}`

  return {
    policy: `"requests";q=${limits.requestsByToken};w=${WINDOW_MS / 1_000}`,
    take(token) {
      const at = now()
      const window = windowOf(tokens, token, limits.requestsByToken, at)
      if (window.left === 0) return undefined
      window.left--
      return header(window, at)
    },
    exceeded(token) {
      const at = now()
      const window = windowOf(tokens, token, limits.requestsByToken, at)
      const error = overNow('requestsByToken', limits, undefined, { retryAfterMs: Math.max(1, window.endsAt - at) })
      return { header: header(window, at), error }
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
