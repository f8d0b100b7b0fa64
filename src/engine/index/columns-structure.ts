import type { CountedKind } from '../../mapping/index.ts'
import type { Db } from '../../sqlite/database.ts'
import {
  type ColumnData,
  copyValues,
  decodeColumn,
  type EncodedColumn,
  encodeColumn,
  isPacked,
  MISSING,
} from './column-codec.ts'
import { documentCount, FULL_LEVEL, levelOf, SEGMENT_COUNTS, type SegmentCounts, sumOfSegments } from './segments.ts'
import type { IndexStructure, SegmentPart } from './structure.ts'
import { COLUMN_FIELDS, columnByNumber } from './terms.ts'

/** Values after which a merge makes a step. */
const VALUES_PER_STEP = 50_000

/** A column is one row for each segment in which some document has the field. */
export const createColumnStructure = (db: Db): IndexStructure => {
  const insert = db.prepare('INSERT INTO col (segment, field, least, greatest, data) VALUES (?, ?, ?, ?, ?)')
  const replace = db.prepare(
    'INSERT OR REPLACE INTO col (segment, field, least, greatest, data) VALUES (?, ?, ?, ?, ?)',
  )
  const select = db.prepare('SELECT data FROM col WHERE segment = ? AND field = ?').pluck()
  const selectAll = db.prepare('SELECT field, data FROM col WHERE segment = ?').raw()
  const selectCounts = db.prepare(`SELECT ${SEGMENT_COUNTS} FROM segment WHERE id = ?`)
  const removeAll = db.prepare('DELETE FROM col WHERE segment = ?')

  const read = (segment: number, field: number): { data: ColumnData; packed: boolean } | undefined => {
    const blob = select.get(segment, field) as Buffer | undefined
    return blob && { data: decodeColumn(blob, describeColumn(field)), packed: isPacked(blob) }
  }

  return {
    build:
      ({ columns }) =>
      segment => {
        for (const { field, least, greatest, data } of columns) insert.run(segment, field, least, greatest, data)
      },

    patch: ({ segment, columns }) => {
      return () => {
        if (columns.length === 0) return
        const counts = selectCounts.get(segment) as SegmentCounts
        for (const { field, ordinals, values } of columns) {
          const before = read(segment, field)
          const all = new Float64Array(documentCount(counts, columnByNumber(field)!.kind)).fill(MISSING)
          if (before) copyValues(before.data, all, 0)
          for (let i = 0; i < ordinals.length; i++) all[ordinals[i]!] = values[i]!
          const { least, greatest, data } = encodeColumn(all, { full: before?.packed ?? false })!
          replace.run(segment, field, least, greatest, data)
        }
      }
    },

    *merge(segment, run) {
      const full = levelOf(sumOfSegments(run)) === FULL_LEVEL
      let done = 0
      for (const { number, kind } of COLUMN_FIELDS) {
        const joined = joinColumn(run, kind, ({ id }) => read(id, number)?.data)
        if (!joined) continue
        const encoded = encodeColumn(joined, { full })!
        insert.run(segment, number, encoded.least, encoded.greatest, encoded.data)
        done += joined.length
        if (done < VALUES_PER_STEP) continue
        done = 0
        yield
      }
    },

    truncate(from, to, kept) {
      for (const [field, blob] of selectAll.all(from) as [number, Buffer][]) {
        const kind = columnByNumber(field)?.kind
        if (!kind) continue
        const data = decodeColumn(blob, describeColumn(field))
        const values = new Float64Array(data.count)
        copyValues(data, values, 0)
        const shorter: EncodedColumn | undefined = encodeColumn(values.subarray(0, kept[kind]), { full: false })
        if (shorter) insert.run(to, field, shorter.least, shorter.greatest, shorter.data)
      }
    },

    remove(segment) {
      removeAll.run(segment)
      return false
    },
  }
}

/** The values of neighbouring segments; undefined if none has any. */
const joinColumn = (
  run: readonly SegmentPart[],
  kind: CountedKind,
  read: (part: SegmentPart) => ColumnData | undefined,
): Float64Array | undefined => {
  let joined: Float64Array | undefined
  const total = run.reduce((sum, part) => sum + documentCount(part, kind), 0)
  for (const part of run) {
    const data = read(part)
    if (!data) continue
    joined ??= new Float64Array(total).fill(MISSING)
    copyValues(data, joined, part.offset[kind])
  }
  return joined
}

export const describeColumn = (field: number): string => {
  const column = columnByNumber(field)
  return `the column of ${column ? `${column.kind}.${column.field}` : field}`
}
