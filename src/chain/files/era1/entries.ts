import type { FileHandle } from 'node:fs/promises'

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

/** Bytes of a file that are read from front to back, a few of them at a time. */
export interface Window {
  readonly size: number
  /** A view that is valid until the next call. Throws a `RangeError` where the file ends before. */
  bytes(at: number, length: number): Promise<Buffer>
}

const READ_BYTES = 4 << 20

export const openWindow = async (file: FileHandle): Promise<Window> => {
  const { size } = await file.stat()
  let held = Buffer.alloc(0)
  let start = 0
  return {
    size,
    async bytes(at, length) {
      if (at < 0 || at + length > size) throw new RangeError(`it has ${size} bytes instead of ${at + length} or more`)
      if (at < start || at + length > start + held.length) {
        const next = Buffer.allocUnsafe(Math.min(Math.max(length, READ_BYTES), size - at))
        let read = 0
        while (read < next.length) {
          const { bytesRead } = await file.read(next, read, next.length - read, at + read)
          if (bytesRead === 0) throw new RangeError(`it ends at byte ${at + read}`)
          read += bytesRead
        }
        held = next
        start = at
      }
      return held.subarray(at - start, at - start + length)
    },
  }
}
