import zlib from 'node:zlib'
import { checksumAddress, keccak256 } from '../../../src/lib/keccak.ts'
import type { Json } from './json.ts'

/** Shows of addresses by dictionary id: 40 checksummed digits, 40 lower-case ones, and the bits in a bloom filter. */
export interface Addresses {
  checksummed(json: Json, id: number): void
  plain(json: Json, id: number): void
  bloomBits(id: number): number
  /** The 20 bytes of an address. */
  bytes(id: number): Buffer
}

const SLOTS = 1 << 16

/** A direct-mapped cache: an id has one slot, and the latest one holds it. */
export const createAddresses = (digitsOf: (id: number) => string): Addresses => {
  const owner = new Uint32Array(SLOTS)
  const ascii = Buffer.alloc(SLOTS * 80)
  const bits = new Float64Array(SLOTS)
  const slotOf = (id: number): number => {
    const slot = id & (SLOTS - 1)
    if (owner[slot] !== id) {
      const digits = digitsOf(id)
      ascii.write(checksumAddress(`0x${digits}`).slice(2), slot * 80, 'latin1')
      ascii.write(digits, slot * 80 + 40, 'latin1')
      owner[slot] = id
      bits[slot] = -1
    }
    return slot
  }
  const copy = (json: Json, from: number) => {
    const target = json.room(40)
    const to = json.length
    for (let i = 0; i < 40; i++) target[to + i] = ascii[from + i]!
    json.advance(to + 40)
  }
  const bytesOf = (id: number): Buffer => {
    const from = slotOf(id) * 80 + 40
    return Buffer.from(ascii.toString('latin1', from, from + 40), 'hex')
  }
  return {
    checksummed: (json, id) => copy(json, slotOf(id) * 80),
    plain: (json, id) => copy(json, slotOf(id) * 80 + 40),
    bloomBits(id) {
      const slot = slotOf(id)
      if (bits[slot]! < 0) bits[slot] = bloomBitsOf(bytesOf(id))
      return bits[slot]!
    },
    bytes: bytesOf,
  }
}

/** The three bits of a value in a bloom filter, 11 bits each, in one number. */
export const bloomBitsOf = (value: Uint8Array): number => {
  const hash = keccak256(value)
  const bit = (i: number) => ((hash[i]! << 8) | hash[i + 1]!) & 2047
  return bit(0) + bit(2) * 2048 + bit(4) * 4_194_304
}

/** Reads varints at a place that moves on. */
export const cursor = { at: 0 }
export const varint = (bytes: Uint8Array): number => {
  let byte = bytes[cursor.at++]!
  if (byte < 0x80) return byte
  let value = byte & 0x7f
  let factor = 128
  do {
    byte = bytes[cursor.at++]!
    value += (byte & 0x7f) * factor
    factor *= 128
  } while (byte >= 0x80)
  return value
}

export const WORD = { address: 64, rest: 65, zstd: 66, selector: 67 } as const

/** Writes packed ABI data (see src/store/pack.ts) as hex digits. */
export const unpackHex = (json: Json, packed: Uint8Array, start: number, end: number, addresses: Addresses) => {
  if (packed[start] === WORD.zstd) {
    const data = zlib.zstdDecompressSync(packed.subarray(start + 1, end))
    return json.hex(data, 0, data.length)
  }
  cursor.at = start
  while (cursor.at < end) {
    const control = packed[cursor.at++]!
    const at = cursor.at
    if (control <= 32) {
      json.zeros(64 - 2 * control)
      json.hex(packed, at, at + control)
      cursor.at = at + control
    } else if (control < 64) {
      json.hex(packed, at, at + control - 32)
      json.zeros(128 - 2 * control)
      cursor.at = at + control - 32
    } else if (control === WORD.selector) {
      json.hex(packed, at, at + 4)
      cursor.at = at + 4
    } else {
      const value = varint(packed)
      if (control === WORD.address) {
        json.zeros(24)
        addresses.plain(json, value)
      } else {
        json.hex(packed, cursor.at, cursor.at + value)
        cursor.at += value
      }
    }
  }
}

/** Decimal digits of an integer's big-endian bytes. */
export const decimalOf = (packed: Uint8Array, start: number, end: number): string => {
  if (end - start <= 6) return String(smallOf(packed, start, end))
  return BigInt(`0x${Buffer.prototype.hexSlice.call(packed, start, end)}`).toString()
}

export const smallOf = (packed: Uint8Array, start: number, end: number): number => {
  let value = 0
  for (let i = start; i < end; i++) value = value * 256 + packed[i]!
  return value
}

const GREATEST_LONG = '9223372036854775807'
/** Whether an integer that is not negative fits 64 bits. */
export const isLong = (decimal: string): boolean =>
  decimal.length < GREATEST_LONG.length || (decimal.length === GREATEST_LONG.length && decimal <= GREATEST_LONG)
