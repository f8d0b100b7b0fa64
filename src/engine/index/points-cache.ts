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
    capacity: () => capacity() * ORDINALS_SHARE,
  })
  const ordinalsOf = (segment: SegmentState, field: number): Uint32Array => {
    const found = ordinals.get(segment, field)
    if (!found || found.length !== values.get(segment, field)?.length) throw damagedValue('a column of the index')
    return found
  }
  const scattered = (segment: SegmentState, field: number, size: number): Float64Array | undefined => {
    const sorted = values.get(segment, field)?.values
    if (!sorted) return undefined
    const column = new Float64Array(size).fill(Number.NaN)
    scatterPoints(sorted, ordinalsOf(segment, field), column)
    return column
  }
  const columns = createSegmentCache<Float64Array, number>({
    load: scattered,
    bytesOf,
    capacity: () => capacity() * COLUMNS_SHARE,
  })
  return {
    values: values.get,
    ordinals: ordinalsOf,
    /** By ordinal, as doubles; NaN is none. Not to be written to; cached while there is room. */
    column(segment: SegmentState, field: number, size: number): Float64Array | undefined {
      const isCached = columns.has(segment, field) || columns.hasRoom(size * 8)
      return isCached ? columns.get(segment, field, size) : scattered(segment, field, size)
    },
    keep(segments: readonly Segment[]): void {
      values.keep(segments)
      ordinals.keep(segments)
      columns.keep(segments)
    },
  }
}

/** Hits are looked for in few segments. */
const [VALUES_SHARE, ORDINALS_SHARE, COLUMNS_SHARE] = [1 / 2, 1 / 6, 1 / 3]

/** Writes sorted numbers to their ordinals. `unsafe` gives what stands for integers beyond 2^53. */
export const scatterPoints = (
  values: SortedPoints['values'],
  ordinals: Uint32Array,
  target: Float64Array,
  unsafe?: (integer: bigint) => number,
): void => {
  if (values instanceof Float64Array) {
    for (let i = 0; i < values.length; i++) target[ordinals[i]!] = values[i]!
    return
  }
  // By halves, since bigints are slow.
  const low = new Uint32Array(values.buffer, values.byteOffset, values.length * 2)
  const high = new Int32Array(values.buffer, values.byteOffset, values.length * 2)
  for (let i = 0; i < values.length; i++) {
    const value = high[2 * i + 1]! * 2 ** 32 + low[2 * i]!
    target[ordinals[i]!] = unsafe && !Number.isSafeInteger(value) ? unsafe(values[i]!) : value
  }
}

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
