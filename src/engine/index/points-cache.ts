import { impossible } from '../../sqlite/damage.ts'
import type { Db } from '../../sqlite/database.ts'
import type { Segment } from '../reader.ts'
import { readOrdinals } from './points.ts'
import { createSegmentCache, type SegmentState } from './segment-cache.ts'
import { type SortedPoints, sortedPoints } from './sorted-points.ts'

/** Numbers of arguments as they are read, and kept for the next query. To count, their values alone are read. */
export type PointsCache = ReturnType<typeof createPointsCache>

/** `capacity`: bytes that are kept. */
export const createPointsCache = (db: Db, capacity: () => number) => {
  const select = (column: string) => {
    const statement = db.prepare(`SELECT ${column} FROM num WHERE segment = ? AND field = ?`).pluck()
    return ({ id }: SegmentState, field: number) => statement.get(id, field) as Buffer | undefined
  }
  const selectValues = select('vals')
  const selectOrdinals = select('ords')
  const bytesOf = ({ byteLength }: { byteLength: number }) => byteLength
  const values = createSegmentCache<SortedPoints>({
    load(segment, field) {
      const blob = selectValues(segment, field)
      return blob && sortedPoints(field, blob)
    },
    bytesOf,
    capacity: () => capacity() * VALUES,
  })
  const ordinals = createSegmentCache<Uint32Array>({
    load(segment, field) {
      const blob = selectOrdinals(segment, field)
      return blob && readOrdinals(blob)
    },
    bytesOf,
    capacity: () => capacity() * (1 - VALUES),
  })
  return {
    /** In ascending order; undefined where the segment has none of the field. */
    values: values.get,
    /** Ordinals of the documents that have the values, in their order. */
    ordinals(segment: Segment, field: number): Uint32Array {
      const found = ordinals.get(segment, field)
      if (!found || found.length !== values.get(segment, field)?.length) throw impossible('a column of the index')
      return found
    },
    /** Forgets all segments but these. */
    keep(segments: readonly Segment[]): void {
      values.keep(segments)
      ordinals.keep(segments)
    },
  }
}

/** Share of values: hits are looked for in few segments. */
const VALUES = 5 / 6
