import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import type { Server as TlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Hono } from 'hono'
import { lazy } from '../lib/caches.ts'
import { messageOf, stop } from '../lib/errors.ts'
import { type Log, silent } from '../lib/log.ts'
import { DEFAULT_LIMITS, type Limits, overLimit } from '../limits/index.ts'
import { nodeListener } from './answer.ts'
import {
  type Cors,
  limitConnections,
  NO_PROXIES,
  noConnections,
  type OpenConnections,
  type Proxies,
} from './connections.ts'
import { type Ending, type Env, nameRequest, requestFacts } from './context.ts'
import type { Direct } from './direct.ts'
import { errorResponse, rawError } from './errors.ts'
import type { Certificate } from './tls.ts'

export interface HttpServer {
  /** URL from this machine, without a slash at the end. */
  url: string
  port: number
  /** Reads the files of the certificate again; absent without TLS. */
  reload?: (() => void) | undefined
  /** As after SIGTERM: lets requests under way finish for `graceMs`, then breaks them off. */
  close(graceMs?: number): Promise<void>
}

interface ListenOptions {
  /** Answers some requests before the app. */
  direct?: Direct
  host: string
  port: number
  limits?: Limits
  log?: Log
  /** The server speaks HTTPS with it. */
  certificate?: Certificate | undefined
  /** Answers preflights. */
  cors?: Cors | undefined
  proxies?: Proxies
  /** Path that the root of this listener stands for, without a slash at its end. */
  root?: string
  /** Shared by listeners that have one limit. */
  connections?: OpenConnections
  /** The setting to change if the address cannot be listened on. */
  setting?: string
  /** Called at the start of each request. */
  onRequest?: (incoming: IncomingMessage, outgoing: ServerResponse) => void
}

/** Defers what most other answers need until the first ones are out. */
const LOAD_AFTER_MS = 100
/** Interval between checks for slow clients (slowloris). */
const CHECK_MS = 2_000

export const listen = async (app: Hono<Env>, options: ListenOptions): Promise<HttpServer> => {
  const { direct = () => false, host, port, limits = DEFAULT_LIMITS, log = silent, onRequest = () => {} } = options
  const { certificate, cors, proxies = NO_PROXIES, root = '', connections = noConnections(), setting } = options
  const loadListener = lazy(async () => {
    const toListener = await nodeListener()
    return toListener((request, env) => app.fetch(request, env as Env['Bindings']), {
      hostname: host,
      errorHandler: error =>
        errorResponse(400, 'illegal_argument_exception', `The request cannot be read: ${messageOf(error)}`),
    })
  })
  const listener = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    nameRequest(incoming, outgoing)
    return (await loadListener())(incoming, outgoing)
  }
  const [begun, soon] = [new AbortController(), new AbortController()]
  const ending: Ending = { begun: begun.signal, soon: soon.signal }
  const begin = (incoming: IncomingMessage, outgoing: ServerResponse): boolean => {
    if (root !== '') incoming.url = root + pathWithin(incoming.url ?? '/')
    const facts = requestFacts(incoming)
    facts.ending = ending
    if (proxies !== NO_PROXIES) {
      facts.origin = proxies.originOf(incoming)
      facts.address = facts.origin.address
    }
    onRequest(incoming, outgoing)
    return cors?.(incoming, outgoing) ?? false
  }
  const server = await createFor(
    certificate,
    {
      // Exceeds the keep-alive of load balancers, which therefore close idle connections first.
      keepAliveTimeout: 75_000,
      headersTimeout: 20_000,
      requestTimeout: 120_000,
      connectionsCheckingInterval: CHECK_MS,
      maxHeaderSize: limits.headers,
    },
    (incoming, outgoing) => {
      if (begin(incoming, outgoing)) return
      void (direct(incoming, outgoing) || listener(incoming, outgoing))
    },
  )
  // Sends `100 Continue` when the body is about to be read.
  server.on('checkContinue', (incoming, outgoing) => {
    if (begin(incoming, outgoing)) return
    void listener(incoming, outgoing)
  })
  answerUnreadable(server, limits)
  limitConnections(server, limits, log, {
    ...{ isTls: certificate !== undefined, trusts: proxies.trusts, open: connections },
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', error => reject(listenError(error, host, port, setting)))
    server.listen(port, host, resolve)
  })
  server.on('error', error => log.warn('Failed to accept a connection', { error }))
  setTimeout(() => void loadListener(), LOAD_AFTER_MS).unref()
  const bound = (server.address() as AddressInfo).port
  const following = certificate?.follow(pair => (server as TlsServer).setSecureContext({ ...pair }))
  return {
    url: `${certificate ? 'https' : 'http'}://${hostOf(host)}:${bound}`,
    port: bound,
    reload: following?.reload,
    close: (graceMs = 5_000) =>
      new Promise(resolve => {
        following?.stop()
        begun.abort()
        const hurry = setTimeout(() => soon.abort(), graceMs * HURRY)
        const breakOff = setTimeout(() => server.closeAllConnections(), graceMs)
        // Connections that are kept alive become idle one by one.
        const hangUp = setInterval(() => server.closeIdleConnections(), 10)
        server.close(() => {
          clearTimeout(hurry)
          clearTimeout(breakOff)
          clearInterval(hangUp)
          resolve()
        })
      }),
  }
}

/** A request's path and query as they stand after another path: `..` cannot leave it. */
const pathWithin = (url: string): string => {
  const path = url.replace(/^https?:\/\/[^/?#]*/i, '')
  if (path === '*' || !/\.|%2e/i.test(path)) return path
  const { pathname, search } = new URL(`http://x${path}`)
  return pathname + search
}

/** Share of the grace period after which answers are asked to end. */
const HURRY = 0.6

const createFor = async (
  certificate: Certificate | undefined,
  options: ServerOptions,
  handler: RequestListener,
): Promise<Server> => {
  if (!certificate) return createServer(options, handler)
  // A start without TLS does not load it.
  const https = await import('node:https')
  const tls = { ...certificate.current(), ALPNProtocols: ['http/1.1'], handshakeTimeout: 20_000 }
  return https.createServer({ ...options, ...tls }, handler)
}

/** Answers unreadable and late requests like other errors. */
const answerUnreadable = (server: Server, limits: Limits) => {
  const answers = new Map<string | undefined, () => string>([
    [
      'HPE_HEADER_OVERFLOW',
      () => rawError(431, 'too_long_http_header_exception', overLimit('headers', limits).message),
    ],
    [
      'ERR_HTTP_REQUEST_TIMEOUT',
      () =>
        rawError(
          408,
          'timeout_exception',
          'The request did not arrive in time: send its headers and its body without a pause.',
        ),
    ],
  ])
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket & { _httpMessage?: ServerResponse }) => {
    const begun = socket._httpMessage?.headersSent === true
    // Nothing can be sent before a handshake.
    if ('encrypted' in socket && !(socket as TLSSocket).getProtocol()) return socket.destroy()
    if (error.code === 'ECONNRESET' || !socket.writable || begun) return socket.destroy()
    const malformed = () =>
      rawError(400, 'illegal_argument_exception', `This is not an HTTP request: ${messageOf(error)}`)
    socket.write((answers.get(error.code) ?? malformed)())
    socket.destroySoon()
  })
}

const hostOf = (host: string): string => {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

const listenError = (error: NodeJS.ErrnoException, host: string, port: number, setting?: string): Error => {
  const at = `${hostOf(host)}:${port}`
  const why: Record<string, string> = {
    EADDRINUSE: `${at} is in use by another process: stop that process, or choose another port with ${setting ?? '--port'}.`,
    EACCES: `${at} needs a privilege that this user does not have: choose a port above 1023 with ${setting ?? '--port'}.`,
    EADDRNOTAVAIL: `${host} is not an address of this machine: choose another with ${setting ?? '--host'}.`,
    ENOTFOUND: `${host} is not an address of this machine: choose another with ${setting ?? '--host'}.`,
  }
  const reason = why[error.code ?? '']
  return reason === undefined ? error : stop('cannot_listen', reason, error)
}
