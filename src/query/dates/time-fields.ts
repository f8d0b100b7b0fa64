import { monthOf, startOfMonth } from './calendar.ts'
import type { TimeField } from './pattern.ts'
import { DAY, HOUR, MINUTE, SECOND } from './time-zone.ts'

/** A time of the calendar, from which all its fields follow. */
export interface CalendarTime {
  /** Milliseconds since 1970 as if the clock showed UTC. */
  readonly local: number
  readonly year: number
  readonly month: number
  readonly day: number
  /** Years that `local` lacks. */
  readonly shift: number
  /** Nanoseconds within the millisecond. */
  readonly nanoseconds: number
}

export const calendarTimeOf = (local: number): CalendarTime => {
  const month = monthOf(local)
  const year = Math.floor(month / 12)
  const day = Math.floor((local - startOfMonth(month)) / DAY) + 1
  return { local, year, month: month - year * 12 + 1, day, shift: 0, nanoseconds: 0 }
}

const inDay = ({ local }: CalendarTime) => local - Math.floor(local / DAY) * DAY
const hour = (time: CalendarTime) => Math.floor(inDay(time) / HOUR)
const dayOfYear = ({ local, year, shift }: CalendarTime) =>
  Math.floor((local - startOfMonth((year - shift) * 12)) / DAY) + 1

/** 1 is Monday. */
const dayOfWeek = ({ local }: CalendarTime) => {
  const days = Math.floor(local / DAY) + THURSDAY - 1
  return days - Math.floor(days / 7) * 7 + 1
}
const THURSDAY = 4

/** A week belongs to the year of its Thursday. */
const thursdayOf = (time: CalendarTime) => calendarTimeOf(time.local + (THURSDAY - dayOfWeek(time)) * DAY)

const nanosecond = (time: CalendarTime) => (inDay(time) % SECOND) * 1e6 + time.nanoseconds

export const TIME_FIELDS: Record<TimeField, (time: CalendarTime) => number> = {
  era: ({ year }) => (year > 0 ? 1 : 0),
  year: ({ year }) => year,
  'year of era': ({ year }) => (year > 0 ? year : 1 - year),
  'year of weeks': time => thursdayOf(time).year + time.shift,
  week: time => Math.ceil(dayOfYear(thursdayOf(time)) / 7),
  'week of month': time => Math.floor((time.day + 10 - dayOfWeek(time)) / 7),
  quarter: ({ month }) => Math.ceil(month / 3),
  month: ({ month }) => month,
  day: ({ day }) => day,
  'day of year': dayOfYear,
  'day of week': dayOfWeek,
  'day in its week of the month': ({ day }) => ((day - 1) % 7) + 1,
  'half of day': time => (hour(time) < 12 ? 0 : 1),
  'hour of half': time => hour(time) % 12,
  'clock hour of half': time => hour(time) % 12 || 12,
  hour,
  'clock hour': time => hour(time) || 24,
  minute: time => Math.floor((inDay(time) % HOUR) / MINUTE),
  second: time => Math.floor((inDay(time) % MINUTE) / SECOND),
  nanosecond,
  'millisecond of day': inDay,
  'nanosecond of day': time => inDay(time) * 1e6 + time.nanoseconds,
}
