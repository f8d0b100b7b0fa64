import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Context as HonoContext } from 'hono'
import type { Actor, Caller } from '../accounts/index.ts'
import type { RequestOrigin } from './connections.ts'

export interface Env {
  /** Node's request and response; absent, even as `env`, when the app runs without a socket. */
  Bindings: { incoming?: IncomingMessage; outgoing?: ServerResponse; within?: InnerCall }
  Variables: { account: Caller; held: HeldBytes }
}

/** The authenticated caller of a request that this process makes to itself. */
export interface InnerCall {
  caller: Caller
  address?: string | undefined
}

export interface HeldBytes {
  /** Throws if there is no room for this many further bytes. */
  check(bytes: number): void
  /** Reserves bytes, or throws. */
  add(bytes: number): void
}

export type RequestContext = HonoContext<Env>

/** The parts of a context that errors and long answers need. */
export interface Exchange {
  req: { method: string; path: string; raw: Pick<Request, 'signal'> }
  env?: Env['Bindings']
}

export type Handler = (c: RequestContext) => Response | Promise<Response>

/** Path for routing: `//` becomes `/` (clients join carelessly), a trailing slash is dropped. */
export const routePath = (request: Request): string => {
  const { url } = request
  const start = url.indexOf('/', url.indexOf('://') + 3)
  const end = url.slice(start).search(/[?#]/)
  const path = end < 0 ? url.slice(start) : url.slice(start, start + end)
  const single = path.includes('//') ? path.replace(/\/{2,}/g, '/') : path
  return joiningNetworks(single.length > 1 && single.endsWith('/') ? single.slice(0, -1) : single)
}

/** Joins several networks, `/a/b/c,d/e/f/es`, to one segment for routing, `/a/b/c,d%2Fe%2Ff/es`. */
const joiningNetworks = (path: string): string => {
  if (!path.includes(',') && !path.includes('%2')) return path
  const segments = path.split('/')
  let last = NETWORK
  while (segments[last] !== undefined && /,|%2C/i.test(segments[last]!)) last += 2
  if (last === NETWORK || segments[last + 1] !== 'es') return path
  const name = segments.slice(NETWORK, last + 1).join('%2F')
  return [...segments.slice(0, NETWORK), name, ...segments.slice(last + 1)].join('/')
}

/** Index of the segment with the last part of a network's name. */
const NETWORK = 3

type HeaderName =
  | 'accept'
  | 'accept-encoding'
  | 'authorization'
  | 'content-encoding'
  | 'content-length'
  | 'if-match'
  | 'if-none-match'
  | 'user-agent'

/** A request header, without building a standard Headers object. */
export const header = (c: RequestContext, name: HeaderName): string | undefined =>
  c.env?.incoming ? c.env.incoming.headers[name] : c.req.header(name)

export const askedBy = (c: RequestContext) => ({ account: c.get('account').id, signal: whileConnected(c) })

export const actorOf = (c: RequestContext): Actor => {
  const caller: Caller | undefined = c.get('account')
  const { incoming, within } = c.env ?? {}
  const address = incoming ? (requestFacts(incoming).address ?? incoming.socket.remoteAddress) : within?.address
  return { account: caller?.id, token: caller?.token, address }
}

/** Aborts when the client disconnects before it has the whole answer. */
export const whileConnected = (c: RequestContext): AbortSignal => {
  const outgoing = c.env?.outgoing
  if (!outgoing) return c.req.raw.signal
  const controller = new AbortController()
  const onClose = () => {
    if (!outgoing.writableFinished) controller.abort()
  }
  if (outgoing.destroyed) onClose()
  else outgoing.once('close', onClose)
  return controller.signal
}

export const disconnected = (c: Exchange): boolean =>
  c.env?.outgoing ? c.env.outgoing.destroyed && !c.env.outgoing.writableFinished : c.req.raw.signal.aborted

/** Facts about a request besides its content, for the log and the audit trail. */
interface RequestFacts {
  /** The client's own id, or a random one. */
  readonly id: string
  /** Client address; `listen` may know it better than the socket. */
  address: string | undefined
  /** Origin reported by trusted proxies; undefined where none is trusted. */
  origin: RequestOrigin | undefined
  /** Name of the authenticated account, once available. */
  account: string | undefined
  ending?: Ending
}

/** Signals of a stopping server to answers in progress. */
export interface Ending {
  readonly begun: AbortSignal
  readonly soon: AbortSignal
}

export const REQUEST_ID = 'x-request-id'
export const RATE_LIMIT = 'ratelimit'
export const RATE_POLICY = 'ratelimit-policy'

export const requestFacts = (incoming: IncomingMessage): RequestFacts => {
  const known = incoming as IncomingMessage & { [FACTS]?: RequestFacts }
  known[FACTS] ??= { id: requestId(incoming), address: undefined, origin: undefined, account: undefined }
  return known[FACTS]
}

/** Sends the client the id under which its request is logged. */
export const nameRequest = (incoming: IncomingMessage, outgoing: ServerResponse) => {
  if (!outgoing.headersSent) outgoing.setHeader(REQUEST_ID, requestFacts(incoming).id)
}

/** Sends the client its remaining quota, by names and values of headers. */
export const tellRate = (outgoing: ServerResponse, headers: readonly string[]) => {
  if (outgoing.headersSent) return
  for (let i = 0; i < headers.length; i += 2) outgoing.setHeader(headers[i]!, headers[i + 1]!)
}

const FACTS = Symbol('facts')

const requestId = ({ headers }: IncomingMessage): string => {
  const given = headers[REQUEST_ID]
  return typeof given === 'string' && CLEAN.test(given) ? given : randomUUID()
}

/** Characters allowed in headers and log lines. */
const CLEAN = /^[\w.:/+=@-]{1,128}$/
