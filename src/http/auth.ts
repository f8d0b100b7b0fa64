import type { IncomingMessage } from 'node:http'
import type { MiddlewareHandler } from 'hono'
import type { Accounts, Caller, TokenScope } from '../accounts/index.ts'
import { refuse } from '../lib/errors.ts'
import { originOf } from './connections.ts'
import { actorOf, type Env, header, type RequestContext, requestFacts, tellRate } from './context.ts'
import { errorResponse } from './errors.ts'
import type { RequestQuotas } from './rate-limits.ts'

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
    c.set('account', c.env?.within?.caller ?? door.enter(c))
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
