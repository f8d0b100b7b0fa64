/** Numbers that scores are counted from, of one state of what is visible, for the next search that asks for them. */
export interface Counted {
  get(key: string): Count | undefined
  set(key: string, count: Count): void
}

export interface Count {
  documents: number
  /** Where the key stands for several values: how often there is each word of them; undefined where they are too many. */
  words?: ReadonlyMap<string, number> | undefined
}

/** In bytes, about. */
const CAPACITY = 4 << 20
const OVERHEAD = 100
/** What takes more than one of so many parts is not kept. */
const PARTS = 8

export const createCounted = (capacity = CAPACITY): Counted => {
  /** Those that were asked for last stand last. */
  const kept = new Map<string, Count>()
  let bytes = 0
  return {
    get(key) {
      const found = kept.get(key)
      if (!found) return undefined
      kept.delete(key)
      kept.set(key, found)
      return found
    },
    set(key, count) {
      const size = sizeOf(key, count)
      if (kept.has(key) || size * PARTS > capacity) return
      bytes += size
      for (const [oldest, its] of kept) {
        if (bytes <= capacity) break
        kept.delete(oldest)
        bytes -= sizeOf(oldest, its)
      }
      kept.set(key, count)
    },
  }
}

const sizeOf = (key: string, { words }: Count): number => {
  let size = OVERHEAD + 2 * key.length
  for (const word of words?.keys() ?? []) size += OVERHEAD + 2 * word.length
  return size
}
