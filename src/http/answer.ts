import type { Log } from '../lib/log.ts'
import type { Answer, Format } from '../search/service.ts'
import type { Exchange } from './context.ts'
import { JSON_TYPE, PRODUCT } from './json.ts'

const CSV = 'text/csv; charset=UTF-8; header=present'
const TYPES: Record<Format, Record<string, string>> = {
  ndjson: { 'content-type': 'application/x-ndjson; charset=UTF-8' },
  csv: { 'content-type': CSV },
  'raw-csv': { 'content-type': `${CSV}; formulas=raw` },
}

/** Sends what a service answered, whole or chunk by chunk as the client takes it. */
export const sendAnswer = (c: Exchange, log: Log, { status, body, format }: Answer): Response =>
  new Response(body instanceof ReadableStream ? breakable(c, log, body) : (body as Uint8Array<ArrayBuffer>), {
    status,
    headers: status < 300 ? { ...PRODUCT, ...(format && TYPES[format]) } : JSON_TYPE,
  })

/**
 * An answer that fails half-way breaks its connection: that is the only way left to tell the client that what it got is not
 * all.
 */
const breakable = (c: Exchange, log: Log, stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> => {
  const reader = stream.getReader()
  let left = false
  let failed = false
  const fail = (error: unknown) => {
    // A search that stops because its client went away is not an error.
    if (left || failed) return
    failed = true
    log.error('Failed in the middle of an answer', { path: c.req.path, error })
    c.env?.outgoing?.destroy()
  }
  // Also one that fails while its client does not read, so that nobody pulls.
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
