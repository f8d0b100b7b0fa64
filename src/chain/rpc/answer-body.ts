import { isAscii } from 'node:buffer'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { retry } from '../../lib/errors.ts'
import { createCondition } from '../../lib/scheduling/queues.ts'

export interface BodyOptions {
  packed: boolean
  /** Maximum unpacked bytes. */
  most: number
  hold: Hold
  signal: AbortSignal
}

export const TOO_LARGE = 'ERR_ANSWER_TOO_LARGE'

/** Reads an HTTP body, unpacked in pieces, each charged to the memory budget. */
export const readHttpBody = async (body: Readable, { packed, most, hold, signal }: BodyOptions): Promise<Buffer> => {
  const source = packed ? body.pipe(createGunzip()) : body
  // The read below reports the error; without a listener it would end the process.
  body.on('error', error => source.destroy(error))
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > most) throw tooLarge(most)
      chunks.push(chunk)
      await hold.take(chunk.length, signal)
    }
  } finally {
    source.destroy()
    body.destroy()
  }
  return joinBytes(chunks, size)
}

export const tooLarge = (most: number) =>
  Object.assign(new Error(`the answer has more than ${most} bytes`), { code: TOO_LARGE })

/** Copies into its own memory, which can be transferred to another thread. */
export const joinBytes = (chunks: readonly Buffer[], size: number): Buffer => {
  const bytes = Buffer.allocUnsafeSlow(size)
  let at = 0
  for (const chunk of chunks) at += chunk.copy(bytes, at)
  return bytes
}

export const textOfBody = (bytes: Buffer): string => {
  if (isBloated(bytes)) throw retry('node_bad_answer', BLOATED)
  return decodeText(bytes)
}

/** Like `textOfBody`, but frees the bytes at once: V8 does not count them as heap. */
export const takeText = (bytes: Buffer): string => {
  const text = textOfBody(bytes)
  if (bytes.buffer instanceof ArrayBuffer && bytes.length === bytes.buffer.byteLength) bytes.buffer.transfer(0)
  return text
}

/** JSON-RPC is ASCII throughout, which copies far faster than UTF-8 decodes. */
export const decodeText = (bytes: Buffer): string => (isAscii(bytes) ? bytes.toString('latin1') : bytes.toString())

/** Whether parsed JSON takes far more memory than its text: 1,000 bytes of `[],` become 15,000. */
export const isBloated = (bytes: Uint8Array): boolean => {
  if (bytes.length < BLOAT_BYTES) return false
  const most = bytes.length / LEAST_BYTES_PER_VALUE
  let values = 0
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!
    if (byte === 91 || byte === 123 || byte === 58) values++
  }
  return values > most
}

export const BLOATED = 'it has more arrays, objects and members than any block of that size'

const BLOAT_BYTES = 4 << 20
const LEAST_BYTES_PER_VALUE = 8

export interface Hold {
  take(bytes: number, signal: AbortSignal): Promise<void>
  close(): void
}

export type Memory = ReturnType<typeof createMemory>

/** Memory budget of answers. The oldest never waits, which prevents deadlock; others do. */
export const createMemory = (most: number) => {
  let held = 0
  const holds = new Set<Hold>()
  const released = createCondition()
  const mayGoOn = (hold: Hold) => held <= most || holds.values().next().value === hold

  return {
    get held(): number {
      return held
    },
    open(): Hold {
      let own = 0
      const hold: Hold = {
        async take(bytes, signal) {
          own += bytes
          held += bytes
          while (!mayGoOn(hold)) {
            signal.throwIfAborted()
            await released.changed(signal)
          }
        },
        close() {
          held -= own
          own = 0
          holds.delete(hold)
          released.notify()
        },
      }
      holds.add(hold)
      return hold
    },
  }
}
