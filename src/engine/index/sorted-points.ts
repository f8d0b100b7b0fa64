import { impossible } from '../../sqlite/damage.ts'

/** The values of a column of `num` in ascending order, to be searched: integers of 64 bits in even fields, doubles in odd ones. */
export interface SortedPoints {
  readonly length: number
  readonly byteLength: number
  /** Of the first value that comes from a bound on; the number of values where none does. */
  placeOf(bound: PointBound): number
}

/** Where a range of points begins or ends: before all values that are equal to this one, or behind them. */
export interface PointBound {
  value: number
  behind: boolean
  /** Upper and lower half of the least integer that comes from it on; undefined where none of 64 bits does. */
  integer: { high: number; low: number } | undefined
}

/** A bound of integers is a bigint within 64 bits. */
export const pointBound = (value: bigint | number, behind: boolean): PointBound => {
  const least = typeof value === 'bigint' ? (behind ? value + 1n : value) : undefined
  return {
    value: Number(value),
    behind,
    integer:
      least === undefined || least > MOST
        ? undefined
        : { high: Number(least >> 32n), low: Number(BigInt.asUintN(32, least)) },
  }
}

const MOST = 2n ** 63n - 1n

/** `blob` is the column's values as they are stored. */
export const sortedPoints = (field: number, blob: Buffer): SortedPoints => {
  if (blob.length % 8 !== 0) throw impossible('a column of the index')
  // A copy: the arrays must begin at multiples of their size.
  const { buffer } = new Uint8Array(blob)
  return field % 2 === 0 ? integers(buffer) : doubles(new Float64Array(buffer))
}

/** Compared by halves: reading a bigint out of an array makes an object of it. */
const integers = (buffer: ArrayBuffer): SortedPoints => {
  const highs = new Int32Array(buffer)
  const lows = new Uint32Array(buffer)
  const length = highs.length / 2
  return {
    length,
    byteLength: buffer.byteLength,
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

const doubles = (values: Float64Array): SortedPoints => ({
  length: values.length,
  byteLength: values.byteLength,
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
