import { createConnection, type Socket } from 'node:net'

/** HTTP as thin as it gets, so that what is measured is the server and not its client. */
export type Connection = ReturnType<typeof connect>

export interface Reply {
  status: number
  body: Buffer
}

interface RequestParts {
  method: 'GET' | 'POST'
  path: string
  headers?: Record<string, string>
  body?: string
}

export const requestBytes = (url: string, { method, path, headers = {}, body }: RequestParts): Buffer => {
  const all = {
    host: new URL(url).host,
    ...headers,
    ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`)
}

export const connect = (url: string) => {
  const { hostname, port } = new URL(url)
  let socket: Socket | undefined
  let waiting: PromiseWithResolvers<Reply> | undefined
  let reply = createReplyReader()
  const settle = (act: (one: PromiseWithResolvers<Reply>) => void) => {
    const one = waiting
    waiting = undefined
    reply = createReplyReader()
    if (one) act(one)
  }
  const open = (): Socket =>
    createConnection({ host: hostname, port: Number(port || 80), noDelay: true })
      .on('data', chunk => {
        try {
          const whole = reply.add(chunk)
          if (whole) settle(({ resolve }) => resolve(whole))
        } catch (error) {
          settle(({ reject }) => reject(error))
        }
      })
      .on('error', error => settle(({ reject }) => reject(error)))
      .on('close', () => settle(({ reject }) => reject(new Error(`${url} hung up`))))
  return {
    /** The whole answer. One request at a time; connects again where the server has hung up. */
    ask(request: Buffer) {
      if (waiting) throw new Error('a connection answers one request at a time')
      waiting = Promise.withResolvers()
      if (socket === undefined || socket.destroyed || socket.readyState === 'readOnly') socket = open()
      socket.write(request)
      return waiting.promise
    },
    close: () => void socket?.destroy(),
  }
}

/** Puts an answer together from the pieces in which it comes. */
export const createReplyReader = () => {
  let bytes: Buffer[] = []
  let length = 0
  let head: Head | undefined
  const joined = (): Buffer => {
    if (bytes.length > 1) bytes = [Buffer.concat(bytes)]
    return bytes[0]!
  }
  return {
    add(chunk: Buffer): Reply | undefined {
      bytes.push(chunk)
      length += chunk.length
      head ??= headOf(joined())
      if (!head) return undefined
      const { status, start, end } = head
      if (end !== undefined) return length < end ? undefined : { status, body: joined().subarray(start, end) }
      if (!joined().subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)) return undefined
      const body = unchunked(joined().subarray(start))
      return body && { status, body }
    },
  }
}

interface Head {
  status: number
  start: number
  /** Undefined where it comes in chunks. */
  end: number | undefined
}

const headOf = (bytes: Buffer): Head | undefined => {
  const size = bytes.indexOf('\r\n\r\n')
  if (size < 0) return undefined
  const text = bytes.toString('latin1', 0, size)
  const start = size + 4
  const length = /^content-length: *(\d+)/im.exec(text)?.[1]
  const isChunked = /^transfer-encoding: *chunked/im.test(text)
  if (length === undefined && !isChunked) throw new Error(`an answer does not tell its length: ${text}`)
  return { status: Number(text.slice(9, 12)), start, end: isChunked ? undefined : start + Number(length) }
}

const LAST_CHUNK = Buffer.from('0\r\n\r\n')

/** Undefined where what looked like the last chunk was part of another. */
const unchunked = (bytes: Buffer): Buffer | undefined => {
  const parts: Buffer[] = []
  for (let at = 0; ; ) {
    const line = bytes.indexOf('\r\n', at)
    if (line < 0) return undefined
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16)
    if (size === 0) return Buffer.concat(parts)
    at = line + 2
    if (at + size > bytes.length) return undefined
    parts.push(bytes.subarray(at, at + size))
    at += size + 2
  }
}
