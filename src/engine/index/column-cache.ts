import type { Db } from '../../sqlite/database.ts'
import type { Segment } from '../reader.ts'
import { type ColumnData, decodeColumn } from './column-codec.ts'
import { nameOf } from './columns-structure.ts'

/** Least and greatest value that a segment has in a column. */
export interface ColumnBounds {
  least: number
  greatest: number
}

/** Columns as they are read, decoded, and kept for the next query. */
export interface ColumnCache {
  /** Undefined where no document of the segment has the field. */
  bounds(segment: Segment, field: number): ColumnBounds | undefined
  data(segment: Segment, field: number): ColumnData | undefined
  /** Forgets all segments but these. */
  keep(segments: readonly Segment[]): void
}

/** Bytes of decoded columns that are kept: those of several million logs. */
const CAPACITY = 32 * 2 ** 20
/** What is kept beside the values. */
const OVERHEAD = 200

interface Entry {
  bounds: ColumnBounds | undefined
  data: ColumnData | undefined
}

export const createColumnCache = (db: Db, capacity = CAPACITY): ColumnCache => {
  const selectBounds = db.prepare('SELECT least, greatest FROM col WHERE segment = ? AND field = ?')
  const selectData = db.prepare('SELECT data FROM col WHERE segment = ? AND field = ?').pluck()
  /** By segment, in one state of it. */
  let segments = new Map<number, { revised: number; entries: Map<number, Entry> }>()
  /** Those whose values are there, the one that was used last at the end. */
  const loaded = new Set<Entry>()
  let held = 0

  const forget = (entry: Entry) => {
    if (!entry.data) return
    held -= entry.data.bytes + OVERHEAD
    entry.data = undefined
    loaded.delete(entry)
  }

  const entriesOf = ({ id, revised }: Segment): Map<number, Entry> => {
    const known = segments.get(id)
    if (known?.revised === revised) return known.entries
    for (const entry of known?.entries.values() ?? []) forget(entry)
    const entries = new Map<number, Entry>()
    segments.set(id, { revised, entries })
    return entries
  }

  const entryOf = (segment: Segment, field: number): Entry => {
    const entries = entriesOf(segment)
    let entry = entries.get(field)
    if (!entry) {
      entry = { bounds: selectBounds.get(segment.id, field) as ColumnBounds | undefined, data: undefined }
      entries.set(field, entry)
    }
    return entry
  }

  return {
    bounds: (segment, field) => entryOf(segment, field).bounds,
    data(segment, field) {
      const entry = entryOf(segment, field)
      if (!entry.bounds) return undefined
      // Moved to the end.
      if (loaded.delete(entry)) {
        loaded.add(entry)
        return entry.data
      }
      const data = decodeColumn(selectData.get(segment.id, field) as Buffer, nameOf(field))
      entry.data = data
      held += data.bytes + OVERHEAD
      loaded.add(entry)
      for (const oldest of loaded) {
        if (held <= capacity || oldest === entry) break
        forget(oldest)
      }
      return data
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
