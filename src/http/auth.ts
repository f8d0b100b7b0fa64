import type { MiddlewareHandler } from 'hono'
import type { Accounts, Caller, Scope } from '../accounts/index.ts'
import { refuse } from '../lib/errors.ts'
import { originOf } from './connections.ts'
import { actorOf, type Context, type Env, header } from './context.ts'
import { errorResponse } from './errors.ts'
import { factsOf, tellRate } from './facts.ts'
import type { Rates } from './rates.ts'

/** Who may come in. */
export interface Door {
  /** Whose valid token a request shows; a refusal where it shows none, or where that has had its requests. */
  enter(c: Context): Caller
  /** The answer to a caller who may not do something. */
  forbid(c: Context, caller: Caller, scope: Scope): Response
}

export interface DoorOptions {
  accounts: Pick<Accounts, 'verify'> & Partial<Pick<Accounts, 'refusals'>>
  rates: Rates
}

export const createDoor = ({ accounts, rates }: DoorOptions): Door => ({
  enter(c) {
    const caller = accounts.verify(tokenOf(c))
    if (!caller) {
      const { address } = actorOf(c)
      accounts.refusals?.add({ address }, 'refused token', 'The token is unknown, expired or revoked.')
      const tooMany = address === undefined ? undefined : rates.refused(originOf(address))
      throw tooMany ?? denied('The token is not valid: it is unknown, expired or revoked.')
    }
    const { incoming, outgoing } = c.env ?? {}
    if (incoming) factsOf(incoming).account = caller.name
    const left = rates.take(caller)
    if (left !== undefined) {
      if (outgoing) tellRate(outgoing, left)
      return caller
    }
    const { headers, error } = rates.exceeded(caller)
    if (outgoing) tellRate(outgoing, headers)
    throw error
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
 * Lets through whoever shows a valid token: as a bearer token, as the password of basic authentication, as an API key of Elasticsearch's
 * clients (base64 of `id:token`, or of the token, or the token itself), or as `?access_token=`.
 */
export const authenticate =
  (door: Door): MiddlewareHandler<Env> =>
  async (c, next) => {
    c.set('account', door.enter(c))
    await next()
  }

/** Lets through whoever's token has a scope. */
export const needs =
  (door: Door, scope: Scope): MiddlewareHandler<Env> =>
  async (c, next) => {
    const caller = c.get('account')
    if (!caller.scopes.has(scope)) return door.forbid(c, caller, scope)
    await next()
  }

const tokenOf = (c: Context): string => {
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

const denied = (why: string) =>
  refuse(
    'security_exception',
    `${why} The operator of this server creates one with: chainsieve token create --account NAME`,
  )
