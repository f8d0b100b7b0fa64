import { createHash, randomBytes } from 'node:crypto'
import { addAbortListener, once } from 'node:events'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { parseRetryAfter } from '../../lib/retry.ts'
import { type Hold, joinBytes, tooLarge } from './answer-body.ts'
import { statusError } from './answers.ts'

export interface Reading {
  most: number
  hold: Pick<Hold, 'take'>
  signal: AbortSignal
}

export interface Connection {
  send(message: string): void
  /** The next message; one at a time. Where it fails, the connection is of no use any more. */
  next(reading: Reading): Promise<Buffer>
  close(): void
}

export const CLOSED = 'ERR_CONNECTION_CLOSED'

export const openConnection = (url: URL, signal: AbortSignal): Promise<Connection> =>
  url.protocol === 'ipc:' ? openIpc(url, signal) : openWebSocket(url, signal)

const openIpc = async (url: URL, signal: AbortSignal): Promise<Connection> => {
  signal.throwIfAborted()
  const socket = connect({ path: decodeURIComponent(url.pathname) })
  using _ = addAbortListener(signal, () => socket.destroy(signal.reason))
  await once(socket, 'connect')
  const reader = createReader(socket)
  return {
    send: message => void socket.write(message),
    next: reading => reader.whole(reading, () => readJsonText(reader, reading)),
    close: () => socket.destroy(),
  }
}

/** Brackets show where a text ends: some nodes put a line feed behind it, others nothing. */
const readJsonText = async (reader: Reader, { most, hold, signal }: Reading): Promise<Buffer> => {
  const parts: Buffer[] = []
  let size = 0
  let depth = 0
  let isText = false
  let isEscaped = false
  for (;;) {
    const bytes = await reader.some(Number.MAX_SAFE_INTEGER)
    let start = 0
    let end = -1
    for (let i = 0; i < bytes.length && end < 0; i++) {
      const byte = bytes[i]!
      if (isEscaped) isEscaped = false
      else if (isText) {
        if (byte === 0x5c) isEscaped = true
        else if (byte === 0x22) isText = false
      } else if (byte === 0x5b || byte === 0x7b) depth++
      else if (depth === 0) {
        if (byte > 0x20) throw new Error('it sends what is not JSON')
        start = i + 1
      } else if (byte === 0x22) isText = true
      else if (byte === 0x5d || byte === 0x7d) {
        if (--depth === 0) end = i + 1
      }
    }
    const part = bytes.subarray(start, end < 0 ? bytes.length : end)
    size += part.length
    if (size > most) throw tooLarge(most)
    parts.push(part)
    await hold.take(part.length, signal)
    if (end < 0) continue
    reader.back(bytes.subarray(end))
    return joinBytes(parts, size)
  }
}

const openWebSocket = async (url: URL, signal: AbortSignal): Promise<Connection> => {
  const address = new URL(url)
  address.protocol = url.protocol === 'wss:' ? 'https:' : 'http:'
  const key = randomBytes(16).toString('base64')
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': key,
  }
  const request = (url.protocol === 'wss:' ? requestHttps : requestHttp)(address, { headers, signal, agent: false })
  const { socket, head } = await new Promise<{ socket: Duplex; head: Buffer }>((resolve, reject) => {
    request.on('error', error => reject(signal.aborted ? signal.reason : error))
    request.on('response', response => {
      request.destroy()
      const retryAfterMs = parseRetryAfter(response.headers['retry-after'], Date.now())
      reject(statusError(response.statusCode ?? 0, 'no WebSocket is there', retryAfterMs))
    })
    request.on('upgrade', (response, socket, head) => {
      if (response.headers['sec-websocket-accept'] === acceptOf(key)) return resolve({ socket, head })
      socket.destroy()
      reject(new Error('what answers is no WebSocket'))
    })
    request.end()
  })
  const reader = createReader(socket, head)
  const send = (opcode: number, payload: Buffer) => void socket.write(maskedFrame(opcode, payload))
  return {
    send: message => send(TEXT, Buffer.from(message)),
    next: reading =>
      reader.whole(reading, () =>
        readFrames(reader, reading, payload => {
          // Whoever sends pings, and does not read, gets no more of them.
          if (socket.writableLength < MAX_UNSENT_BYTES) send(PONG, payload)
        }),
      ),
    close() {
      if (!socket.destroyed)
        send(CLOSE, Buffer.from([0x03, 0xe8]))
        // Without waiting for the goodbye of the other side, which may be gone.
      ;(socket as Duplex & { destroySoon(): void }).destroySoon()
    },
  }
}

const acceptOf = (key: string): string =>
  createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')

const readFrames = async (
  reader: Reader,
  { most, hold, signal }: Reading,
  pong: (payload: Buffer) => void,
): Promise<Buffer> => {
  const parts: Buffer[] = []
  let size = 0
  for (let hasBegun = false; ; ) {
    const [first, second] = (await reader.exactly(2)) as unknown as [number, number]
    const opcode = first & 15
    const isLast = (first & 0x80) !== 0
    // No extension was asked for, and servers do not mask.
    if ((first & 0x70) !== 0 || (second & 0x80) !== 0) throw new Error(BAD_FRAME)
    let length = second & 0x7f
    if (length === 126) length = (await reader.exactly(2)).readUInt16BE()
    else if (length === 127) length = Number((await reader.exactly(8)).readBigUInt64BE())
    if (opcode >= CLOSE) {
      if (length > 125 || !isLast) throw new Error(BAD_FRAME)
      const payload = await reader.exactly(length)
      if (opcode === CLOSE) {
        const code = length >= 2 ? ` (${payload.readUInt16BE()}${length > 2 ? `: ${payload.subarray(2)}` : ''})` : ''
        throw closed(code)
      }
      if (opcode === PING) pong(payload)
      continue
    }
    if (opcode > BINARY || (opcode === CONTINUATION) !== hasBegun) throw new Error(BAD_FRAME)
    hasBegun = true
    size += length
    if (size > most) throw tooLarge(most)
    for (let left = length; left > 0; ) {
      const part = await reader.some(left)
      left -= part.length
      parts.push(part)
      await hold.take(part.length, signal)
    }
    if (isLast) return joinBytes(parts, size)
  }
}

const maskedFrame = (opcode: number, payload: Buffer): Buffer => {
  const { length } = payload
  const size = length < 126 ? 0 : length < 0x10000 ? 2 : 8
  const frame = Buffer.alloc(6 + size + length)
  frame[0] = 0x80 | opcode
  frame[1] = 0x80 | (size === 0 ? length : size === 2 ? 126 : 127)
  if (size === 2) frame.writeUInt16BE(length, 2)
  if (size === 8) frame.writeBigUInt64BE(BigInt(length), 2)
  const mask = randomBytes(4)
  mask.copy(frame, 2 + size)
  for (let i = 0; i < length; i++) frame[6 + size + i] = payload[i]! ^ mask[i & 3]!
  return frame
}

type Reader = ReturnType<typeof createReader>

/** Reads nothing that was not asked for, so that the other side has to wait. */
const createReader = (socket: Duplex, head: Buffer = Buffer.alloc(0)) => {
  const chunks = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let rest = head
  // The next read throws it; without a listener it would end the process.
  socket.on('error', () => {})

  const some = async (most: number): Promise<Buffer> => {
    while (rest.length === 0) {
      const { value, done } = await chunks.next()
      if (done) throw closed()
      rest = value
    }
    const part = rest.subarray(0, most)
    rest = rest.subarray(part.length)
    return part
  }
  return {
    some,
    async exactly(count: number): Promise<Buffer> {
      if (count === 0) return Buffer.alloc(0)
      let bytes = await some(count)
      while (bytes.length < count) bytes = Buffer.concat([bytes, await some(count - bytes.length)])
      return bytes
    },
    back(bytes: Buffer) {
      rest = bytes
    },
    async whole({ signal }: Reading, read: () => Promise<Buffer>): Promise<Buffer> {
      signal.throwIfAborted()
      using _ = addAbortListener(signal, () => socket.destroy(signal.reason))
      try {
        return await read()
      } catch (error) {
        socket.destroy()
        throw signal.aborted ? signal.reason : error
      }
    },
  }
}

const closed = (why = '') => Object.assign(new Error(`the connection was closed${why}`), { code: CLOSED })

const BAD_FRAME = 'it sends what is no frame of a WebSocket'
const [CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG] = [0, 1, 2, 8, 9, 10] as const
/** Bytes that may wait to be sent before pings are left unanswered. */
const MAX_UNSENT_BYTES = 1 << 16
