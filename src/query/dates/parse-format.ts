import { createRecentCache } from '../../lib/caches.ts'
import { refuse } from '../../lib/errors.ts'
import { didYouMean } from '../../lib/name-matching.ts'
import { type Limits, overLimit } from '../../limits/index.ts'
import { type JsonNode, showJson, where } from '../json-node.ts'
import { PATTERN_LETTERS, parseDatePattern } from './pattern.ts'
import { createPatternReader } from './pattern-reader.ts'
import type { LocalTime } from './resolve.ts'

export const DATE = 'uuuu-MM-dd'
const TIME_PATTERN = 'HH:mm:ss.SSSXXX'
const BASIC_TIME = 'HHmmss.SSSXXX'
const WEEK_DATE = "YYYY-'W'ww-e"

/** Its fraction has at least three digits. */
export const FINEST = 'date_optional_time_nanos'

/** Patterns by Elasticsearch's names, each also valid with `strict_`. */
export const PATTERNS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    date_optional_time: `${DATE}'T'${TIME_PATTERN}`,
    dateOptionalTime: `${DATE}'T'${TIME_PATTERN}`,
    [FINEST]: `${DATE}'T'${TIME_PATTERN}`,
    iso8601: `${DATE}'T'${TIME_PATTERN}`,
    date_time: `${DATE}'T'${TIME_PATTERN}`,
    date_time_no_millis: `${DATE}'T'HH:mm:ssXXX`,
    date: DATE,
    year_month_day: DATE,
    year_month: 'uuuu-MM',
    year: 'uuuu',
    date_hour: `${DATE}'T'HH`,
    date_hour_minute: `${DATE}'T'HH:mm`,
    date_hour_minute_second: `${DATE}'T'HH:mm:ss`,
    date_hour_minute_second_millis: `${DATE}'T'HH:mm:ss.SSS`,
    date_hour_minute_second_fraction: `${DATE}'T'HH:mm:ss.SSS`,
    basic_date: 'uuuuMMdd',
    basic_date_time: `uuuuMMdd'T'${BASIC_TIME}`,
    basic_date_time_no_millis: "uuuuMMdd'T'HHmmssXXX",
    basic_ordinal_date: 'uuuuDDD',
    basic_ordinal_date_time: `uuuuDDD'T'${BASIC_TIME}`,
    basic_ordinal_date_time_no_millis: "uuuuDDD'T'HHmmssXXX",
    basic_time: BASIC_TIME,
    basic_time_no_millis: 'HHmmssXXX',
    basic_t_time: `'T'${BASIC_TIME}`,
    basic_t_time_no_millis: "'T'HHmmssXXX",
    basic_week_date: "YYYY'W'wwe",
    basic_week_date_time: "YYYY'W'wwe'T'HHmmss.SSSX",
    basic_week_date_time_no_millis: "YYYY'W'wwe'T'HHmmssX",
    ordinal_date: 'uuuu-DDD',
    ordinal_date_time: `uuuu-DDD'T'${TIME_PATTERN}`,
    ordinal_date_time_no_millis: "uuuu-DDD'T'HH:mm:ssXXX",
    week_date: WEEK_DATE,
    week_date_time: `${WEEK_DATE}'T'${TIME_PATTERN}`,
    week_date_time_no_millis: `${WEEK_DATE}'T'HH:mm:ssXXX`,
    week_year: 'YYYY',
    weekyear: 'YYYY',
    weekyear_week: "YYYY-'W'ww",
    weekyear_week_day: WEEK_DATE,
    hour: 'HH',
    hour_minute: 'HH:mm',
    hour_minute_second: 'HH:mm:ss',
    hour_minute_second_millis: 'HH:mm:ss.SSS',
    hour_minute_second_fraction: 'HH:mm:ss.SSS',
    time: TIME_PATTERN,
    time_no_millis: 'HH:mm:ssXXX',
    t_time: `'T'${TIME_PATTERN}`,
    t_time_no_millis: "'T'HH:mm:ssXXX",
  }),
)

/** The pattern that a format's name stands for, or the format itself. */
export const patternOfFormat = (format: string): string => PATTERNS.get(format.replace(/^strict_/, '')) ?? format

/** Parses to milliseconds since 1970 or to local time; undefined if the format differs. */
type DateParser = (text: string, up: boolean) => number | LocalTime | undefined

/** Format of dates where the query names none. */
export const DEFAULT_FORMAT = 'epoch_second||epoch_millis||strict_date_optional_time'

/**
 * Parses Elasticsearch's format names and patterns of Java letters, with alternatives by `||`. In
 * the default format, a number is seconds, or milliseconds if it is too large for seconds.
 */
export const parserOf = (place: JsonNode | undefined, format: string, limits: Limits): DateParser => {
  if (format === DEFAULT_FORMAT) return (text, up) => epoch(text, up) ?? parseIsoDate(text, up)
  const known = recentParsers.get(format)
  if (known) return known
  // A leading 8 once marked a pattern of Java 8.
  const parts = format.replace(/^8/, '').split('||', limits.dateFormats + 1)
  if (parts.length > limits.dateFormats) throw overLimit('dateFormats', limits, where(place!))
  const parsers = parts.map(part => NAMED_FORMATS.get(part.trim()) ?? parserOfPattern(place, part.trim()))
  const parser: DateParser = (text, up) => {
    for (const parse of parsers) {
      const parsed = parse(text, up)
      if (parsed !== undefined) return parsed
    }
    return undefined
  }
  recentParsers.set(format, parser)
  return parser
}

const recentParsers = createRecentCache<DateParser>(100)

/** Least number of milliseconds: 1e11 seconds are the year 5138, 1e11 milliseconds March 1973. */
const MILLISECONDS_FROM = 1e11

const epoch: DateParser = text => {
  const number = EPOCH_NUMBER.test(text) ? Number(text) : undefined
  return number && Math.floor(Math.abs(number) >= MILLISECONDS_FROM ? number : number * 1000)
}

const EPOCH_NUMBER = /^-?\d{1,20}(?:\.\d{0,9})?$/

const epochOf =
  (scale: number): DateParser =>
  text =>
    EPOCH_NUMBER.test(text) ? Math.floor(Number(text) * scale) : undefined

const byExpression =
  (expression: RegExp): DateParser =>
  text => {
    const groups = expression.exec(text)?.groups
    return groups && localTime(groups)
  }

const localTime = (groups: Record<string, string | undefined>): LocalTime => {
  const time: LocalTime = { year: Number(groups.year ?? 1970) }
  for (const unit of ['month', 'day', 'hour', 'minute', 'second'] as const) {
    if (groups[unit] !== undefined) time[unit] = Number(groups[unit])
  }
  if (groups.fraction !== undefined) time.millisecond = Number(groups.fraction.slice(0, 3).padEnd(3, '0'))
  if (groups.zone !== undefined) time.offset = offsetOf(groups.zone)
  return time
}

const offsetOf = (zone: string): number => {
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone) ?? []
  return (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1)
}

const YEAR_GROUP = '(?<year>\\d{4})'
const MONTH_GROUP = '(?<month>\\d{2})'
const DAY_GROUP = '(?<day>\\d{2})'
const HOUR_GROUP = '(?<hour>\\d{2})'
const MINUTE_GROUP = '(?<minute>\\d{2})'
const SECOND_GROUP = '(?<second>\\d{2})'
const FRACTION_GROUP = '\\.(?<fraction>\\d{1,9})'
const ZONE_GROUP = '(?<zone>Z|[+-]\\d{2}(?::?\\d{2})?)'

const parserOfGroups = (...parts: string[]) => byExpression(new RegExp(`^${parts.join('')}$`))

const OPTIONAL_TIME = `(?:T(?:${HOUR_GROUP}(?::${MINUTE_GROUP}(?::${SECOND_GROUP}(?:${FRACTION_GROUP})?)?)?${ZONE_GROUP}?)?)?`
const parseIsoDate = parserOfGroups(YEAR_GROUP, `(?:-${MONTH_GROUP}(?:-${DAY_GROUP}${OPTIONAL_TIME})?)?`)

const parserOfPattern = (place: JsonNode | undefined, format: string): DateParser =>
  createPatternReader(parseDatePattern(patternOfFormat(format), why => badDateFormat(place!, format, why)))

export const badDateFormat = (place: JsonNode, format: string, why: string) =>
  refuse(
    'illegal_argument_exception',
    `${where(place)}: invalid date format ${showJson(format)}: ${why}.${didYouMean(format, PATTERNS.keys())} Formats are patterns of ${PATTERN_LETTERS}, such as "yyyy-MM-dd HH:mm:ss", and Elasticsearch's names, such as date, date_time, week_date, strict_date_optional_time, epoch_second and epoch_millis.`,
  )

/** Names that take more forms than they are written in. */
const DATE_FORMS: Record<string, DateParser> = {
  date_optional_time: parseIsoDate,
  date_optional_time_nanos: parseIsoDate,
  date_time: parserOfGroups(
    `${YEAR_GROUP}-${MONTH_GROUP}-${DAY_GROUP}T${HOUR_GROUP}:${MINUTE_GROUP}:${SECOND_GROUP}`,
    `(?:${FRACTION_GROUP})?${ZONE_GROUP}`,
  ),
}

const NAMED_FORMATS: ReadonlyMap<string, DateParser> = new Map([
  ['epoch_second', epochOf(1000)],
  ['epoch_millis', epochOf(1)],
  ['iso8601', parseIsoDate],
  ...Object.entries(DATE_FORMS).flatMap(([name, parse]): [string, DateParser][] => [
    [name, parse],
    [`strict_${name}`, parse],
  ]),
])
