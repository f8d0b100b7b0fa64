import type { Db } from '../../sqlite/database.ts'
import type { Segment } from '../reader.ts'
import { type ColumnData, decodeColumn } from './column-codec.ts'
import { describeColumn } from './columns-structure.ts'
import { createSegmentCache } from './segment-cache.ts'

export interface ColumnBounds {
  least: number
  greatest: number
}

export type ColumnCache = ReturnType<typeof createColumnCache>

/** `capacity`: bytes of decoded columns. */
export const createColumnCache = (db: Db, capacity: () => number) => {
  const selectBounds = db.prepare('SELECT least, greatest FROM col WHERE segment = ? AND field = ?')
  const selectData = db.prepare('SELECT data FROM col WHERE segment = ? AND field = ?').pluck()
  const bounds = createSegmentCache<ColumnBounds>({
    load: ({ id }, field) => selectBounds.get(id, field) as ColumnBounds | undefined,
    bytesOf: () => 0,
    capacity: () => Number.POSITIVE_INFINITY,
  })
  const data = createSegmentCache<ColumnData>({
    load({ id }, field) {
      const blob = selectData.get(id, field) as Buffer | undefined
      return blob && decodeColumn(blob, describeColumn(field))
    },
    bytesOf: ({ bytes }) => bytes,
    capacity,
  })
  return {
    /** Undefined where no document of the segment has the field. */
    bounds: bounds.get,
    data: data.get,
    keep(segments: readonly Segment[]): void {
      bounds.keep(segments)
      data.keep(segments)
    },
  }
}
