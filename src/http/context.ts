import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Context as HonoContext } from 'hono'
import type { Actor, Caller } from '../accounts/index.ts'
import { factsOf } from './facts.ts'

export interface Env {
  /** Node's own request and response; absent, or even without `env` around them, where the app is called without a socket. */
  Bindings: { incoming?: IncomingMessage; outgoing?: ServerResponse }
  Variables: { account: Caller; held: Held }
}

/** What a request holds of the bytes that bodies may have at once, in all and by account. */
export interface Held {
  /** Refuses this many further bytes if there is no room for them now. */
  check(bytes: number): void
  /** Takes them, or refuses. */
  add(bytes: number): void
}

export type Context = HonoContext<Env>

/** A request and its answer, as far as errors and long answers need to know them: a context is one. */
export interface Exchange {
  req: { method: string; path: string; raw: Pick<Request, 'signal'> }
  env?: Env['Bindings']
}

export type Handler = (c: Context) => Response | Promise<Response>

/** The path that routes are matched with: `//` is `/` (clients join paths carelessly), and a slash at the end is as good as none. */
export const pathOf = (request: Request): string => {
  const { url } = request
  const start = url.indexOf('/', url.indexOf('://') + 3)
  const end = url.slice(start).search(/[?#]/)
  const path = end < 0 ? url.slice(start) : url.slice(start, start + end)
  const single = path.includes('//') ? path.replace(/\/{2,}/g, '/') : path
  return joiningNetworks(single.length > 1 && single.endsWith('/') ? single.slice(0, -1) : single)
}

/** The names of several networks, `/a/b/c,d/e/f/es`, as if they were those of one, `/a/b/c,d%2Fe%2Ff/es`: so routes know them. */
const joiningNetworks = (path: string): string => {
  if (!path.includes(',') && !path.includes('%2')) return path
  const segments = path.split('/')
  let last = NETWORK
  while (segments[last] !== undefined && /,|%2C/i.test(segments[last]!)) last += 2
  if (last === NETWORK || segments[last + 1] !== 'es') return path
  const name = segments.slice(NETWORK, last + 1).join('%2F')
  return [...segments.slice(0, NETWORK), name, ...segments.slice(last + 1)].join('/')
}

/** The segment with the last part of a network's name. */
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

/** A header of the request, without building what the standard's Headers would be built from. */
export const header = (c: Context, name: HeaderName): string | undefined =>
  c.env?.incoming ? c.env.incoming.headers[name] : c.req.header(name)

/** Who asks, and for how long. */
export const askedBy = (c: Context) => ({ account: c.get('account').id, signal: whileConnected(c) })

/** Who asks, for the audit trail. */
export const actorOf = (c: Context): Actor => {
  const caller: Caller | undefined = c.get('account')
  const incoming = c.env?.incoming
  const address = incoming && (factsOf(incoming).address ?? incoming.socket.remoteAddress)
  return { account: caller?.id, token: caller?.token, address }
}

/** Aborts when the client goes away before it has the whole answer. */
export const whileConnected = (c: Context): AbortSignal => {
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
