import type { Window } from './window.ts'

/**
 * e2store files are entries of a type, a length and a value. Those of era1: a version, four entries for each block, the
 * accumulator, and the index of the blocks.
 */
export const TYPES = {
  version: 0x3265,
  header: 3,
  body: 4,
  receipts: 5,
  difficulty: 6,
  accumulator: 7,
  index: 0x3266,
} as const

export interface Entry {
  type: number
  /** Where its value begins and ends. */
  from: number
  to: number
}

/** Bytes before a value: its type, its length and two zeros. */
export const HEAD = 8

export const readEntry = async (window: Window, at: number): Promise<Entry> =>
  entryOf(await window.bytes(at, HEAD), at, window.size)

/** The entries of a block. */
export const entriesIn = (bytes: Buffer): Entry[] => {
  const entries: Entry[] = []
  for (let at = 0; at < bytes.length; at = entries.at(-1)!.to) {
    if (at + HEAD > bytes.length) throw new RangeError('an entry is cut off')
    entries.push(entryOf(bytes.subarray(at, at + HEAD), at, bytes.length))
  }
  return entries
}

const entryOf = (head: Buffer, at: number, size: number): Entry => {
  const type = head.readUInt16LE(0)
  const from = at + HEAD
  const to = from + head.readUInt32LE(2)
  if (head.readUInt16LE(6) !== 0) throw new RangeError(`there is no entry at byte ${at}`)
  if (to > size)
    throw new RangeError(
      `it is cut off: the entry at byte ${at} has ${to - from} bytes, of which ${size - from} are there`,
    )
  return { type, from, to }
}
