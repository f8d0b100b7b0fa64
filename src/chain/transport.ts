import { Pool } from 'undici'
import { messageOf } from '../lib/errors.ts'
import { type Clock, parseRetryAfter } from '../lib/retry.ts'
import { type BodyOptions, readBody } from './answer-body.ts'
import { authorization } from './node-url.ts'

/** HTTP to one endpoint. */
export interface Transport {
  /** Sends JSON, and reads what is answered. */
  post(message: string, reading: Omit<BodyOptions, 'packed'>): Promise<Response>
  close(): Promise<void>
}

interface Response {
  status: number
  retryAfterMs: number | undefined
  bytes: Buffer
}

export const createTransport = (
  url: URL,
  { connections, timeoutMs, clock }: { connections: number; timeoutMs: number; clock: Clock },
): Transport => {
  const pool = new Pool(url.origin, { connections, connectTimeout: timeoutMs })
  const path = url.pathname + url.search
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    // Compressing costs a local node more than the loopback gains.
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
        bytes: await readBody(response.body, { ...reading, packed }),
      }
    },
    close: () => pool.destroy(),
  }
}

/** The most telling line of a failed connection. */
export const describeNetwork = (error: unknown): string => {
  const inner = error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error
  const code = (inner as NodeJS.ErrnoException).code
  const message = messageOf(inner) || 'no connection'
  return code === undefined || message.includes(code) ? message : `${message} (${code})`
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/
