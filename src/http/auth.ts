import type { MiddlewareHandler } from 'hono'
import type { Account } from '../accounts/index.ts'
import { refuse } from '../lib/errors.ts'
import { type Context, type Env, header } from './context.ts'
import { factsOf } from './facts.ts'

/**
 * Lets through whoever shows a valid token: as a bearer token, as the password of basic authentication, as an API key of Elasticsearch's
 * clients (base64 of `id:token`, or of the token, or the token itself), or as `?access_token=`.
 */
export const authenticate =
  (verify: (token: string) => Account | undefined): MiddlewareHandler<Env> =>
  async (c, next) => {
    const account = checkToken(c, verify)
    c.set('account', account)
    if (c.env?.incoming) factsOf(c.env.incoming).account = account.name
    await next()
  }

/** Whose token it is. */
export const checkToken = (c: Context, verify: (token: string) => Account | undefined): Account => {
  const account = verify(tokenOf(c))
  if (!account) throw denied('The token is not valid: it is unknown, expired or revoked.')
  return account
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
