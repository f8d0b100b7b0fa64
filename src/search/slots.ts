export interface Slot {
  memory: SharedArrayBuffer
  bytes: Uint8Array
}

const LEAST = 32 << 10
const MOST = 4 << 20

/**
 * Memory in which threads hand parts of an answer over, again and again: parts in memory of their own make V8 clean its heap all the time,
 * which takes as long as to write them. One that a failed part was made into is never used again: its thread may still write.
 */
export type Slots = ReturnType<typeof createSlots>

/** For parts of about so many bytes. */
export const createSlots = (expected: number) => {
  const free: Slot[] = []
  const size = Math.min(MOST, 2 * expected)
  return {
    /** Undefined where parts are too small to be worth it. */
    take(): Slot | undefined {
      if (expected < LEAST) return undefined
      const used = free.pop()
      if (used) return used
      const memory = new SharedArrayBuffer(size)
      return { memory, bytes: new Uint8Array(memory) }
    },
    /** Nobody uses it any more. */
    give: (slot: Slot) => void free.push(slot),
  }
}
