import type { IncomingMessage, ServerResponse } from 'node:http'
import { refuse } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { EXPOSITION_TYPE, type Metrics } from '../metrics/index.ts'
import type { Door } from './auth.ts'
import { originOf, THIS_MACHINE } from './connections.ts'
import { header, type RequestContext, requestFacts } from './context.ts'
import { stringSchema } from './openapi/schema.ts'
import { routesOf } from './request.ts'

export interface ServedMetrics {
  /** In Prometheus's text format. */
  text(): Promise<string>
  /** Who needs no token: everybody, callers on this machine, or nobody. */
  access: 'open' | 'local' | 'token'
}

/** Metrics cover all accounts, and name networks and hosts of nodes. */
export const metrics = routesOf<ServedMetrics & { door: Door }>('Server')(
  'get',
  '/metrics',
  'Figures for Prometheus. `--metrics` says who needs no token.',
  {
    described: ['access_token'],
    answers: { 200: { description: 'The figures.', content: { 'text/plain': stringSchema } } },
  },
  ({ text, access, door }) =>
    async c => {
      if (access === 'token' || (access === 'local' && !isAskedLocally(c))) {
        if (access === 'local') refuseUnnamed(c)
        const caller = door.enter(c)
        if (!caller.scopes.has('admin')) return door.forbid(c, caller, 'admin')
      }
      return new Response(await text(), { headers: { 'content-type': EXPOSITION_TYPE, 'cache-control': 'no-store' } })
    },
)

/** Headers of a proxy on this machine, which forwards requests of others. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via']

const isThisMachine = (address: string): boolean => originOf(address) === THIS_MACHINE

/**
 * Trusted proxies must name only addresses of this machine: a remote proxy's 127.0.0.1 is itself.
 * A request through a proxy that names no client may come from anywhere.
 */
const isAskedLocally = ({ env }: RequestContext): boolean => {
  const incoming = env?.incoming
  if (!incoming || !namesThisMachine(incoming.headers.host)) return false
  const { origin } = requestFacts(incoming)
  if (origin && origin.proxies.length > 0) return [origin.address, ...origin.proxies].every(isThisMachine)
  if (origin?.isNamed === false || !isThisMachine(incoming.socket.remoteAddress ?? '')) return false
  return FORWARDED.every(name => incoming.headers[name] === undefined)
}

/** Refuses other host names, which web pages may resolve to this machine (DNS rebinding). */
const namesThisMachine = (host = ''): boolean => /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i.test(host)

/** Explains the refusal to a local scraper that looks like a proxy or uses another host name. */
const refuseUnnamed = (c: RequestContext): void => {
  if (header(c, 'authorization') !== undefined || c.req.query('access_token')) return
  const incoming = c.env?.incoming
  if (!incoming || !isThisMachine(incoming.socket.remoteAddress ?? '')) return
  const { origin } = requestFacts(incoming)
  const { host = '' } = incoming.headers
  if (!namesThisMachine(host))
    throw refuse(
      'security_exception',
      `Metrics need no token for localhost, 127.0.0.1 and [::1] alone, and the header Host is [${host.slice(0, 100)}]: ask ` +
        `one of these, or ${SEND_A_TOKEN}`,
    )
  if (origin?.isNamed !== false) return
  throw refuse(
    'security_exception',
    `${origin.address} is the address of a trusted proxy (--trust-proxy), and the request names no client in the header of ` +
      `--proxy-header: let the proxy set it, or ${SEND_A_TOKEN}`,
  )
}

const SEND_A_TOKEN =
  'send a token with the scope [admin], which the operator of this server creates with: ' +
  'chainsieve token create --account NAME --scope admin'

/** Counts requests by the status of their answers, and logs them where `log` is given. */
export const watchRequests = (metrics: Metrics, log: Log | undefined) => {
  const requests = metrics.counter('chainsieve_http_requests_total')
  const counters = new Map<number, (by?: number) => void>()
  const count = (status: number) => {
    let add = counters.get(status)
    if (!add) {
      add = requests.of({ code: String(status) })
      counters.set(status, add)
    }
    add()
  }
  return (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const began = log ? performance.now() : 0
    // Absent on a closed socket.
    const address = log && (requestFacts(incoming).address ?? incoming.socket.remoteAddress)
    outgoing.once('close', () => {
      // 499: the client went away before it had the whole answer.
      const status = outgoing.writableFinished ? outgoing.statusCode : 499
      count(status)
      log?.info('Answered a request', {
        ...requestFields(incoming),
        address,
        status,
        ms: roundTenth(performance.now() - began),
      })
    })
  }
}

/** Omits the query of the URL, which may contain tokens. */
const requestFields = (incoming: IncomingMessage) => {
  const { id, account } = requestFacts(incoming)
  const { method, url = '' } = incoming
  return { request: id, method, path: url.split('?', 1)[0], account }
}

const roundTenth = (ms: number) => Math.round(ms * 10) / 10
