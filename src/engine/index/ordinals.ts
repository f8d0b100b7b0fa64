import { createByteWriter } from '../../lib/bytes.ts'
import { damagedValue } from '../../sqlite/damage.ts'

/** Reads `count` ascending ordinals: varints of their differences. */
export const readOrdinals = (bytes: Uint8Array, count: number, start = 0, end = bytes.length): Uint32Array => {
  // Each takes a byte at least.
  if (end - start < count || end > bytes.length) throw damagedValue('a list of the index')
  const result = new Uint32Array(count)
  let last = 0
  let at = start
  for (let i = 0; i < count; i++) {
    let byte = bytes[at++]!
    let gap = byte & 0x7f
    for (let shift = 7; byte >= 0x80; shift += 7) {
      byte = bytes[at++]!
      gap |= (byte & 0x7f) << shift
    }
    last += gap
    result[i] = last
  }
  if (at > end) throw damagedValue('a list of the index')
  return result
}

/** Joins the lists of one term from segment to segment. */
export type ListBuilder = ReturnType<typeof createListBuilder>

export const createListBuilder = () => {
  const out = createByteWriter(1 << 12)
  let count = 0
  let last = 0
  return {
    get count() {
      return count
    },
    get last() {
      return last
    },
    clear(): void {
      out.truncate(0)
      count = 0
      last = 0
    },
    add(ordinal: number): void {
      out.varint(ordinal - last)
      last = ordinal
      count++
    },
    /** Adds a list, its ordinals moved by `offset`: only its first difference is written again. */
    append(bytes: Uint8Array, start: number, end: number, more: number, offset: number): void {
      let [at, first, shift] = [start, 0, 0]
      while (bytes[at]! >= 0x80) {
        first |= (bytes[at++]! & 0x7f) << shift
        shift += 7
      }
      first |= bytes[at++]! << shift
      out.varint(first + offset - last)
      out.bytes(bytes, at, end)
      last = first + offset
      let gap = 0
      shift = 0
      for (; at < end; at++) {
        const byte = bytes[at]!
        if (byte < 0x80) {
          last += gap | (byte << shift)
          gap = 0
          shift = 0
        } else {
          gap |= (byte & 0x7f) << shift
          shift += 7
        }
      }
      count += more
    },
    /** Valid until the next change. */
    view: (): Buffer => out.view(),
  }
}
