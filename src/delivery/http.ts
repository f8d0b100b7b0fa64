import { isIP, type LookupFunction } from 'node:net'
import { Agent, buildConnector, type Dispatcher, request } from 'undici'
import { createRecentCache } from '../lib/caches.ts'
import { ChainsieveError, refuse } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { parseRetryAfter, withTimeout } from '../lib/retry.ts'
import { version } from '../lib/runtime.ts'
import type { SendContext, SendOutcome } from './channels/channel.ts'
import { createNameLookups, type Lookup } from './dns.ts'
import type { Guard } from './ssrf-guard.ts'
import { cutText, plainLine } from './text.ts'

export interface HttpOptions {
  guard: Guard
  /** Timeout of an attempt, from resolving the name to the last byte read. */
  timeoutMs: number
  lookup?: Lookup | undefined
  /** Trusted certificates (PEM) instead of the system's. */
  ca?: string | undefined
  /** Gets the addresses of refused names, which rule owners must not see. */
  log?: Log | undefined
}

interface HttpCall {
  method: 'GET' | 'POST' | 'PUT'
  url: URL
  headers: Record<string, string>
  body?: string
}

export type Http = ReturnType<typeof createHttpTransport>

/** HTTP to receivers: guarded against SSRF, with a timeout, and without redirects. */
export const createHttpTransport = ({ guard, timeoutMs, lookup, ca, log }: HttpOptions) => {
  const names = createNameLookups()
  const connectorOptions = { timeout: Math.min(timeoutMs, CONNECT_MS), ca, log }
  const connections = createConnections({
    connectorOf: () => guardedConnector(guard, lookup ?? names(), connectorOptions),
    maxHead: MAX_HEADERS,
  })

  const exchange = async (
    { method, url, headers, body }: HttpCall,
    now: number,
    signal: AbortSignal,
    dispatcher: Dispatcher,
    reset: boolean,
  ): Promise<SendOutcome> => {
    const response = await request(url.origin + url.pathname + url.search, {
      dispatcher,
      reset,
      method,
      headers: { 'user-agent': `Chainsieve/${version}`, 'accept-encoding': 'identity', ...basic(url), ...headers },
      body: body ?? null,
      signal,
    })
    const status = response.statusCode
    // The status decides, even if the body breaks off.
    const head = await readAnswerHead(response.body)
    if (status >= 200 && status < 300) return { type: 'delivered', status, head }
    if (status === 410) return { type: 'gone', why: 'it answered 410: it wants no more messages', status, head }
    const why =
      status >= 300 && status < 400
        ? `it answered ${status}: redirects are not followed, use the final address`
        : `it answered ${status}`
    const retryAfterMs = parseRetryAfter(response.headers['retry-after'], now)
    return { type: 'retry', why, status, head, ...(retryAfterMs !== undefined && { retryAfterMs }) }
  }

  return {
    /** One request, no redirects; see `Channel.send` for what it resolves and rejects with. */
    async attempt(
      call: HttpCall,
      { account, signal, now }: Pick<SendContext, 'account' | 'signal' | 'now'>,
    ): Promise<SendOutcome> {
      try {
        return await connections.use(account, (dispatcher, reset) =>
          withTimeout(timeoutMs, signal, timedOut, inner => exchange(call, now, inner, dispatcher, reset)),
        )
      } catch (error) {
        if (signal.aborted) throw signal.reason
        if (error === TIMED_OUT) return transportFailure(`it did not answer within ${timeoutMs / 1000} s`)
        const inward = inwardOf(error)
        if (inward) return { type: 'refused', why: inward.message }
        const why = describe(error, call.url.hostname)
        if (why === undefined) throw error
        return transportFailure(why)
      }
    },
    close: connections.close,
  }
}

export const parseTarget = (text: string): URL | undefined => {
  const url = URL.parse(text)
  return url && (url.protocol === 'https:' || url.protocol === 'http:') ? url : undefined
}

const transportFailure = (why: string): SendOutcome => ({ type: 'retry', why, status: null, head: '' })

/**
 * Connects only to checked addresses: a name is resolved once, all its addresses are checked, and
 * the connection uses those, so a second DNS answer changes nothing.
 */
const guardedConnector = (
  guard: Guard,
  lookup: Lookup,
  { ca, timeout, log }: { ca: string | undefined; timeout: number; log: Log | undefined },
): buildConnector.connector => {
  /** Logged hosts, to log each once. */
  const told = createRecentCache<{ address: string }>(MAX_LOGGED_HOSTS)
  const refusal = (host: string, address: string): ChainsieveError | undefined => {
    const why = guard.refused(address)
    if (why === undefined) return undefined
    // The owner must not learn what an internal name resolves to.
    if (host !== address && told.get(host)?.address !== address) {
      told.set(host, { address })
      log?.warn('Refused a target of a rule', { host, address, why })
    }
    const what = host === address ? `${address} is ${why}` : `${host} resolves to an address that is not allowed`
    return refuse(INWARD, `${what}: the operator has to allow this range (--allow-target)`)
  }

  const checked: LookupFunction = (hostname, { all }, callback) => {
    lookup(hostname).then(
      addresses => {
        const fault = addresses.map(({ address }) => refusal(hostname, address)).find(it => it !== undefined)
        if (fault) return callback(fault, '')
        if (addresses.length === 0) return callback(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), '')
        if (all) return callback(null, [...addresses])
        callback(null, addresses[0]!.address, addresses[0]!.family)
      },
      error => callback(error, ''),
    )
  }

  const connect = buildConnector({
    allowH2: false,
    timeout,
    rejectUnauthorized: true,
    autoSelectFamily: true,
    lookup: checked,
    ...(ca !== undefined && { ca }),
  })

  return (options, callback) => {
    // Addresses are not resolved, so they are checked here.
    const fault = isIP(options.hostname) ? refusal(options.hostname, options.hostname) : undefined
    if (fault) return callback(fault, null)
    connect(options, callback)
  }
}

/** Credentials from the URL. None of ours are ever sent. */
const basic = ({ username, password }: URL): Record<string, string> => {
  if (username === '' && password === '') return {}
  const pair = `${decode(username)}:${decode(password)}`
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }
}

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Reads as much as the ledger stores. */
const readAnswerHead = async (body: AsyncIterable<Buffer>): Promise<string> => {
  const kept: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of body) {
      if (size < HEAD_BYTES) kept.push(chunk)
      size += chunk.length
      if (size > MAX_ANSWER_BODY) break
    }
  } catch {
    // Cut off, or too slow.
  }
  return answerHead(Buffer.concat(kept).subarray(0, HEAD_BYTES).toString())
}

/** A receiver's answer in the form that may be stored and shown. */
export const answerHead = (text: string): string => cutText(plainLine(text).trim(), MAX_HEAD)

/** The reason of an attempt that took too long. */
export const TIMED_OUT = Symbol('timed out')
export const timedOut = () => TIMED_OUT

const inwardOf = (error: unknown): ChainsieveError | undefined => {
  if (error instanceof ChainsieveError && error.code === INWARD) return error
  return error instanceof AggregateError ? error.errors.map(inwardOf).find(it => it) : undefined
}

/** Own wording: the library's message may reveal too much. */
const describe = (error: unknown, host: string): string | undefined => {
  const inner = error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error
  const { code = undefined, name = undefined } = inner instanceof Error ? (inner as NodeJS.ErrnoException) : {}
  if (name === 'HTTPParserError') return `the answer of ${host} is not HTTP`
  if (typeof code !== 'string') return undefined
  return explainFault(code, host) ?? `no connection to ${host} (${code})`
}

/** Explains an error code of the system or of the library, for a host. */
export const explainFault = (code: string, host: string): string | undefined =>
  FAILURES.find(([pattern]) => pattern.test(code))?.[1].replace('HOST', () => host)

const FAILURES: [code: RegExp, why: string][] = [
  [/^(ENOTFOUND|EAI_\w+|ENODATA|ETIMEOUT|ESERVFAIL)$/, 'HOST cannot be resolved'],
  [/^ECONNREFUSED$/, 'HOST refused the connection'],
  [/^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/, 'HOST did not accept the connection in time'],
  [/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, 'HOST cannot be reached from here'],
  [/^(UND_ERR_SOCKET|ECONNRESET|EPIPE|UND_ERR_ABORTED)$/, 'HOST closed the connection before it answered'],
  [/^UND_ERR_HEADERS_OVERFLOW$/, 'the headers of the answer of HOST are too large'],
  [/^CERT_HAS_EXPIRED$/, 'the TLS certificate of HOST has expired'],
  [/^(ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/, 'the TLS certificate of HOST is for another name'],
  [/^(DEPTH_ZERO_)?SELF_SIGNED_CERT/, 'the TLS certificate of HOST is self-signed'],
  [/CERT|SIGNATURE|^(ERR_TLS|UNABLE_TO)/, 'the TLS certificate of HOST is not trusted'],
  [/^(ERR_SSL|EPROTO)/, 'HOST failed in the TLS handshake'],
]

const INWARD = 'inward_target'
const MAX_LOGGED_HOSTS = 1_000
const CONNECT_MS = 10_000
const MAX_HEADERS = 16 << 10
const MAX_ANSWER_BODY = 64 << 10
const MAX_HEAD = 1_000
const HEAD_BYTES = 4 * MAX_HEAD

interface ConnectionsOptions {
  connectorOf(account: number): buildConnector.connector
  /** Bytes of response headers. */
  maxHead: number
}

interface AccountConnections {
  agent: Agent
  open: number
  /** Running attempts. */
  busy: number
}

/** Idle connections of one account. */
const MAX_IDLE = 64
const RECEIVER_KEEP_ALIVE_MS = 10_000
export type Connections = ReturnType<typeof createConnections>
/**
 * Connections per account, so hanging receivers of one block no other. The scheduler limits busy
 * connections, this limits idle ones.
 */
const createConnections = ({ connectorOf, maxHead }: ConnectionsOptions) => {
  const accounts = new Map<number, AccountConnections>()

  const open = (id: number): AccountConnections => {
    const connect = connectorOf(id)
    const account: AccountConnections = { open: 0, busy: 0, agent: undefined as never }
    const counted: buildConnector.connector = (options, callback) =>
      connect(options, (...result) => {
        const socket = result[1]
        if (socket) {
          account.open++
          socket.once('close', () => account.open--)
        }
        callback(...result)
      })
    account.agent = new Agent({
      connect: counted,
      pipelining: 1,
      allowH2: false,
      keepAliveMaxTimeout: RECEIVER_KEEP_ALIVE_MS,
      maxHeaderSize: maxHead,
      // The caller has one timeout for the whole attempt.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    accounts.set(id, account)
    return account
  }

  return {
    /** `reset`: the connection is closed after the answer. */
    async use<T>(id: number, work: (dispatcher: Dispatcher, reset: boolean) => Promise<T>): Promise<T> {
      const account = accounts.get(id) ?? open(id)
      account.busy++
      try {
        return await work(account.agent, account.open - account.busy >= MAX_IDLE)
      } finally {
        account.busy--
      }
    },

    async close() {
      await Promise.all([...accounts.values()].map(({ agent }) => agent.destroy()))
      accounts.clear()
    },
  }
}
