import { type BlockFile, readBlockLines } from '../../../chain/files/block-files.ts'
import type { PackLine, PackOptions } from '../../../chain/files/pack.ts'

/** Neighbouring lines of a pack that are built together, in memory that threads share. */
export interface Group {
  lines: PackLine[]
  /** Gives the memory back, for another group: the lines are not to be looked at any more. */
  release(): void
}

/** Small groups, so that all threads have something to do and none holds up the others. */
const GROUP_BYTES = 4 << 20

/** Reads files group by group. Buffers are used again, since making and dropping them takes longer than to fill them. */
export const createGroupReader = (most: number, bytes = GROUP_BYTES) => {
  const free: SharedArrayBuffer[] = []

  return async function* read(file: BlockFile, options: Omit<PackOptions, 'allocate'>): AsyncGenerator<Group> {
    let buffer = free.pop() ?? new SharedArrayBuffer(bytes)
    let used = 0
    let lines: PackLine[] = []
    /** The next line begins another group: it had no room. */
    let full: Group | undefined

    const close = (): Group | undefined => {
      if (lines.length === 0) return undefined
      const own = buffer
      const group = { lines, release: () => void (own.byteLength === bytes && free.push(own)) }
      lines = []
      used = 0
      buffer = free.pop() ?? new SharedArrayBuffer(bytes)
      return group
    }
    const allocate = (size: number): Uint8Array => {
      if (used + size > buffer.byteLength || lines.length >= most) {
        // Blank lines may have taken all of it.
        if (lines.length === 0) used = 0
        else full = close()
      }
      if (size > buffer.byteLength) {
        if (buffer.byteLength === bytes) free.push(buffer)
        buffer = new SharedArrayBuffer(size)
      }
      used += size
      return new Uint8Array(buffer, used - size, size)
    }

    try {
      for await (const line of readBlockLines(file, { ...options, allocate })) {
        const before = full
        full = undefined
        lines.push(line)
        if (before) yield before
      }
    } catch (error) {
      // The good lines before a fault are taken.
      yield* [full, close()].filter(group => group !== undefined)
      throw error
    }
    yield* [full, close()].filter(group => group !== undefined)
  }
}
