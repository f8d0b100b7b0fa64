import { refuse } from '../../lib/errors.ts'
import type { FieldPath } from '../../mapping/index.ts'
import type { QueryValue } from '../ast.ts'
import { createDateReader } from '../dates/reader.ts'
import { UTC } from '../dates/time-zone.ts'
import { dateWriterOf } from '../dates/write-format.ts'
import { Numeral } from '../json.ts'
import { isJsonMap, type JsonNode, showJson, toScalar, where } from '../json-node.ts'
import type { SortSpec } from '../request.ts'
import type { QueryScope } from '../scope.ts'
import { GREATEST_LONG, LEAST_LONG } from '../simplify.ts'

interface SortValueOptions extends Pick<SortSpec, 'format' | 'as'> {
  field: FieldPath
  missing?: boolean
}

/** A value among those that hits are sorted by, as Elasticsearch reads those of `search_after`. */
export const readSortValue = (
  place: JsonNode,
  { field, format, as, missing = false }: SortValueOptions,
  scope: Pick<QueryScope, 'now' | 'budget'>,
): QueryValue | null => {
  const { value } = place
  if (value === null) return null
  if (isJsonMap(value) || Array.isArray(value)) throw unparsed(place, field)
  if (as === 'double') return readSortDouble(place, field)
  if (as === 'long' || (as === 'date_nanos' && (missing || typeof value !== 'string')))
    return readSortLong(place, field)
  switch (field.compare) {
    case 'long':
      return readSortLong(place, field)
    case 'integer':
      return readSortInteger(place, field)
    case 'double':
      return readSortDouble(place, field)
    case 'boolean': {
      if (value === true || value === 'true') return true
      if (value === false || value === 'false') return false
      const number = readSortLong(place, field)
      return number === 0n || number === 1n ? number === 1n : number
    }
    case 'instant': {
      // As a missing value, text is milliseconds, too.
      if (typeof value !== 'string' || missing) return Number(readSortLong(place, field))
      const date = sortDateOf(place, value, format ?? (field.kind === 'seconds' ? 'epoch_second' : undefined), scope)
      return as === 'date_nanos' ? nanosecondsOf(place, date) : date
    }
    case 'hex': {
      const text = sortTextOf(place).toLowerCase()
      if (field.encoding === 'padded' && !/^0x[0-9a-f]{64}$/.test(text)) throw unparsed(place, field)
      return text
    }
    default:
      return sortTextOf(place)
  }
}

const sortTextOf = (place: JsonNode): string => toScalar(place, 'a value that hits are sorted by')

const sortDateOf = (
  place: JsonNode,
  text: string,
  format: string | undefined,
  { now, budget }: Pick<QueryScope, 'now' | 'budget'>,
): number =>
  createDateReader({ now, budget, ...(format !== undefined && { format: { place, text: format } }) }).read(
    place,
    text,
    false,
  )

/** A long of nanoseconds covers only these years. */
const nanosecondsOf = (place: JsonNode, date: number): bigint => {
  const nanoseconds = BigInt(date) * 1_000_000n
  if (nanoseconds >= 0n && nanoseconds <= GREATEST_LONG) return nanoseconds
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: date ${showJson(place.value)} is not between 1970 and 2262-04-11T23:47:16.854775807, and cannot be told in nanoseconds.`,
  )
}

/** Truncates at the decimal point and clamps to a long, as Java does. */
const readSortLong = (place: JsonNode, field: Pick<FieldPath, 'path'>): bigint => {
  const number = truncated(place)
  if (number === undefined) throw unparsed(place, field)
  if (number < LEAST_LONG) return LEAST_LONG
  if (number > GREATEST_LONG) return GREATEST_LONG
  return number
}

const readSortInteger = (place: JsonNode, field: Pick<FieldPath, 'path'>): bigint => {
  const text = sortTextOf(place).trim()
  if (/^-?\d{1,80}$/.test(text)) return BigInt(text)
  throw unparsed(place, field)
}

/** Clients that read numbers as doubles send the greatest long as a double. */
const truncated = ({ value }: JsonNode): bigint | undefined => {
  if (typeof value === 'number') return BigInt(Math.trunc(value))
  const text = value instanceof Numeral ? value.text : typeof value === 'string' ? value.trim() : ''
  const [, digits] = /^([+-]?\d{1,400})(?:\.\d{0,400})?$/.exec(text) ?? []
  if (digits !== undefined) return BigInt(digits.replace('+', ''))
  const number = DOUBLE_TEXT.test(text) ? Number(text) : Number.NaN
  if (Number.isNaN(number)) return undefined
  return Number.isFinite(number) ? BigInt(Math.trunc(number)) : number > 0 ? GREATEST_LONG : LEAST_LONG
}

const DOUBLE_TEXT = /^[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][+-]?\d{1,4})?$/

export const readScore = (place: JsonNode): number => {
  const score = place.value === null ? 0 : readSortDouble(place, { path: '_score' })
  return Number.isFinite(score) ? score : 0
}

const readSortDouble = (place: JsonNode, field: Pick<FieldPath, 'path'>): number => {
  const text = typeof place.value === 'boolean' ? '' : sortTextOf(place).trim()
  if (!/^[+-]?Infinity$/.test(text) && !DOUBLE_TEXT.test(text)) throw unparsed(place, field)
  return Number(text)
}

const unparsed = (place: JsonNode, field: Pick<FieldPath, 'path'>) =>
  refuse(
    'illegal_argument_exception',
    `${where(place)}: Failed to parse search_after value for field [${field.path}]: ${showJson(place.value)}. Send what the last hit has in its [sort].`,
  )

export type StandInSort = Pick<SortSpec, 'fields' | 'order' | 'missing' | 'as' | 'unmapped'>

/**
 * Number that stands for a missing value: the end of the number range where it sorts, so documents
 * with this very number tie with it. Null for texts; undefined if `missing` names another value.
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
export const standsForMissing = (value: QueryValue, sort: StandInSort): boolean => {
  const standIn = standInOf(sort)
  if (standIn === null || standIn === undefined) return false
  return typeof value === 'number' ? value === Number(standIn) : value === standIn
}

export const sortDateWriter = (format: string, as: SortSpec['as']): ((value: number | bigint) => string) => {
  const write = dateWriterOf({ path: 'sort', value: null }, format, UTC)
  if (as !== 'date_nanos') return value => write(Number(value))
  return value => {
    const nanoseconds = BigInt(value)
    const within = ((nanoseconds % MILLISECOND) + MILLISECOND) % MILLISECOND
    return write(Number((nanoseconds - within) / MILLISECOND), Number(within))
  }
}

const MILLISECOND = 1_000_000n
