import type { ByteWriter } from '../../lib/bytes.ts'
import { impossible } from '../../sqlite/damage.ts'
import { decompressed, WORD } from '../documents/pack.ts'
import { cursor, takeVarint } from '../documents/records/cursor.ts'
import type { Addresses } from './addresses.ts'
import { ZERO } from './pieces.ts'

/** Appends packed ABI data (see documents/pack.ts) as hex digits. */
export const writeWords = (out: ByteWriter, packed: Uint8Array, start: number, end: number, addresses: Addresses) => {
  if (start < end && packed[start] === WORD.zstd) return out.digits(decompressed(packed.subarray(start + 1, end)))
  cursor.at = start
  while (cursor.at < end) {
    const control = packed[cursor.at++]!
    const at = cursor.at
    if (control <= 32) {
      out.fill(ZERO, 64 - 2 * control)
      out.digits(packed, at, at + control)
      cursor.at = at + control
    } else if (control < 64) {
      out.digits(packed, at, at + control - 32)
      out.fill(ZERO, 128 - 2 * control)
      cursor.at = at + control - 32
    } else if (control === WORD.selector) {
      out.digits(packed, at, at + 4)
      cursor.at = at + 4
    } else if (control === WORD.address) {
      out.fill(ZERO, 24)
      addresses.plain(out, takeVarint(packed))
    } else {
      if (control !== WORD.rest) throw impossible('a packed value')
      const size = takeVarint(packed)
      out.digits(packed, cursor.at, cursor.at + size)
      cursor.at += size
    }
  }
}

/** Where the packed word that begins here ends. */
export const endOfWord = (packed: Uint8Array, at: number): number => {
  const control = packed[at]!
  if (control <= 32) return at + 1 + control
  if (control < 64) return at + 1 + control - 32
  cursor.at = at + 1
  const value = takeVarint(packed)
  return control === WORD.rest ? cursor.at + value : cursor.at
}

/** The 32 bytes of a packed word that is no rest. */
export const expandWord = (
  packed: Uint8Array,
  at: number,
  addresses: Addresses,
  target: Uint8Array,
  to: number,
): void => {
  target.fill(0, to, to + 32)
  const control = packed[at]!
  if (control === WORD.address) {
    cursor.at = at + 1
    addresses.copy(takeVarint(packed), target, to + 12)
    return
  }
  const size = control <= 32 ? control : control - 32
  const first = control <= 32 ? to + 32 - size : to
  for (let i = 0; i < size; i++) target[first + i] = packed[at + 1 + i]!
}
