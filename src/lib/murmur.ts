/** MurmurHash3 of 32 bits, as a signed number. */
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
