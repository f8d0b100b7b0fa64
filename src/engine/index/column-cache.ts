import type { Db } from '../../sqlite/database.ts'
import type { Segment } from '../reader.ts'
import { type ColumnData, codedColumn, columnOfCodes, decodeColumn } from './column-codec.ts'
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
      const stored = field >= FIRST_CODED ? field - FIRST_CODED : field
      const blob = selectData.get(id, stored) as Buffer | undefined
      const column = blob && decodeColumn(blob, describeColumn(stored))
      return column && stored !== field ? codedColumn(column) : column
    },
    bytesOf: ({ bytes }) => bytes,
    capacity,
  })
  /** Documents that were asked for while a column was not there. */
  const askedFor = new Map<string, number>()
  const isWorth = (segment: SegmentState, column: number, { wanted, size }: Wanted): boolean => {
    if (data.has(segment, column)) return true
    const key = `${segment.id} ${column}`
    const asked = (askedFor.get(key) ?? 0) + wanted
    if (asked < size / WORTH) askedFor.set(key, asked)
    else askedFor.delete(key)
    return asked >= size / WORTH
  }
  return {
    /** Undefined where no document of the segment has the field. */
    bounds: bounds.get,
    data: data.get,
    /**
     * The same column with places in a dictionary as values. It is built once an eighth of its
     * documents was asked for, if there is room, or else undefined: hashing fewer takes less time.
     */
    coded(segment: SegmentState, field: number, wanted: Wanted): ColumnData | undefined {
      const column = codedAs(field)
      const isThere = data.has(segment, column) || data.hasRoom(wanted.size * CODED_BYTES)
      return isThere && isWorth(segment, column, wanted) ? data.get(segment, column) : undefined
    },
    /**
     * Ids of the addresses that logs or calls have as an argument, in a dictionary. The column is
     * built from the index, once as much was asked for as by `coded`.
     */
    addresses(segment: SegmentState, argument: ArgumentPlace, wanted: Wanted): ColumnData | undefined {
      const column = argumentColumn(argument)
      return isWorth(segment, column, wanted) ? (data.get(segment, column) ?? NO_ADDRESSES) : undefined
    },
    keep(segments: readonly Segment[]): void {
      askedFor.clear()
      bounds.keep(segments)
      data.keep(segments)
    },
  }
}

/** Documents that a request looks at, and those of the segment. */
interface Wanted {
  wanted: number
  size: number
}

const WORTH = 8
/** The most bytes of a document in a coded column, of which some are another's too. */
const CODED_BYTES = 10
export const NO_ADDRESSES: ColumnData = {
  ...{ count: 0, width: 2, values: new Uint16Array(0), base: 0, bytes: 0 },
  dictionary: Float64Array.of(Number.NaN),
}

/** Above the numbers of all stored columns. */
const FIRST_CODED = 2 ** 20
const codedAs = (field: number): number => FIRST_CODED + field

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

/** Turns posting lists of addresses into a column, whose dictionary begins with NaN for none. */
export const readAddressColumn = ({
  postings,
  segment: { id, size },
  argument: { of, slot },
  ofSignature,
}: AddressColumnOptions): ColumnData | undefined => {
  const codes = new Uint32Array(size)
  const addresses = [Number.NaN]
  /** By field: whether its postings belong to the column. */
  const isMeant: (boolean | undefined)[] = []
  postings.each(id, termOf(1, 0), termOf(HASHED, 0) - 1, cursor => {
    const { term } = cursor
    const field = fieldOfTerm(term)
    if (field < FIRST_ARGUMENT_FIELD) return
    const argument = argumentOf(field)
    if (argument.slot !== slot) return
    isMeant[argument.signature] ??= ofSignature(argument.signature) === of
    if (!isMeant[argument.signature]) return
    const address = (term - field) / FIELDS_PER_VALUE
    // Terms ascend by address.
    if (address !== addresses.at(-1)) addresses.push(address)
    const code = addresses.length - 1
    if (cursor.count === 1) codes[cursor.ordinal] = code
    else for (const ordinal of postings.ordinalsOf(id, cursor)) codes[ordinal] = code
  })
  return addresses.length === 1 ? undefined : columnOfCodes(codes, Float64Array.from(addresses))
}
