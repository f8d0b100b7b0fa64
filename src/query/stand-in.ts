import type { Value } from './ast.ts'
import { dateWriterOf } from './date-text.ts'
import type { Sort } from './request.ts'
import { GREATEST_LONG, LEAST_LONG } from './simplify.ts'
import { UTC } from './time-zone.ts'

export type StandInSort = Pick<Sort, 'fields' | 'order' | 'missing' | 'as' | 'unmapped'>

/**
 * The number that a missing value is sorted and shown as: the end of the range of numbers at which it comes. A document that has this very number
 * is sorted like one without a value. Null where texts are sorted; undefined where another value is named for missing ones.
 */
export const standInOf = ({
  fields,
  order,
  missing,
  as,
  unmapped,
}: StandInSort): bigint | number | null | undefined => {
  if (typeof missing !== 'string') return undefined
  const isGreatest = (order === 'asc') === (missing === '_last')
  const [field] = Object.values(fields)
  switch (as ?? field?.es ?? unmapped) {
    case 'long':
    case 'date':
    case 'boolean':
      return isGreatest ? GREATEST_LONG : LEAST_LONG
    case 'date_nanos':
      return isGreatest ? GREATEST_LONG : 0n
    case 'double':
      return isGreatest ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
    default:
      return null
  }
}

/** Whether a value is sorted like a missing one. Dates are milliseconds. */
export const standsForMissing = (value: Value, sort: StandInSort): boolean => {
  const standIn = standInOf(sort)
  if (standIn === null || standIn === undefined) return false
  return typeof value === 'number' ? value === Number(standIn) : value === standIn
}

/** Writes dates among sort values in a format. */
export const sortDateWriter = (format: string, as: Sort['as']): ((value: number | bigint) => string) => {
  const write = dateWriterOf({ path: 'sort', value: null }, format, UTC)
  if (as !== 'date_nanos') return value => write(Number(value))
  return value => {
    const nanoseconds = BigInt(value)
    const within = ((nanoseconds % MILLISECOND) + MILLISECOND) % MILLISECOND
    return write(Number((nanoseconds - within) / MILLISECOND), Number(within))
  }
}

const MILLISECOND = 1_000_000n
