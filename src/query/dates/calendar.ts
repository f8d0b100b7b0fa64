import { refuse } from '../../lib/errors.ts'
import { bracketName, type JsonNode, toText, unexpected, where } from '../json-node.ts'
import type { Interval } from './rounding.ts'
import { TIME_UNIT_MS, type TimeUnit } from './time-value.ts'
import { DAY, HOUR, MINUTE, SECOND } from './time-zone.ts'

interface IntervalKeys {
  interval?: JsonNode | undefined
  calendar_interval?: JsonNode | undefined
  fixed_interval?: JsonNode | undefined
}

/** Reads `interval` as a calendar unit if possible, else as a fixed length. */
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
  if (fixed) return readFixed(fixed, toText(fixed, EXPECTED_INTERVAL))
  if (typeof first.value === 'number') return positive(first, first.value)
  const text = toText(first, EXPECTED_INTERVAL)
  return CALENDAR_UNITS.get(text) ?? readFixed(first, text)
}

const EXPECTED_INTERVAL = 'a length of time, such as "30m"'

const readCalendar = (place: JsonNode): Interval => {
  const text = toText(place, 'a unit of the calendar, such as "day"')
  const unit = CALENDAR_UNITS.get(text)
  if (unit) return unit
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: The supplied interval ${bracketName(text)} could not be parsed as a calendar interval. Units are ${[...CALENDAR_UNITS.keys()].join(', ')}; a multiple of one is a [fixed_interval].`,
  )
}

const readFixed = (place: JsonNode, text: string): number => {
  const length = parseLength(text)
  if (length !== undefined) return positive(place, length)
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: Unable to parse interval ${bracketName(text)}. A fixed length is a whole number with one of the units ms, s, m, h, d, such as "90m"; months, quarters and years are units of the calendar.`,
  )
}

const positive = (place: JsonNode, length: number): number => {
  if (length >= 1) return Math.floor(length)
  throw refuse('illegal_argument_exception', `${where(place)}: Zero or negative time interval not supported.`)
}

/** Milliseconds of a text such as `90m`, with units in any letter case but for `M` (months). */
export const parseLength = (text: string): number | undefined => {
  const [, digits, unit] = /^\s*([+-]?\d{1,18})\s*(nanos|micros|ms|s|m|h|d)\s*$/i.exec(text) ?? []
  if (digits === undefined || unit === 'M') return undefined
  const length = Number(digits) * TIME_UNIT_MS[unit!.toLowerCase() as TimeUnit]
  return Math.max(-LONGEST_LENGTH, Math.min(LONGEST_LENGTH, length))
}

const LONGEST_LENGTH = Number.MAX_SAFE_INTEGER

/** Milliseconds by which buckets start later: `+6h`, `-1d` or a number. */
export const readOffset = (place: JsonNode | undefined): number => {
  if (place === undefined) return 0
  if (typeof place.value === 'number') return place.value
  const text = toText(place, 'an offset, such as "+6h"')
  const length = text === '0' ? 0 : parseLength(text)
  if (length !== undefined) return length
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: failed to parse ${bracketName(text)} as an offset. Write a whole number with one of the units ms, s, m, h, d, such as "+6h" or "-1d".`,
  )
}

/** A calendar unit. Local times are milliseconds since 1970 as if the clock showed UTC. */
export interface CalendarUnit {
  readonly name: 'second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year'
  readonly least: number
  floor(local: number): number
  next(start: number): number
}

const even = (name: CalendarUnit['name'], size: number, first = 0): CalendarUnit => ({
  name,
  least: size,
  floor: local => Math.floor((local - first) / size) * size + first,
  next: start => start + size,
})

const ofMonths = (name: CalendarUnit['name'], count: number, days: number): CalendarUnit => ({
  name,
  least: days * DAY,
  floor: local => startOfMonth(Math.floor(monthOf(local) / count) * count),
  next: start => startOfMonth(monthOf(start) + count),
})

/** 1970 began on a Thursday, and weeks begin on Mondays. */
const MONDAY = -3 * DAY

const CALENDAR_UNIT_LIST = [
  even('second', SECOND),
  even('minute', MINUTE),
  even('hour', HOUR),
  even('day', DAY),
  even('week', 7 * DAY, MONDAY),
  ofMonths('month', 1, 28),
  ofMonths('quarter', 3, 90),
  ofMonths('year', 12, 365),
]

const SHORT_UNIT_NAMES = ['1s', '1m', '1h', '1d', '1w', '1M', '1q', '1y']

export const CALENDAR_UNITS: ReadonlyMap<string, CalendarUnit> = new Map(
  CALENDAR_UNIT_LIST.flatMap((unit, i) => [
    [SHORT_UNIT_NAMES[i]!, unit],
    [unit.name, unit],
  ]),
)

/** Months since January of year 0. Days count from 1 March of year 0, so leap days come last. */
export const monthOf = (local: number): number => {
  const days = Math.floor(local / DAY) + DAYS_BEFORE_1970
  const era = Math.floor(days / ERA)
  const day = days - era * ERA
  const year = Math.floor((day - Math.floor(day / 1460) + Math.floor(day / 36_524) - Math.floor(day / 146_096)) / 365)
  const dayOfYear = day - (365 * year + Math.floor(year / 4) - Math.floor(year / 100))
  return (era * 400 + year) * 12 + Math.floor((5 * dayOfYear + 2) / 153) + 2
}

/** Converts months since January of year 0 to milliseconds since 1970. */
export const startOfMonth = (month: number): number => {
  const since = month - 2
  const years = Math.floor(since / 12)
  const days = years * 365 + Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400)
  return (days + Math.floor((153 * (since - years * 12) + 2) / 5) - DAYS_BEFORE_1970) * DAY
}

const ERA = 146_097
const DAYS_BEFORE_1970 = 719_468
