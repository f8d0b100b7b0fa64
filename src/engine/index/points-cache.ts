import { damagedValue } from '../../sqlite/damage.ts'
import type { Db } from '../../sqlite/database.ts'
import type { Segment } from '../reader.ts'
import { readPointOrdinals } from './points.ts'
import { createSegmentCache, type SegmentState } from './segment-cache.ts'

/** Caches numbers of arguments; a change of their segment invalidates them. */
export type PointsCache = ReturnType<typeof createPointsCache>

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
    capacity: () => capacity() * VALUES_SHARE,
  })
  const ordinals = createSegmentCache<Uint32Array>({
    load(segment, field) {
      const blob = selectOrdinals(segment, field)
      return blob && readPointOrdinals(blob)
    },
    bytesOf,
    capacity: () => capacity() * (1 - VALUES_SHARE),
  })
  return {
    values: values.get,
    ordinals(segment: Segment, field: number): Uint32Array {
      const found = ordinals.get(segment, field)
      if (!found || found.length !== values.get(segment, field)?.length) throw damagedValue('a column of the index')
      return found
    },
    keep(segments: readonly Segment[]): void {
      values.keep(segments)
      ordinals.keep(segments)
    },
  }
}

/** Share of values: hits are looked for in few segments. */
const VALUES_SHARE = 5 / 6

/** A column of `num`, ascending: 64-bit integers in even fields, doubles in odd ones. */
export interface SortedPoints {
  readonly length: number
  readonly byteLength: number
  readonly values: BigInt64Array | Float64Array
  /** Index of the first value at or after a bound; the number of values if there is none. */
  placeOf(bound: PointBound): number
}

/** The place before all values that equal this one, or behind them. */
export interface PointBound {
  value: number
  behind: boolean
  /** Halves of the least 64-bit integer at or after it, if there is one. */
  integer: { high: number; low: number } | undefined
}

export const pointBound = (value: bigint | number, behind: boolean): PointBound => {
  const least = typeof value === 'bigint' ? (behind ? value + 1n : value) : undefined
  return {
    value: Number(value),
    behind,
    integer:
      least === undefined || least > MAX_LONG
        ? undefined
        : { high: Number(least >> 32n), low: Number(BigInt.asUintN(32, least)) },
  }
}

const MAX_LONG = 2n ** 63n - 1n

export const sortedPoints = (field: number, blob: Buffer): SortedPoints => {
  if (blob.length % 8 !== 0) throw damagedValue('a column of the index')
  // A copy: the arrays must begin at multiples of their size.
  const { buffer } = new Uint8Array(blob)
  return field % 2 === 0 ? sortedIntegers(buffer) : sortedDoubles(new Float64Array(buffer))
}

/** Compared by halves: a bigint read from an array is an object. */
const sortedIntegers = (buffer: ArrayBuffer): SortedPoints => {
  const highs = new Int32Array(buffer)
  const lows = new Uint32Array(buffer)
  const length = highs.length / 2
  return {
    length,
    byteLength: buffer.byteLength,
    values: new BigInt64Array(buffer),
    placeOf({ integer }) {
      if (!integer) return length
      const { high, low } = integer
      let from = 0
      let to = length
      while (from < to) {
        const middle = (from + to) >>> 1
        const above = highs[2 * middle + 1]!
        if (above < high || (above === high && lows[2 * middle]! < low)) from = middle + 1
        else to = middle
      }
      return from
    },
  }
}

const sortedDoubles = (values: Float64Array): SortedPoints => ({
  length: values.length,
  byteLength: values.byteLength,
  values,
  placeOf({ value, behind }) {
    let from = 0
    let to = values.length
    while (from < to) {
      const middle = (from + to) >>> 1
      const other = values[middle]!
      if (other < value || (behind && other === value)) from = middle + 1
      else to = middle
    }
    return from
  },
})
