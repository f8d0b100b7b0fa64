export interface Hash62 {
  /** 30 bits. */
  high: number
  /** 32 bits. */
  low: number
}

/** Range of `hashSlot`. */
export const HASH_SLOTS = 2 ** 16

/**
 * 16 bits from a few characters of a text, for slot caches: hashing a whole topic, as a Map does,
 * takes longer than the rest of a look-up. Numeric topics differ at their end, addresses and
 * hashes everywhere. A collision costs only time.
 */
export const hashSlot = (text: string): number => {
  const end = text.length
  const last =
    text.charCodeAt(end - 1) +
    (text.charCodeAt(end - 2) << 8) +
    (text.charCodeAt(end - 3) << 16) +
    (text.charCodeAt(end - 4) << 24)
  const others =
    text.charCodeAt(end - 5) +
    (text.charCodeAt(end - 20) << 8) +
    (text.charCodeAt(end - 30) << 16) +
    (text.charCodeAt(2) << 24)
  return (Math.imul(last, 0x9e3779b1) ^ Math.imul(others, 0x85ebca6b)) >>> 16
}

/**
 * Fast keyed hash of text for index keys: two multiply-and-rotate lanes over the UTF-16 units. The
 * secret key prevents deliberate collisions; it is not cryptographic.
 * The next call reuses the returned object.
 */
export const createHash = (key: readonly [number, number]): ((text: string) => Hash62) => {
  const result: Hash62 = { high: 0, low: 0 }
  return text => {
    let a = key[0] ^ 0x9e3779b9
    let b = key[1] ^ 0x85ebca6b
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      a = Math.imul(a ^ unit, 0xcc9e2d51)
      a = (a << 15) | (a >>> 17)
      b = Math.imul(b ^ unit, 0x1b873593)
      b = ((b << 13) | (b >>> 19)) + a
    }
    a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35)
    b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35)
    result.high = (a ^ (a >>> 15)) & 0x3fffffff
    result.low = (b ^ (b >>> 16)) >>> 0
    return result
  }
}

export const murmur3 = (bytes: Uint8Array, seed: number): number => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let hash = seed
  const whole = bytes.length & ~3
  for (let i = 0; i < whole; i += 4) {
    hash ^= scrambled(view.getUint32(i, true))
    hash = Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64
  }
  let rest = 0
  for (let i = bytes.length - 1; i >= whole; i--) rest = (rest << 8) | bytes[i]!
  if (bytes.length > whole) hash ^= scrambled(rest)
  hash ^= bytes.length
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) | 0
}

const scrambled = (word: number): number => {
  const mixed = Math.imul(word, 0xcc9e2d51)
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593)
}

/** CRC-32C (Castagnoli), the checksum of Snappy's frames. */
export const crc32c = (bytes: Uint8Array): number => {
  let crc = -1
  for (let i = 0; i < bytes.length; i++) crc = CRC_TABLE[(crc ^ bytes[i]!) & 255]! ^ (crc >>> 8)
  return ~crc >>> 0
}

const CRC_TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1
  return crc
})
