import { Pool } from 'undici'
import { messageOf, refuse } from '../../lib/errors.ts'
import { type Clock, parseRetryAfter } from '../../lib/retry.ts'
import { type BodyOptions, readHttpBody } from './answer-body.ts'
import { CLOSED, type Connection, openConnection } from './connection.ts'

export interface Transport {
  post(message: string, reading: Omit<BodyOptions, 'packed'>): Promise<HttpResponse>
  close(): Promise<void>
}

interface HttpResponse {
  status: number
  retryAfterMs: number | undefined
  bytes: Buffer
}

interface TransportOptions {
  connections: number
  timeoutMs: number
  clock: Clock
}

/** HTTP, WebSocket or IPC, by the URL of the node. */
export const createTransport = (url: URL, options: TransportOptions): Transport =>
  /^https?:$/.test(url.protocol) ? createHttp(url, options) : createSockets(url)

/** One socket per concurrent request: a slow answer delays no other one. */
const createSockets = (url: URL): Transport => {
  const open = new Set<Connection>()
  const idle: { connection: Connection; timer: NodeJS.Timeout }[] = []
  const end = (connection: Connection) => {
    open.delete(connection)
    connection.close()
  }
  const keep = (connection: Connection) => {
    const timer = setTimeout(() => {
      idle.splice(idle.indexOf(kept), 1)
      end(connection)
    }, IDLE_MS).unref()
    const kept = { connection, timer }
    idle.push(kept)
  }
  return {
    async post(message, reading) {
      for (let kept = idle.pop(); ; kept = undefined) {
        clearTimeout(kept?.timer)
        const connection = kept?.connection ?? (await openConnection(url, reading.signal))
        open.add(connection)
        try {
          connection.send(message)
          const bytes = await connection.next(reading)
          keep(connection)
          return { status: 200, retryAfterMs: undefined, bytes }
        } catch (error) {
          end(connection)
          // The node may have closed an idle connection.
          const { code = '' } = error as { code?: string }
          if (!kept || reading.signal.aborted || ![CLOSED, 'ECONNRESET', 'EPIPE'].includes(code)) throw error
        }
      }
    },
    async close() {
      for (const { timer } of idle.splice(0)) clearTimeout(timer)
      for (const connection of [...open]) end(connection)
    },
  }
}

/** Below the time after which nodes close a connection without pongs. */
const IDLE_MS = 15_000

const createHttp = (url: URL, { connections, timeoutMs, clock }: TransportOptions): Transport => {
  const pool = new Pool(url.origin, { connections, connectTimeout: timeoutMs })
  const path = url.pathname + url.search
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    // For a local node, compression costs more than it saves.
    ...(!LOOPBACK.test(url.hostname) && { 'accept-encoding': 'gzip' }),
    ...authorization(url),
  }
  return {
    async post(message, reading) {
      const response = await pool.request({ path, method: 'POST', headers, body: message, signal: reading.signal })
      const packed = response.headers['content-encoding'] === 'gzip'
      return {
        status: response.statusCode,
        retryAfterMs: parseRetryAfter(response.headers['retry-after'], clock.now()),
        bytes: await readHttpBody(response.body, { ...reading, packed }),
      }
    },
    close: () => pool.destroy(),
  }
}

export const describeNetwork = (error: unknown): string => {
  const inner = error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error
  const code = (inner as NodeJS.ErrnoException).code
  const message = messageOf(inner) || 'no connection'
  return code === undefined || message.includes(code) ? message : `${message} (${code})`
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

export const NODE_PROTOCOLS = ['http:', 'https:', 'ws:', 'wss:', 'ipc:']
export const announces = (url: string): boolean => /^(wss?|ipc):/.test(url)
/** Parses a node URL; the `refuse` does not repeat a URL that may contain a secret. */
export const parseNodeUrl = (text: string, protocols: readonly string[]): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && protocols.includes(url.protocol)) return url
  const kinds = protocols
    .map(it => `${it}//`)
    .join(', ')
    .replace(/, ([^,]*)$/, ' or $1')
  throw refuse(
    'bad_node_url',
    url === undefined
      ? `the URL of the node is not valid: write it as one of ${kinds}, and what follows`
      : `the URL of the node begins with ${url.protocol}, but must begin with ${kinds}`,
  )
}

export const authorization = (url: URL): { authorization?: string } => {
  if (url.username === '' && url.password === '') return {}
  const plain = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  return { authorization: `Basic ${Buffer.from(plain).toString('base64')}` }
}

/** Removes secrets of a URL, line feeds, and text beyond 300 characters from node messages. */
export const createHider = (url: URL): ((text: string) => string) => {
  if (url.protocol === 'ipc:') return text => shortenLine(text)
  const secrets = [
    url.username,
    url.password,
    decodeURIComponent(url.password),
    ...url.pathname.split('/').filter(it => it.length >= 8),
    ...url.searchParams.values(),
  ].filter(it => it !== '')
  return text => shortenLine(secrets.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text))
}

const shortenLine = (text: string): string => {
  const line = text.replace(/\s+/g, ' ')
  return line.length > 300 ? `${line.slice(0, 297)}...` : line
}
