import { snappyUncompress } from 'hyparquet'
import { crc32c } from '../../../lib/hash.ts'

/** Unpacks framed Snappy; throws a `RangeError` if damaged or larger than `most` bytes. */
export const unpackFrames = (bytes: Uint8Array, most: number): Buffer => {
  const parts: Uint8Array[] = []
  let size = 0
  for (let at = 0; at < bytes.length; ) {
    if (at + 4 > bytes.length) throw new RangeError('a Snappy frame is cut off')
    const type = bytes[at]!
    const end = at + 4 + bytes[at + 1]! + bytes[at + 2]! * 256 + bytes[at + 3]! * 65_536
    if (end > bytes.length) throw new RangeError('a Snappy frame is cut off')
    const part = partOf(type, bytes.subarray(at + 4, end))
    if (part) {
      size += part.length
      if (size > most) throw new RangeError(`it has more than ${most} bytes`)
      parts.push(part)
    }
    at = end
  }
  return Buffer.concat(parts, size)
}

const STREAM = 0xff
const COMPRESSED = 0
const UNCOMPRESSED = 1
const SKIPPABLE = 0x80
const MOST_OF_FRAME = 65_536

const partOf = (type: number, frame: Uint8Array): Uint8Array | undefined => {
  if (type === STREAM) {
    if (Buffer.from(frame).toString('latin1') !== 'sNaPpY') throw new RangeError('this is not a Snappy stream')
    return undefined
  }
  if (type >= SKIPPABLE) return undefined
  if (type > UNCOMPRESSED) throw new RangeError(`a Snappy frame is of the unknown type ${type}`)
  if (frame.length < 4) throw new RangeError('a Snappy frame is cut off')
  const stated = Buffer.from(frame.buffer, frame.byteOffset, 4).readUInt32LE()
  const packed = frame.subarray(4)
  const part = type === COMPRESSED ? unpackFrame(packed) : packed
  if (part.length > MOST_OF_FRAME) throw new RangeError('a Snappy frame is too long')
  if (masked(crc32c(part)) !== stated) throw new RangeError('a Snappy frame does not match its checksum')
  return part
}

const unpackFrame = (packed: Uint8Array): Uint8Array => {
  const length = lengthOf(packed)
  if (length > MOST_OF_FRAME) throw new RangeError('a Snappy frame is too long')
  const part = new Uint8Array(length)
  try {
    snappyUncompress(packed, part)
  } catch (error) {
    throw new RangeError(`a Snappy frame is damaged: ${(error as Error).message}`, { cause: error })
  }
  return part
}

const lengthOf = (packed: Uint8Array): number => {
  let length = 0
  for (let i = 0; i < 3; i++) {
    const byte = packed[i] ?? 0
    length += (byte & 127) * 128 ** i
    if (byte < 128) return length
  }
  return Number.POSITIVE_INFINITY
}

const masked = (crc: number): number => (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0
