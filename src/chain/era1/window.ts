import type { FileHandle } from 'node:fs/promises'

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
