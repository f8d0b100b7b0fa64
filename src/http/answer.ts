import type { ServerResponse } from 'node:http'
import type { getRequestListener } from '@hono/node-server'
import { lazy } from '../lib/caches.ts'
import type { Log } from '../lib/log.ts'
import type { WideIntegers } from '../search/columns/argument-values.ts'
import { type AnswerFormat, type Pieces, type RowFormat, rowFormatOf, type SearchAnswer } from '../search/service.ts'
import type { Exchange } from './context.ts'

export const JSON_TYPE = { 'content-type': 'application/json; charset=UTF-8' }

/** Headers of successful answers; Elasticsearch clients from 7.14 require the second. */
export const PRODUCT = { ...JSON_TYPE, 'x-elastic-product': 'Elasticsearch' }

export const jsonResponse = (value: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(value), { status, headers: { ...PRODUCT, ...headers } })

const CSV = 'text/csv; charset=UTF-8; header=present'
const FORMAT_TYPES: Record<RowFormat, Record<string, string>> = {
  parquet: { 'content-type': 'application/vnd.apache.parquet' },
  ndjson: { 'content-type': 'application/x-ndjson; charset=UTF-8' },
  csv: { 'content-type': CSV },
  'raw-csv': { 'content-type': `${CSV}; formulas=raw` },
}

/** Sends a service's answer, whole or streamed at the client's pace (backpressure). */
export const sendAnswer = (c: Exchange, log: Log, { status, body, format }: SearchAnswer): Response =>
  new Response(body instanceof ReadableStream ? breakable(c, log, body) : (body as Uint8Array<ArrayBuffer>), {
    status,
    headers: status < 300 ? { ...PRODUCT, ...(format && FORMAT_TYPES[rowFormatOf(format)]) } : JSON_TYPE,
  })

/** Destroys the connection if a streamed answer fails: no other way shows that it is incomplete. */
const breakable = (c: Exchange, log: Log, stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> => {
  const reader = stream.getReader()
  let left = false
  let failed = false
  const fail = (error: unknown) => {
    // A search that stops because its client disconnected is not an error.
    if (left || failed) return
    failed = true
    log.error('Failed in the middle of an answer', { path: c.req.path, error })
    c.env?.outgoing?.destroy()
  }
  // Also detects failures while the client does not read, without pulls.
  reader.closed.catch(fail)
  return new ReadableStream<Uint8Array>(
    {
      pull: async controller => {
        try {
          const { done, value } = await reader.read()
          if (left) return
          if (done) controller.close()
          else controller.enqueue(value)
        } catch (error) {
          fail(error)
          if (left) return
          if (c.env?.outgoing) controller.close()
          else controller.error(error)
        }
      },
      cancel: reason => {
        left = true
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}

/**
 * Writes a long answer in pieces, each after the one before was sent, as they share memory. On
 * failure destroys the connection: no other way shows that the answer is incomplete.
 */
export const sendPieces = async (
  outgoing: ServerResponse,
  { next, cancel, signal }: Pieces,
  { log, path }: { log: Log; path: string },
): Promise<void> => {
  const { promise: broken, resolve: breaks } = Promise.withResolvers<void>()
  let isBroken = false
  outgoing.once('close', () => {
    isBroken = true
    breaks()
    cancel()
  })
  const fail = (error: unknown) => {
    // A search that stops because its client disconnected is not an error.
    if (isBroken) return
    log.error('Failed in the middle of an answer', { path, error })
    outgoing.destroy()
  }
  // Also while its client does not read.
  signal.addEventListener('abort', () => fail(signal.reason), { once: true })
  try {
    for (let piece = await next(); piece && !outgoing.destroyed; piece = await next())
      await Promise.race([writeChunk(outgoing, piece), broken])
    outgoing.end()
  } catch (error) {
    if (!signal.aborted) fail(error)
  }
}

/** Also resolves if the connection breaks; `close` reports that. */
const writeChunk = (outgoing: ServerResponse, piece: Uint8Array): Promise<void> =>
  new Promise(resolve => {
    outgoing.write(piece, () => resolve())
  })

/** Media types of search answers. JSON types end the search for others. */
const ACCEPTED: ReadonlyMap<string, RowFormat | 'json'> = new Map([
  ['application/vnd.apache.parquet', 'parquet'],
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson', 'ndjson'],
  ['text/csv', 'csv'],
  ['application/json', 'json'],
  ['application/*', 'json'],
  ['*/*', 'json'],
])

/** The format that the Accept header prefers to JSON. */
export const acceptedFormat = (accept: string | undefined): AnswerFormat | undefined => {
  if (accept === undefined || accept.length > MAX_ACCEPT_LENGTH) return undefined
  const wanted = accept
    .split(',')
    .map(part => {
      const [type = '', ...parameters] = part.split(';').map(text => text.trim().toLowerCase())
      const quality = parameters.find(text => text.startsWith('q='))
      const isRaw = type === 'text/csv' && parameters.includes('formulas=raw')
      const format = isRaw ? 'raw-csv' : ACCEPTED.get(type)
      const integers = parameters.includes('integers=decimal') ? 'decimal' : 'text'
      const hasColumns = format === 'parquet' || parameters.includes('args=columns')
      return {
        format: format !== undefined && hasColumns ? withColumns(format, integers) : format,
        quality: quality === undefined ? 1 : Number(quality.slice(2)) || 0,
      }
    })
    .toSorted((a, b) => b.quality - a.quality)
  const found = wanted.find(({ format }) => format !== undefined)?.format
  return found === 'json' ? undefined : (found as AnswerFormat | undefined)
}

/** JSON has no columns. */
const withColumns = (format: RowFormat | 'json', integers: WideIntegers): AnswerFormat | 'json' =>
  format === 'json' ? 'json' : `${format}+${integers}`

const MAX_ACCEPT_LENGTH = 1_000

/**
 * Turns an app into a listener for Node's requests. Loaded lazily: Node's `fetch` takes a tenth of
 * the startup time, and the first answers do not need it.
 */
export const nodeListener = lazy(
  async (): Promise<typeof getRequestListener> => (await import('@hono/node-server')).getRequestListener,
)
