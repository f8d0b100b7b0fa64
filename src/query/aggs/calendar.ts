import { DAY, HOUR, MINUTE, SECOND } from '../time-zone.ts'

/** Units of the calendar. A local time is what a clock shows, counted in milliseconds since 1970 as if it were UTC. */
export interface CalendarUnit {
  readonly name: 'second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year'
  /** Shortest length in milliseconds. */
  readonly least: number
  /** The start of the unit in which a local time lies. */
  floor(local: number): number
  /** The start of the next unit, from the start of one. */
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

const UNITS = [
  even('second', SECOND),
  even('minute', MINUTE),
  even('hour', HOUR),
  even('day', DAY),
  even('week', 7 * DAY, MONDAY),
  ofMonths('month', 1, 28),
  ofMonths('quarter', 3, 90),
  ofMonths('year', 12, 365),
]

const SHORT = ['1s', '1m', '1h', '1d', '1w', '1M', '1q', '1y']

/** By all their spellings in `calendar_interval` and `interval`. */
export const CALENDAR_UNITS: ReadonlyMap<string, CalendarUnit> = new Map(
  UNITS.flatMap((unit, i) => [
    [SHORT[i]!, unit],
    [unit.name, unit],
  ]),
)

/** Months since January of the year 0. Days are counted from 1 March of the year 0 on, so that a leap day comes last. */
const monthOf = (local: number): number => {
  const days = Math.floor(local / DAY) + DAYS_BEFORE_1970
  const era = Math.floor(days / ERA)
  const day = days - era * ERA
  const year = Math.floor((day - Math.floor(day / 1460) + Math.floor(day / 36_524) - Math.floor(day / 146_096)) / 365)
  const dayOfYear = day - (365 * year + Math.floor(year / 4) - Math.floor(year / 100))
  return (era * 400 + year) * 12 + Math.floor((5 * dayOfYear + 2) / 153) + 2
}

const startOfMonth = (month: number): number => {
  const since = month - 2
  const years = Math.floor(since / 12)
  const days = years * 365 + Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400)
  return (days + Math.floor((153 * (since - years * 12) + 2) / 5) - DAYS_BEFORE_1970) * DAY
}

const ERA = 146_097
const DAYS_BEFORE_1970 = 719_468
