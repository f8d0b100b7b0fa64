import type { IncomingMessage } from 'node:http'
import type { MiddlewareHandler } from 'hono'
import type { Accounts, Caller, TokenScope } from '../accounts/index.ts'
import { refuse, retry } from '../lib/errors.ts'
import { DEFAULT_LIMITS, LIMITS, type Limits, overNow } from '../limits/index.ts'
import { originOf } from './connections.ts'
import {
  actorOf,
  type Env,
  header,
  RATE_LIMIT,
  RATE_POLICY,
  type RequestContext,
  requestFacts,
  tellRate,
} from './context.ts'
import { errorResponse } from './errors.ts'

/** Authentication and authorisation of requests. */
export interface Door {
  /** Authenticates a request by token; throws if that is invalid or over its quota. */
  enter(c: RequestContext): Caller
  /**
   * Fast path for a plain bearer token with a scope; undefined if in doubt, for `enter` to decide.
   * `hold` reserves resources of the request, or throws, before the request is counted.
   */
  pass(incoming: IncomingMessage, scope: TokenScope, hold: (caller: Caller) => void): Passed | undefined
  /** The answer to a caller without the scope. */
  forbid(c: RequestContext, caller: Caller, scope: TokenScope): Response
}

interface Passed {
  caller: Caller
  /** Rate-limit headers, as names and values. */
  left: readonly string[]
}

export interface DoorOptions {
  accounts: Pick<Accounts, 'verify'> & Partial<Pick<Accounts, 'refusals'>>
  rates: RequestQuotas
}

export const createDoor = ({ accounts, rates }: DoorOptions): Door => ({
  enter(c) {
    const caller = accounts.verify(tokenIn(c))
    if (!caller) {
      const { address } = actorOf(c)
      accounts.refusals?.add({ address }, 'refused token', 'The token is unknown, expired or revoked.')
      const tooMany = address === undefined ? undefined : rates.refused(originOf(address))
      throw tooMany ?? denied('The token is not valid: it is unknown, expired or revoked.')
    }
    const { incoming, outgoing } = c.env ?? {}
    if (incoming) requestFacts(incoming).account = caller.name
    const left = rates.take(caller)
    if (left !== undefined) {
      if (outgoing) tellRate(outgoing, left)
      return caller
    }
    const { headers, error } = rates.exceeded(caller)
    if (outgoing) tellRate(outgoing, headers)
    throw error
  },

  pass(incoming, scope, hold) {
    const [, token] = BEARER.exec(incoming.headers.authorization ?? '') ?? []
    if (token === undefined) return undefined
    try {
      const caller = accounts.verify(token)
      if (!caller?.scopes.has(scope)) return undefined
      requestFacts(incoming).account = caller.name
      hold(caller)
      const left = rates.take(caller)
      return left && { caller, left }
    } catch {
      return undefined
    }
  },

  forbid(c, caller, scope) {
    const by = { account: caller.id, token: caller.token, address: actorOf(c).address }
    accounts.refusals?.add(by, 'refused scope', `The token lacks the scope ${scope}.`)
    return errorResponse(
      403,
      'security_exception',
      `This needs a token with the scope [${scope}], and token ${caller.token} has [${[...caller.scopes].join()}]. ` +
        `The operator of this server creates one with: chainsieve token create --account NAME --scope ${scope}`,
    )
  },
})

/**
 * Requires a valid token: as a bearer token, as the password of basic authentication, as an API key
 * of Elasticsearch (base64 of `id:token` or of the token, or plain), or as `?access_token=`.
 */
export const authenticate =
  (door: Door): MiddlewareHandler<Env> =>
  async (c, next) => {
    c.set('account', door.enter(c))
    await next()
  }

/** Requires a token with this scope. */
export const needs =
  (door: Door, scope: TokenScope): MiddlewareHandler<Env> =>
  async (c, next) => {
    const caller = c.get('account')
    if (!caller.scopes.has(scope)) return door.forbid(c, caller, scope)
    await next()
  }

const tokenIn = (c: RequestContext): string => {
  const authorization = header(c, 'authorization')
  if (authorization === undefined) {
    const token = c.req.query('access_token')
    if (token) return token
    throw denied('A token is missing: send it as "Authorization: Bearer <token>".')
  }
  const [scheme = '', credentials = ''] = authorization.trim().split(/ +/, 2)
  if (/^bearer$/i.test(scheme)) return credentials
  if (/^basic$/i.test(scheme)) {
    const text = Buffer.from(credentials, 'base64').toString()
    return text.slice(text.indexOf(':') + 1)
  }
  if (/^apikey$/i.test(scheme)) {
    if (credentials.startsWith('cs_')) return credentials
    const text = Buffer.from(credentials, 'base64').toString()
    return text.slice(text.indexOf(':') + 1)
  }
  throw denied(
    'The Authorization header is not understood: send "Bearer <token>", "Basic" with the token as password, or "ApiKey" with the token as key.',
  )
}

const BEARER = /^Bearer ([\w-]+)$/

const denied = (why: string) =>
  refuse(
    'security_exception',
    `${why} The operator of this server creates one with: chainsieve token create --account NAME`,
  )

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
