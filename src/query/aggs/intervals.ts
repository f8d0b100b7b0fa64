import { refuse } from '../../lib/errors.ts'
import { type JsonNode, named, string, unexpected, where } from '../json-node.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../time-zone.ts'
import { CALENDAR_UNITS } from './calendar.ts'
import type { Interval } from './rounding.ts'

/** The three spellings of how long a bucket of a date histogram is. */
export interface IntervalKeys {
  interval?: JsonNode
  calendar_interval?: JsonNode
  fixed_interval?: JsonNode
}

/** `interval` is a unit of the calendar where it can be one, and else a fixed length. */
export const readInterval = (place: JsonNode, keys: IntervalKeys): Interval => {
  const { interval, calendar_interval: calendar, fixed_interval: fixed } = keys
  const [first, second] = [interval, calendar, fixed].filter(at => at !== undefined)
  if (first === undefined) {
    throw unexpected(place, 'an object with [calendar_interval] (minute to year) or [fixed_interval] (such as "30m")')
  }
  if (second !== undefined) {
    throw refuse(
      'illegal_argument_exception',
      `${where(second)}: Cannot use it together with ${where(first)}. Keep one of them.`,
    )
  }
  if (calendar) return readCalendar(calendar)
  if (fixed) return readFixed(fixed, string(fixed, EXPECTED))
  if (typeof first.value === 'number') return positive(first, first.value)
  const text = string(first, EXPECTED)
  return CALENDAR_UNITS.get(text) ?? readFixed(first, text)
}

const EXPECTED = 'a length of time, such as "30m"'

const readCalendar = (place: JsonNode): Interval => {
  const text = string(place, 'a unit of the calendar, such as "day"')
  const unit = CALENDAR_UNITS.get(text)
  if (unit) return unit
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: The supplied interval ${named(text)} could not be parsed as a calendar interval. Units are ${[...CALENDAR_UNITS.keys()].join(', ')}; a multiple of one is a [fixed_interval].`,
  )
}

const readFixed = (place: JsonNode, text: string): number => {
  const length = lengthOf(text)
  if (length !== undefined) return positive(place, length)
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: Unable to parse interval ${named(text)}. A fixed length is a whole number with one of the units ms, s, m, h, d, such as "90m"; months, quarters and years are units of the calendar.`,
  )
}

const positive = (place: JsonNode, length: number): number => {
  if (length >= 1) return Math.floor(length)
  throw refuse('illegal_argument_exception', `${where(place)}: Zero or negative time interval not supported.`)
}

/** Milliseconds of a text such as `90m`; units are taken in any letter case but for `M`, which would be months. */
export const lengthOf = (text: string): number | undefined => {
  const [, digits, unit] = /^\s*([+-]?\d{1,18})\s*(nanos|micros|ms|s|m|h|d)\s*$/i.exec(text) ?? []
  if (digits === undefined || unit === 'M') return undefined
  const length = Number(digits) * LENGTHS[unit!.toLowerCase() as keyof typeof LENGTHS]
  return Math.max(-FURTHEST, Math.min(FURTHEST, length))
}

const LENGTHS = { nanos: 1e-6, micros: 1e-3, ms: 1, s: SECOND, m: MINUTE, h: HOUR, d: DAY }
const FURTHEST = Number.MAX_SAFE_INTEGER

/** By how much buckets begin later: `+6h`, `-1d`, or milliseconds. */
export const readOffset = (place: JsonNode | undefined): number => {
  if (place === undefined) return 0
  if (typeof place.value === 'number') return place.value
  const text = string(place, 'an offset, such as "+6h"')
  const length = text === '0' ? 0 : lengthOf(text)
  if (length !== undefined) return length
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: failed to parse ${named(text)} as an offset. Write a whole number with one of the units ms, s, m, h, d, such as "+6h" or "-1d".`,
  )
}
