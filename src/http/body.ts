import type { IncomingMessage } from 'node:http'
import type { Transform } from 'node:stream'
// Default import, as in src/chain/files/pack.ts: older Node versions have no zstd export.
import zlib from 'node:zlib'
import type { MiddlewareHandler } from 'hono'
import { ChainsieveError, messageOf, refuse } from '../lib/errors.ts'
import { LIMITS, type LimitName, type Limits, overLimit, overNow } from '../limits/index.ts'
import { type Env, type HeldBytes, header, type RequestContext } from './context.ts'

/** Accounts for memory of request bodies, in total and per account. */
export interface Bodies {
  /** For a request of an account; closing it releases its bytes. */
  open(account: number): HeldBytes & { close(): void }
}

/** Limits the memory of request bodies, against running out of memory (OOM). */
export const createBodies = (limits: Limits): Bodies => {
  let all = 0
  const byAccount = new Map<number, number>()

  const open = (id: number) => {
    let held = 0
    const check = (bytes: number) => {
      if ((byAccount.get(id) ?? 0) + bytes > limits.queuedBodiesByAccount)
        throw overNow('queuedBodiesByAccount', limits)
      if (all + bytes > limits.queuedBodies) throw overNow('queuedBodies', limits)
    }
    const move = (bytes: number) => {
      held += bytes
      all += bytes
      const own = (byAccount.get(id) ?? 0) + bytes
      if (own === 0) byAccount.delete(id)
      else byAccount.set(id, own)
    }
    return {
      check,
      add(bytes: number) {
        check(bytes)
        move(bytes)
      },
      close() {
        if (held > 0) move(-held)
      },
    }
  }
  return { open }
}

/** Releases the bytes of a request when it is answered. */
export const limitBodies =
  (bodies: Bodies): MiddlewareHandler<Env> =>
  async (c, next) => {
    const held = bodies.open(c.get('account').id)
    c.set('held', held)
    try {
      await next()
    } finally {
      held.close()
    }
  }

/**
 * Reads a request's body; undefined if it has none. Includes bodies of GET, which Elasticsearch's
 * clients send but standard Requests lack. Larger ones than the limit are refused, not buffered.
 */
export const readRequestBody = async (c: RequestContext, limits: Limits): Promise<Uint8Array | undefined> => {
  const stated = Number(header(c, 'content-length') ?? 0)
  if (stated > limits.body) throw overLimit('body', limits)
  c.get('held').check(stated)
  const incoming = c.env?.incoming
  const chunks = collectChunks(c, limits)
  if (incoming) await readIncoming(c, incoming, chunks.add)
  else for await (const chunk of c.req.raw.body ?? []) chunks.add(chunk)
  const body = chunks.all()
  return body.length === 0 ? undefined : decompress(c, body, header(c, 'content-encoding'), limits)
}

/** Reads a body with a limit of its own, below the general one. */
export const readWithin = async <T>(
  c: RequestContext,
  name: LimitName,
  limits: Limits,
  read: (limits: Limits) => Promise<T>,
  most = limits[name],
): Promise<T> => {
  try {
    return await read({ ...limits, body: Math.min(limits.body, most) })
  } catch (error) {
    if (!(error instanceof ChainsieveError && error.code === LIMITS.body.code)) throw error
    if (Number(header(c, 'content-length') ?? Number.NaN) <= limits.body) await discardBody(c.env?.incoming)
    throw overLimit(name, limits)
  }
}

/** Discards the rest of a body: many clients read the answer only after sending all of it. */
const discardBody = async (incoming: IncomingMessage | undefined): Promise<void> => {
  if (!incoming || incoming.headers.expect) return
  try {
    for await (const _ of incoming);
  } catch {
    // The client has disconnected.
  }
}

/** Collects bytes; refuses excess before buffering it. */
const collectChunks = (c: RequestContext, limits: Limits) => {
  const held = c.get('held')
  const chunks: Uint8Array[] = []
  let length = 0
  return {
    add(chunk: Uint8Array) {
      length += chunk.length
      if (length > limits.body) throw overLimit('body', limits)
      held.add(chunk.length)
      chunks.push(chunk)
    },
    all: (): Uint8Array => joinChunks(chunks, length),
  }
}

/** Largest body that is cheap to copy to other threads, in bytes. */
const COPIED_BODY = 65_536

/**
 * Copies chunks to their own buffer: posting a slice would copy its whole buffer to the thread.
 * Large bodies use shared memory, which is not copied.
 */
const joinChunks = (chunks: readonly Uint8Array[], length: number): Uint8Array => {
  const whole = new Uint8Array(length > COPIED_BODY ? new SharedArrayBuffer(length) : new ArrayBuffer(length))
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}

const readIncoming = (
  c: RequestContext,
  incoming: IncomingMessage,
  add: (chunk: Uint8Array) => void,
): Promise<void> => {
  // A client sends a large body only after this; one refused by its headers is never sent.
  if (incoming.headers.expect) c.env?.outgoing?.writeContinue()
  return new Promise((resolve, reject) => {
    const settle = (settled: () => void) => {
      incoming.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose)
      settled()
    }
    const onData = (chunk: Buffer) => {
      try {
        add(chunk)
      } catch (error) {
        settle(() => reject(error))
      }
    }
    const onEnd = () => settle(resolve)
    const onClose = () =>
      settle(() => reject(refuse('cut_off_body', 'The connection ended in the middle of the body.')))
    incoming.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose)
  })
}

/** Decoders by content encoding, a Map since names come from requests. */
const DECOMPRESS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', () => zlib.createGunzip()],
  ['x-gzip', () => zlib.createGunzip()],
  ['deflate', () => zlib.createInflate()],
  ['br', () => zlib.createBrotliDecompress()],
  ['zstd', () => zlib.createZstdDecompress()],
])

const decompress = async (
  c: RequestContext,
  body: Uint8Array,
  encoding = 'identity',
  limits: Limits,
): Promise<Uint8Array> => {
  const name = encoding.trim().toLowerCase()
  if (name === 'identity' || name === '') return body
  const create = DECOMPRESS.get(name)
  if (!create)
    throw refuse(
      'unsupported_media_type_exception',
      `A body in the encoding ${JSON.stringify(encoding)} cannot be read: send one of ${[...DECOMPRESS.keys()].join(', ')}, or none.`,
    )
  const chunks = collectChunks(c, limits)
  const stream = create()
  stream.end(body)
  try {
    for await (const chunk of stream) chunks.add(chunk as Buffer)
  } catch (error) {
    if (error instanceof ChainsieveError) throw error
    throw refuse(
      'parsing_exception',
      `The body is not ${name}, as its Content-Encoding says: ${messageOf(error)}`,
      error,
    )
  }
  return chunks.all()
}
