import type { Db } from '../../sqlite/database.ts'
import type { Segment } from '../reader.ts'
import { type ColumnData, decodeColumn } from './column-codec.ts'
import { describeColumn } from './columns-structure.ts'
import type { PostingsReader } from './postings-reader.ts'
import { createSegmentCache, type SegmentState } from './segment-cache.ts'
import { argumentOf, FIELDS_PER_VALUE, FIRST_ARGUMENT_FIELD, fieldOfTerm, HASHED, termOf } from './terms.ts'

export interface ColumnBounds {
  least: number
  greatest: number
}

export type ColumnCache = ReturnType<typeof createColumnCache>

interface ColumnCacheOptions {
  /** Bytes of decoded columns. */
  capacity(): number
  /** The column of an argument, which no row of the store holds. */
  ofArgument(segment: number, argument: ArgumentPlace): ColumnData | undefined
}

/** An argument position of all logs or all calls. */
interface ArgumentPlace {
  of: 'log' | 'call'
  slot: number
}

/** Decoded columns; a change of their segment invalidates them. */
export const createColumnCache = (db: Db, { capacity, ofArgument }: ColumnCacheOptions) => {
  const selectBounds = db.prepare('SELECT least, greatest FROM col WHERE segment = ? AND field = ?')
  const selectData = db.prepare('SELECT data FROM col WHERE segment = ? AND field = ?').pluck()
  const bounds = createSegmentCache<ColumnBounds>({
    load: ({ id }, field) => selectBounds.get(id, field) as ColumnBounds | undefined,
    bytesOf: () => 0,
    capacity: () => Number.POSITIVE_INFINITY,
  })
  const data = createSegmentCache<ColumnData>({
    load({ id }, field) {
      if (field < 0) return ofArgument(id, argumentAt(field))
      const blob = selectData.get(id, field) as Buffer | undefined
      return blob && decodeColumn(blob, describeColumn(field))
    },
    bytesOf: ({ bytes }) => bytes,
    capacity,
  })
  /** Documents whose arguments were asked for while the column was not there. */
  const askedFor = new Map<string, number>()
  return {
    /** Undefined where no document of the segment has the field. */
    bounds: bounds.get,
    data: data.get,
    /**
     * Ids of the addresses that logs or calls have as an argument; 0 for none. The column is built
     * from the index once an eighth of its documents was asked for, or else undefined: reading
     * fewer of them one by one takes less time.
     */
    addresses(segment: SegmentState, argument: ArgumentPlace, { wanted, size }: { wanted: number; size: number }) {
      const field = argumentColumn(argument)
      if (!data.has(segment, field)) {
        const key = `${segment.id} ${field}`
        const asked = (askedFor.get(key) ?? 0) + wanted
        if (asked < size / WORTH) {
          askedFor.set(key, asked)
          return undefined
        }
        askedFor.delete(key)
      }
      return (data.get(segment, field)?.values ?? NO_ADDRESSES) as Uint32Array
    },
    keep(segments: readonly Segment[]): void {
      askedFor.clear()
      bounds.keep(segments)
      data.keep(segments)
    },
  }
}

const WORTH = 8
const NO_ADDRESSES = new Uint32Array(0)

/** Numbers below 0 that no stored column has. */
const argumentColumn = ({ of, slot }: ArgumentPlace): number => -1 - (slot * 2 + (of === 'log' ? 0 : 1))
const argumentAt = (column: number): ArgumentPlace => {
  const place = -1 - column
  return { of: place % 2 === 0 ? 'log' : 'call', slot: place >>> 1 }
}

interface AddressColumnOptions {
  postings: Pick<PostingsReader, 'each' | 'ordinalsOf'>
  segment: { id: number; size: number }
  argument: ArgumentPlace
  ofSignature(id: number): 'log' | 'call'
}

/** Turns posting lists of addresses into a column. */
export const readAddressColumn = ({
  postings,
  segment: { id, size },
  argument: { of, slot },
  ofSignature,
}: AddressColumnOptions): ColumnData | undefined => {
  const values = new Uint32Array(size)
  /** By field: whether its postings belong to the column. */
  const isMeant: (boolean | undefined)[] = []
  let found = false
  postings.each(id, termOf(1, 0), termOf(HASHED, 0) - 1, cursor => {
    const { term } = cursor
    const field = fieldOfTerm(term)
    if (field < FIRST_ARGUMENT_FIELD) return
    const argument = argumentOf(field)
    if (argument.slot !== slot) return
    isMeant[argument.signature] ??= ofSignature(argument.signature) === of
    if (!isMeant[argument.signature]) return
    found = true
    const address = (term - field) / FIELDS_PER_VALUE
    if (cursor.count === 1) values[cursor.ordinal] = address
    else for (const ordinal of postings.ordinalsOf(id, cursor)) values[ordinal] = address
  })
  if (!found) return undefined
  return { count: size, width: 4, values, base: 0, dictionary: undefined, bytes: values.byteLength }
}
