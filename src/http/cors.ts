import type { IncomingMessage, ServerResponse } from 'node:http'
import { errorText } from './errors.ts'
import { nameRequest } from './facts.ts'
import { JSON_TYPE } from './json.ts'

/** Lets pages of other origins ask: adds headers to an answer, and answers a preflight itself, which it tells by true. */
export type Cors = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean

const METHODS = 'GET, HEAD, POST, PUT, DELETE'
const HEADERS = 'authorization, content-type, accept, if-match, if-none-match, x-request-id, x-opaque-id'
const EXPOSED =
  'x-request-id, ratelimit, ratelimit-policy, retry-after, etag, location, www-authenticate, x-elastic-product'
/** How long a browser need not ask again, in seconds. */
const MAX_AGE = '600'

/** `origins`: such as `https://app.example`, or `*` for all. None is sent cookies: tokens are shown by a header. */
export const createCors = (origins: readonly string[]): Cors | undefined => {
  if (origins.length === 0) return undefined
  const any = origins.includes('*')
  const allowed = new Set(origins)

  return (incoming, outgoing) => {
    const { origin } = incoming.headers
    const isPreflight = incoming.method === 'OPTIONS' && incoming.headers['access-control-request-method'] !== undefined
    if (!any) outgoing.setHeader('vary', 'origin')
    if (origin === undefined) return false
    const isAllowed = any || allowed.has(origin)
    if (isAllowed) {
      outgoing.setHeader('access-control-allow-origin', any ? '*' : origin)
      if (!isPreflight) outgoing.setHeader('access-control-expose-headers', EXPOSED)
    }
    if (!isPreflight) return false
    nameRequest(incoming, outgoing)
    incoming.resume()
    if (isAllowed) {
      outgoing.setHeader('access-control-allow-methods', METHODS)
      outgoing.setHeader('access-control-allow-headers', HEADERS)
      outgoing.setHeader('access-control-max-age', MAX_AGE)
      outgoing.writeHead(204).end()
    } else {
      const why =
        'The origin of this page may not ask here. The operator of this server allows it with: --cors-origin ORIGIN'
      outgoing.writeHead(403, JSON_TYPE).end(errorText(403, 'security_exception', why))
    }
    return true
  }
}
