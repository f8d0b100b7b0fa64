import { refuse } from '../../lib/errors.ts'
import { bracketName, type JsonNode, showJson, where } from '../json-node.ts'
import type { QueryBudget } from '../scope.ts'
import { CALENDAR_UNITS, monthOf, startOfMonth } from './calendar.ts'
import { DEFAULT_FORMAT, parserOf } from './parse-format.ts'
import type { LocalTime } from './resolve.ts'
import { DAY, HOUR, MINUTE, SECOND, UTC, type Zone, zoneOf } from './time-zone.ts'

/** Reads the dates and date math of a clause, in milliseconds since 1970. */
export interface DateReader {
  /**
   * Instant of a value. An open part (a day without hour, a rounding such as `/d`) becomes its
   * first millisecond, or with `up` its last.
   */
  read(place: JsonNode, text: string, up: boolean): number
}

/** Time of the request in milliseconds since 1970, and the query budget. */
export interface DateScope {
  readonly now: () => number
  readonly budget: QueryBudget
}

/** Records whether date math read the request's time, on which the answer then depends. */
export const createMoment = (time: number) => {
  let isRead = false
  return {
    now() {
      isRead = true
      return time
    },
    isRead: () => isRead,
  }
}

/**
 * Reads epoch numbers, ISO 8601 and date math (`now-7d/d`, `2020-01-01||+1M`). `format` replaces
 * the first two; `zone` applies to dates and roundings that name none.
 */
export const createDateReader = (
  options: DateScope & {
    format?: { place: JsonNode; text: string } | undefined
    zone?: { place: JsonNode; text: string } | undefined
  },
): DateReader => {
  const { budget } = options
  const zone = options.zone === undefined ? UTC : zoneOf(options.zone.place, options.zone.text, budget)
  const format = options.format?.text ?? DEFAULT_FORMAT
  const parse = parserOf(options.format?.place, format, budget.limits)

  const date = (place: JsonNode, text: string, up: boolean): number => {
    const parsed = parse(text, up)
    const zoneOfText =
      typeof parsed === 'object' && parsed.zone !== undefined ? zoneOf(place, parsed.zone, budget) : zone
    const instant = typeof parsed === 'number' ? parsed : parsed && instantOfParts(parsed, zoneOfText, up)
    if (instant === undefined || Math.abs(instant) > FURTHEST_DATE) throw notADate(place, format)
    return instant
  }

  return {
    read(place, text, up) {
      if (text.length > LONGEST_DATE) throw notADate(place, format)
      const isNow = text.startsWith('now')
      const end = isNow ? 3 : text.indexOf('||')
      if (end < 0) return date(place, text, up)
      const start = isNow ? options.now() : date(place, text.slice(0, end), false)
      return calculate(place, start, text.slice(isNow ? end : end + 2), zone, up)
    },
  }
}

/** Reads a repeated local time as the earlier instant, a skipped one by the offset before. */
const toInstant = (local: number, zone: Zone): number => {
  const before = zone(local - DAY)
  if (zone(local - before) === before) return local - before
  const after = zone(local + DAY)
  return zone(local - after) === after ? local - after : local - before
}

const instantOfParts = (parts: LocalTime, zone: Zone, up: boolean): number | undefined => {
  const { year, month = 1, day = 1 } = parts
  const months = year * 12 + month - 1
  const hour = parts.hour ?? (up ? 23 : 0)
  const minute = parts.minute ?? (up ? 59 : 0)
  const second = parts.second ?? (up ? 59 : 0)
  const millisecond = parts.millisecond ?? (up ? 999 : 0)
  if (month < 1 || month > 12 || day < 1 || day > daysIn(months)) return undefined
  if (hour > 23 || minute > 59 || second > 59) return undefined
  const local = startOfMonth(months) + (day - 1) * DAY + hour * HOUR + minute * MINUTE + second * SECOND + millisecond
  // No time zone is known beyond this.
  if (Math.abs(local) > FURTHEST_DATE - 2 * DAY) return undefined
  return parts.offset === undefined ? toInstant(local, zone) : local - parts.offset
}

/** Applies date math such as `+1M-7d/d` after `now` or `||`. */
const calculate = (place: JsonNode, start: number, math: string, zone: Zone, up: boolean): number => {
  let instant = start
  let rest = math
  while (rest !== '') {
    const [step, operator, digits, unit] = /^([+\-/])(\d{0,9})([yMwdhHms])/.exec(rest) ?? []
    if (step === undefined || (operator === '/' && digits !== '' && digits !== '1')) {
      throw refuse(
        'parse_exception',
        `${where(place)}: cannot calculate ${showJson(place.value)} from ${showJson(rest)} on. Date math is +1d, -2h or /d (rounding) in any order, without spaces, with the units y M w d h m s.`,
      )
    }
    rest = rest.slice(step.length)
    if (operator === '/') {
      const floor = startOfUnit(instant, unit!, zone)
      instant = up ? plusUnits(floor, 1, unit!, zone) - 1 : floor
    } else {
      const count = digits === '' ? 1 : Number(digits)
      instant = plusUnits(instant, operator === '-' ? -count : count, unit!, zone)
    }
    if (!(Math.abs(instant) <= FURTHEST_DATE)) {
      throw refuse('parse_exception', `${where(place)}: ${showJson(place.value)} is out of the range of dates.`)
    }
  }
  return instant
}

const plusUnits = (instant: number, count: number, unit: string, zone: Zone): number => {
  const fixed = FIXED_UNITS[unit]
  if (fixed !== undefined) return instant + count * fixed
  const local = instant + zone(instant)
  if (unit === 'w' || unit === 'd') return toInstant(local + count * (unit === 'w' ? 7 * DAY : DAY), zone)
  const before = monthOf(local)
  const month = before + count * (unit === 'y' ? 12 : 1)
  const days = Math.floor((local - startOfMonth(before)) / DAY)
  // The 31st becomes the last day of shorter months.
  const day = startOfMonth(month) + Math.min(days, daysIn(month) - 1) * DAY
  return toInstant(day + (local - Math.floor(local / DAY) * DAY), zone)
}

const startOfUnit = (instant: number, unit: string, zone: Zone): number => {
  const local = instant + zone(instant)
  const { least, floor } = CALENDAR_UNITS.get(`1${unit.replace('H', 'h')}`)!
  // Uses the offset of the instant itself: after clocks go back, an hour occurs twice.
  return least < DAY ? floor(local) - zone(instant) : toInstant(floor(local), zone)
}

const notADate = (place: JsonNode, format: string) =>
  refuse(
    'parse_exception',
    `${where(place)}: failed to parse date ${showJson(place.value)} with format ${bracketName(format)}. ${
      format === DEFAULT_FORMAT
        ? 'Write epoch seconds (1583971200), ISO-8601 (2020-03-12T00:00:00Z) or date math (now-7d/d).'
        : 'Write the date in this format, or leave the format out.'
    }`,
  )

/** Characters. Each step of date math looks up the time zone, so long texts are refused. */
const LONGEST_DATE = 256

const FIXED_UNITS: Record<string, number> = { s: SECOND, m: MINUTE, h: HOUR, H: HOUR }
/** Limit of JavaScript dates. */
const FURTHEST_DATE = 8.64e15

/** `month` counts from January of year 0. */
const daysIn = (month: number): number => (startOfMonth(month + 1) - startOfMonth(month)) / DAY
