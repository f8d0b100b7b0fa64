/** `revised` grows with each change of the segment, which invalidates what is cached of it. */
export interface SegmentState {
  id: number
  revised: number
}

export interface SegmentCacheOptions<T, H> {
  load(segment: SegmentState, field: number, hint: H): T | undefined
  bytesOf(value: T): number
  /** Bytes that may be cached now. */
  capacity(): number
}

/** Bytes of an entry beside its value. */
const ENTRY_OVERHEAD = 200

interface SegmentCacheEntry<T> {
  value: T | undefined
  exists: boolean
}

/** An LRU cache of one value per segment and field, which evicts beyond `capacity` bytes. */
export const createSegmentCache = <T, H = void>({ load, bytesOf, capacity }: SegmentCacheOptions<T, H>) => {
  let segments = new Map<number, { revised: number; entries: Map<number, SegmentCacheEntry<T>> }>()
  /** Entries with values, least recently used first. */
  const loaded = new Set<SegmentCacheEntry<T>>()
  let held = 0

  const forget = (entry: SegmentCacheEntry<T>) => {
    if (entry.value === undefined) return
    held -= bytesOf(entry.value) + ENTRY_OVERHEAD
    entry.value = undefined
    loaded.delete(entry)
  }

  const entriesOf = ({ id, revised }: SegmentState): Map<number, SegmentCacheEntry<T>> => {
    const known = segments.get(id)
    if (known?.revised === revised) return known.entries
    for (const entry of known?.entries.values() ?? []) forget(entry)
    const entries = new Map<number, SegmentCacheEntry<T>>()
    segments.set(id, { revised, entries })
    return entries
  }

  const fill = (entry: SegmentCacheEntry<T>, segment: SegmentState, field: number, hint: H): T | undefined => {
    const value = load(segment, field, hint)
    entry.exists = value !== undefined
    if (value === undefined) return undefined
    entry.value = value
    held += bytesOf(value) + ENTRY_OVERHEAD
    loaded.add(entry)
    const most = capacity()
    for (const oldest of loaded) {
      if (held <= most || oldest === entry) break
      forget(oldest)
    }
    return value
  }

  return {
    /** Whether `get` answers without loading. */
    has(segment: SegmentState, field: number): boolean {
      const entry = entriesOf(segment).get(field)
      return entry !== undefined && (!entry.exists || entry.value !== undefined)
    },
    /** Whether as many bytes more would evict nothing. */
    hasRoom: (bytes: number): boolean => held + bytes <= capacity(),
    /** Undefined if the segment has none of it. `hint` is handed to `load`. */
    get(segment: SegmentState, field: number, hint: H): T | undefined {
      const entries = entriesOf(segment)
      let entry = entries.get(field)
      if (!entry) {
        entry = { value: undefined, exists: true }
        entries.set(field, entry)
      }
      if (!entry.exists) return undefined
      if (entry.value === undefined) return fill(entry, segment, field, hint)
      // While there is room for all, their order does not matter.
      if (held * 2 > capacity()) {
        loaded.delete(entry)
        loaded.add(entry)
      }
      return entry.value
    },
    /** Forgets all other segments. */
    keep(present: readonly SegmentState[]) {
      const left: typeof segments = new Map()
      for (const { id } of present) {
        const known = segments.get(id)
        if (known && segments.delete(id)) left.set(id, known)
      }
      for (const { entries } of segments.values()) for (const entry of entries.values()) forget(entry)
      segments = left
    },
  }
}
