import type { Hex } from '../../src/chain/wire.ts'

/**
 * A small pseudo-random generator (sfc32) that can be set to any point of a four-dimensional grid. Every block, transaction and address of the
 * made-up chain has its own point, so each can be made without those before it. Nothing here is fit for secrets.
 */
export interface Random {
  seek(a: number, b: number, c: number, d: number): void
  next(): number
  /** In [0, 1). */
  unit(): number
  /** An integer in [0, limit). */
  below(limit: number): number
  /** An integer in [0, limit) of which the small ones are likely: k about as often as 1 / (k + 1), as Zipf found of words. */
  skewed(limit: number): number
  /** About normal: mean 0, deviation 1, never beyond 3.5. */
  normal(): number
  word(): string
}

export const createRandom = (): Random => {
  let a = 0
  let b = 0
  let c = 0
  let d = 0
  const words = new Uint32Array(8)
  const bytes = Buffer.from(words.buffer)

  const next = (): number => {
    const result = (((a + b) | 0) + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + result) | 0
    return result
  }
  const unit = (): number => (next() >>> 0) / 4294967296
  const below = (limit: number): number => Math.floor(unit() * limit)
  return {
    // Each step can be undone, so that different points never meet.
    seek(w, x, y, z) {
      a = mix(w)
      b = mix(x + a)
      c = mix(y + b)
      d = mix(z + c)
      a = mix(a + d)
      b = mix(b + a)
      c = mix(c + b)
      for (let i = 0; i < 4; i++) next()
    },
    next,
    unit,
    below,
    skewed: limit => Math.min(limit - 1, Math.floor(Math.exp(unit() * Math.log(limit + 1))) - 1),
    normal: () => (unit() + unit() + unit() + unit() - 2) * 1.7320508,
    word() {
      for (let i = 0; i < 8; i++) words[i] = next()
      return bytes.toString('hex', 0, 32)
    },
  }
}

/** A bijection of 32-bit integers without visible pattern (the finalizer of MurmurHash3). */
export const mix = (value: number): number => {
  let h = value | 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) | 0
}

/** A JSON-RPC quantity: no leading zeros. For integers up to 2^53. */
export const quantity = (value: number): Hex => {
  const known = SMALL[value]
  return known === undefined ? `0x${value.toString(16)}` : known
}

/** A JSON-RPC quantity from hex digits with leading zeros. */
export const trimmed = (digits: string): Hex => {
  let at = 0
  while (at < digits.length - 1 && digits.charCodeAt(at) === 48) at++
  return `0x${digits.slice(at)}`
}

const SMALL = Array.from({ length: 1024 }, (_, i) => `0x${i.toString(16)}`)
