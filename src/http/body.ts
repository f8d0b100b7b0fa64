import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
// As a whole, as in src/store/pack.ts: an older Node has no zstd.
import zlib from 'node:zlib'
import { messageOf, refuse } from '../lib/errors.ts'
import { type Limits, overLimit } from '../limits/index.ts'
import { type Context, header } from './context.ts'

/**
 * The body of a request, undefined where it has none. Also that of a GET, which standard Request objects do not have but
 * Elasticsearch's clients send. More than the limit is refused and never held.
 */
export const readBody = async (c: Context, limits: Limits): Promise<Uint8Array | undefined> => {
  if (Number(header(c, 'content-length') ?? 0) > limits.body) throw overLimit('body', limits)
  const incoming = c.env?.incoming
  const body = incoming ? await readIncoming(c, incoming, limits) : await readRequest(c.req.raw, limits)
  return body.length === 0 ? undefined : decompress(body, header(c, 'content-encoding'), limits)
}

const readIncoming = (c: Context, incoming: IncomingMessage, limits: Limits): Promise<Uint8Array> => {
  // The client waits for this before it sends a large body; one that is refused by its headers is never sent.
  if (incoming.headers.expect) c.env?.outgoing?.writeContinue()
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const settle = (settled: () => void) => {
      incoming.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose)
      settled()
    }
    const onData = (chunk: Buffer) => {
      length += chunk.length
      if (length > limits.body) settle(() => reject(overLimit('body', limits)))
      else chunks.push(chunk)
    }
    const onEnd = () => settle(() => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
    const onClose = () =>
      settle(() => reject(refuse('cut_off_body', 'The connection ended in the middle of the body.')))
    incoming.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose)
  })
}

const readRequest = async (request: Request, limits: Limits): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request.body ?? []) {
    length += chunk.length
    if (length > limits.body) throw overLimit('body', limits)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const DECOMPRESS = {
  gzip: promisify(zlib.gunzip),
  'x-gzip': promisify(zlib.gunzip),
  deflate: promisify(zlib.inflate),
  br: promisify(zlib.brotliDecompress),
  zstd: promisify(zlib.zstdDecompress),
}

const decompress = async (body: Uint8Array, encoding = 'identity', limits: Limits): Promise<Uint8Array> => {
  const name = encoding.trim().toLowerCase()
  if (name === 'identity' || name === '') return body
  if (!(name in DECOMPRESS))
    throw refuse(
      'unsupported_media_type_exception',
      `A body in the encoding ${JSON.stringify(encoding)} cannot be read: send one of ${Object.keys(DECOMPRESS).join(', ')}, or none.`,
    )
  try {
    return await DECOMPRESS[name as keyof typeof DECOMPRESS](body, { maxOutputLength: limits.body })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw overLimit('body', limits)
    throw refuse(
      'parsing_exception',
      `The body is not ${name}, as its Content-Encoding says: ${messageOf(error)}`,
      error,
    )
  }
}
