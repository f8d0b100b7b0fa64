import type { FieldPath, Kind } from '../../../mapping/index.ts'
import type { ColumnBounds } from '../../index/column-cache.ts'
import type { ColumnData } from '../../index/column-codec.ts'
import { columnOf } from '../../index/column-fields.ts'
import type { Reader } from '../../reader.ts'
import { endOf, type Numbered, numberedAs, placesOf, type SegmentView } from './ordinals.ts'

/** The values of one field as numbers, segment by segment. */
export interface ColumnSource {
  /** Undefined where no document of the segment has the field. */
  bounds(at: SegmentView): ColumnBounds | undefined
  data(at: SegmentView): ColumnData | undefined
}

/** Undefined where neither a column nor the places of the documents tell the field. */
export const columnSource = (kind: Kind, field: FieldPath, reader: Reader): ColumnSource | undefined => {
  if (OF_PLACE.has(`${kind}.${field.field}`)) return placeSource(numberedAs(kind))
  const column = columnOf(kind, field)
  return (
    column && {
      bounds: ({ segment }) => reader.columns.bounds(segment, column.number),
      data: ({ segment }) => reader.columns.data(segment, column.number),
    }
  )
}

/** Fields that are the document's place in its block. */
const OF_PLACE: ReadonlySet<string> = new Set(['tx.transactionIndex', 'log.logIndex', 'event.logIndex'])

const placeSource = (numbered: Numbered): ColumnSource => ({
  bounds: () => ANY,
  data({ header, size }) {
    const values = new Uint32Array(size)
    let ordinal = 0
    for (let index = 0; index < header.times.length; index++) {
      const places = placesOf(header, numbered, index)
      const end = endOf(header, numbered, index)
      for (let i = 0; ordinal < end; i++) values[ordinal++] = places ? places[i]! : i
    }
    return { count: size, width: 4, values, base: 0, dictionary: undefined, bytes: values.byteLength }
  },
})

const ANY: ColumnBounds = { least: 0, greatest: Number.POSITIVE_INFINITY }
