/** A byte buffer that grows as it is written to. */
export interface ByteWriter {
  /** Bytes written so far. */
  readonly length: number
  byte(value: number): void
  /** Unsigned LEB128, for integers up to 2^53. */
  varint(value: number): void
  bytes(source: Uint8Array, start?: number, end?: number): void
  /** Hex digits without prefix, an even number of them. */
  hex(digits: string): void
  /** Text as UTF-8. */
  text(text: string): void
  /** Makes room for so many further bytes and returns the buffer to write them to at `length`; follow with `advance`. */
  reserve(more: number): Buffer
  advance(written: number): void
  /** The bytes from `start` on, as a view that is valid until the next write. */
  view(start?: number, end?: number): Buffer
  /** The bytes written, as a copy of just their size. */
  take(): Uint8Array<ArrayBuffer>
  truncate(length: number): void
}

export const createByteWriter = (capacity = 1024): ByteWriter => {
  let buffer = Buffer.allocUnsafeSlow(capacity)
  let length = 0
  const reserve = (more: number): Buffer => {
    if (length + more > buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(buffer.length * 2, length + more))
      buffer.copy(larger, 0, 0, length)
      buffer = larger
    }
    return buffer
  }
  return {
    get length() {
      return length
    },
    byte(value) {
      reserve(1)[length++] = value
    },
    varint(value) {
      const target = reserve(8)
      while (value >= 0x80) {
        target[length++] = (value & 0x7f) | 0x80
        value = value < 0x80000000 ? value >>> 7 : Math.floor(value / 128)
      }
      target[length++] = value
    },
    bytes(source, start = 0, end = source.length) {
      const target = reserve(end - start)
      // A view costs more than to copy a word.
      if (end - start <= FEW) for (let at = start; at < end; at++) target[length++] = source[at]!
      else {
        target.set(start === 0 && end === source.length ? source : source.subarray(start, end), length)
        length += end - start
      }
    },
    hex(digits) {
      length += reserve(digits.length >> 1).write(digits, length, 'hex')
    },
    text(text) {
      length += reserve(text.length * 3).write(text, length, 'utf8')
    },
    reserve,
    advance(written) {
      length += written
    },
    view: (start = 0, end = length) => buffer.subarray(start, end),
    take() {
      const copy = new Uint8Array(length)
      copy.set(buffer.subarray(0, length))
      return copy
    },
    truncate(to) {
      length = to
    },
  }
}

const FEW = 32

/** The bytes of an array of numbers, in place. */
export const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength)
