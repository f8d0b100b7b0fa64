/** A segment in one state of it; `revised` grows where what it holds changes. */
export interface SegmentState {
  id: number
  revised: number
}

/** What is read of segments, by field or term, and kept for the next query. */
export interface SegmentCache<T, H = void> {
  /** Undefined where the segment has nothing of it. `hint` is for who loads it. */
  get(segment: SegmentState, field: number, hint: H): T | undefined
  /** Forgets all segments but these. */
  keep(segments: readonly SegmentState[]): void
}

export interface SegmentCacheOptions<T, H> {
  load(segment: SegmentState, field: number, hint: H): T | undefined
  bytesOf(value: T): number
  /** Bytes that are kept at this moment: beyond them what was used first is forgotten. */
  capacity(): number
}

/** What is kept beside a value. */
const OVERHEAD = 200

interface Entry<T> {
  value: T | undefined
  /** Whether the store has one. */
  exists: boolean
}

export const createSegmentCache = <T, H = void>({
  load,
  bytesOf,
  capacity,
}: SegmentCacheOptions<T, H>): SegmentCache<T, H> => {
  /** By segment, in one state of it. */
  let segments = new Map<number, { revised: number; entries: Map<number, Entry<T>> }>()
  /** Those whose values are there, the one that was used last at the end. */
  const loaded = new Set<Entry<T>>()
  let held = 0

  const forget = (entry: Entry<T>) => {
    if (entry.value === undefined) return
    held -= bytesOf(entry.value) + OVERHEAD
    entry.value = undefined
    loaded.delete(entry)
  }

  const entriesOf = ({ id, revised }: SegmentState): Map<number, Entry<T>> => {
    const known = segments.get(id)
    if (known?.revised === revised) return known.entries
    for (const entry of known?.entries.values() ?? []) forget(entry)
    const entries = new Map<number, Entry<T>>()
    segments.set(id, { revised, entries })
    return entries
  }

  const fill = (entry: Entry<T>, segment: SegmentState, field: number, hint: H): T | undefined => {
    const value = load(segment, field, hint)
    entry.exists = value !== undefined
    if (value === undefined) return undefined
    entry.value = value
    held += bytesOf(value) + OVERHEAD
    loaded.add(entry)
    const most = capacity()
    for (const oldest of loaded) {
      if (held <= most || oldest === entry) break
      forget(oldest)
    }
    return value
  }

  return {
    get(segment, field, hint) {
      const entries = entriesOf(segment)
      let entry = entries.get(field)
      if (!entry) {
        entry = { value: undefined, exists: true }
        entries.set(field, entry)
      }
      if (!entry.exists) return undefined
      if (entry.value === undefined) return fill(entry, segment, field, hint)
      // While there is room for all, nobody asks which one was used last.
      if (held * 2 > capacity()) {
        loaded.delete(entry)
        loaded.add(entry)
      }
      return entry.value
    },
    keep(present) {
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
