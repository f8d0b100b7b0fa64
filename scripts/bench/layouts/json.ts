/** Writes JSON as bytes into one growing buffer: what is stored becomes text without a string or an object between. */
export interface Json {
  /** Bytes written so far. */
  readonly length: number
  /** The buffer and the place to write to, after making room for so many bytes; follow with `advance`. */
  room(more: number): Buffer
  advance(to: number): void
  piece(bytes: Uint8Array): void
  /** Short ASCII text. */
  ascii(text: string): void
  hex(bytes: Uint8Array, start: number, end: number): void
  /** Lower-case hex of an integer's bytes without leading zeros, at least one digit. */
  minimalHex(bytes: Uint8Array, start: number, end: number): void
  zeros(count: number): void
  view(): Buffer
  clear(): void
}

const HIGH = new Uint8Array(256)
const LOW = new Uint8Array(256)
const DIGITS = Buffer.from('0123456789abcdef')
for (let byte = 0; byte < 256; byte++) {
  HIGH[byte] = DIGITS[byte >> 4]!
  LOW[byte] = DIGITS[byte & 15]!
}
const ZERO = 48
/** From so many bytes on the runtime's own routine is faster than the table. */
const LONG = 128

export const createJson = (capacity = 1 << 20): Json => {
  let buffer = Buffer.allocUnsafeSlow(capacity)
  let at = 0
  const room = (more: number): Buffer => {
    if (at + more > buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(buffer.length * 2, at + more))
      buffer.copy(larger, 0, 0, at)
      buffer = larger
    }
    return buffer
  }
  const hex = (bytes: Uint8Array, start: number, end: number) => {
    const target = room((end - start) * 2)
    if (end - start >= LONG) {
      at += target.write(Buffer.prototype.hexSlice.call(bytes, start, end), at, 'latin1')
      return
    }
    for (let i = start; i < end; i++) {
      const byte = bytes[i]!
      target[at] = HIGH[byte]!
      target[at + 1] = LOW[byte]!
      at += 2
    }
  }
  return {
    get length() {
      return at
    },
    room,
    advance(to) {
      at = to
    },
    piece(bytes) {
      const target = room(bytes.length)
      if (bytes.length < 48) for (let i = 0; i < bytes.length; i++) target[at + i] = bytes[i]!
      else target.set(bytes, at)
      at += bytes.length
    },
    ascii(text) {
      const target = room(text.length)
      for (let i = 0; i < text.length; i++) target[at++] = text.charCodeAt(i)
    },
    hex,
    minimalHex(bytes, start, end) {
      let from = start
      while (from < end && bytes[from] === 0) from++
      if (from === end) {
        room(1)[at++] = ZERO
        return
      }
      const first = bytes[from]!
      if (first < 16) {
        room(1)[at++] = LOW[first]!
        from++
      }
      hex(bytes, from, end)
    },
    zeros(count) {
      room(count).fill(ZERO, at, at + count)
      at += count
    },
    view: () => buffer.subarray(0, at),
    clear() {
      at = 0
    },
  }
}

export const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))
