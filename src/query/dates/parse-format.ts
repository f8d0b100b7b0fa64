import { createRecentCache } from '../../lib/caches.ts'
import { type ChainsieveError, refuse } from '../../lib/errors.ts'
import { didYouMean } from '../../lib/name-matching.ts'
import { type Limits, overLimit } from '../../limits/index.ts'
import { type JsonNode, showJson, where } from '../json-node.ts'

export const DATE = 'uuuu-MM-dd'
const TIME_PATTERN = 'HH:mm:ss.SSSXXX'

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
    basic_date_time: "uuuuMMdd'T'HHmmss.SSSXXX",
    basic_date_time_no_millis: "uuuuMMdd'T'HHmmssXXX",
    ordinal_date: 'uuuu-DDD',
    hour: 'HH',
    hour_minute: 'HH:mm',
    hour_minute_second: 'HH:mm:ss',
    hour_minute_second_millis: 'HH:mm:ss.SSS',
    time: TIME_PATTERN,
    time_no_millis: 'HH:mm:ssXXX',
    t_time: `'T'${TIME_PATTERN}`,
  }),
)

export type PatternPiece = { text: string; isQuoted: boolean } | { letter: string; count: number }
const LONGEST_PATTERN = 100

export const splitPattern = (pattern: string, bad: (why: string) => ChainsieveError): PatternPiece[] => {
  if (pattern === '' || pattern.length > LONGEST_PATTERN) throw bad(`it must have 1 to ${LONGEST_PATTERN} characters`)
  return pattern.match(/'(?:[^']|'')*'|([A-Za-z])\1*|[\s\S]/g)!.map((piece): PatternPiece => {
    if (/^[A-Za-z]/.test(piece)) return { letter: piece[0]!, count: piece.length }
    if (piece === "''") return { text: "'", isQuoted: true }
    const isQuoted = piece.length > 1 && piece.startsWith("'")
    return { text: isQuoted ? piece.slice(1, -1).replaceAll("''", "'") : piece, isQuoted }
  })
}

/** A date and time as written, without missing units. `offset` from UTC is in milliseconds. */
export interface LocalTime {
  year: number
  month?: number
  day?: number
  hour?: number
  minute?: number
  second?: number
  millisecond?: number
  offset?: number
}

/** Parses to milliseconds since 1970 or to local time; undefined if the format differs. */
type DateParser = (text: string) => number | LocalTime | undefined

/** Format of dates where the query names none. */
export const DEFAULT_FORMAT = 'epoch_second||epoch_millis||strict_date_optional_time'

/**
 * Parses Elasticsearch's format names and patterns of Java letters, with alternatives by `||`. In
 * the default format, a number is seconds, or milliseconds if it is too large for seconds.
 */
export const parserOf = (place: JsonNode | undefined, format: string, limits: Limits): DateParser => {
  if (format === DEFAULT_FORMAT) return text => epoch(text) ?? parseIsoDate(text)
  const known = recentParsers.get(format)
  if (known) return known
  const parts = format.split('||', limits.dateFormats + 1)
  if (parts.length > limits.dateFormats) throw overLimit('dateFormats', limits, where(place!))
  const parsers = parts.map(part => NAMED_FORMATS.get(part) ?? parserOfPattern(place, part))
  const parser: DateParser = text => {
    for (const parse of parsers) {
      const parsed = parse(text)
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

const yearGroup = (count: number) => (count === 4 ? YEAR_GROUP : count === 1 ? '(?<year>\\d{1,9})' : undefined)
const zoneGroup = (count: number) => (count <= 3 ? ZONE_GROUP : undefined)
const READ_LETTERS = new Map<string, (count: number) => string | undefined>([
  ['y', yearGroup],
  ['u', yearGroup],
  ['M', count => digitsGroup('month', count)],
  ['d', count => digitsGroup('day', count)],
  ['H', count => digitsGroup('hour', count)],
  ['m', count => digitsGroup('minute', count)],
  ['s', count => digitsGroup('second', count)],
  ['S', count => (count <= 9 ? `(?<fraction>\\d{${count}})` : undefined)],
  ['X', zoneGroup],
  ['x', zoneGroup],
  ['Z', count => (count <= 3 ? '(?<zone>[+-]\\d{4})' : undefined)],
])

const digitsGroup = (unit: string, count: number) =>
  count === 2 ? `(?<${unit}>\\d{2})` : count === 1 ? `(?<${unit}>\\d{1,2})` : undefined

const parserOfPattern = (place: JsonNode | undefined, pattern: string): DateParser => {
  const bad = (why: string) => {
    const message = `${where(place!)}: invalid date format ${showJson(pattern)}: ${why}.${didYouMean(pattern, [...NAMED_FORMATS.keys()])}`
    return refuse(
      'illegal_argument_exception',
      `${message} Formats are patterns of y M d H m s S X Z, such as "yyyy-MM-dd HH:mm:ss", and the names ${Object.keys(DATE_FORMS).join(', ')}, epoch_second and epoch_millis.`,
    )
  }
  const seen = new Set<string>()
  const source = splitPattern(pattern, bad).map(piece => {
    if ('text' in piece) return piece.text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
    const expression = READ_LETTERS.get(piece.letter)?.(piece.count)
    if (expression === undefined) throw bad(`[${piece.letter.repeat(piece.count)}] is not supported`)
    const unit = /\?<(\w+)>/.exec(expression)![1]!
    if (seen.has(unit)) throw bad(`the ${unit} occurs twice`)
    seen.add(unit)
    return expression
  })
  return parserOfGroups(...source)
}

const READ_PATTERNS = [
  'date',
  'year_month_day',
  'year_month',
  'year',
  'date_hour',
  'date_hour_minute',
  'date_hour_minute_second',
]

const namedPatternParser = (name: string): DateParser => parserOfPattern(undefined, PATTERNS.get(name)!)

const DATE_FORMS: Record<string, DateParser> = {
  date_optional_time: parseIsoDate,
  date_optional_time_nanos: parseIsoDate,
  ...Object.fromEntries(READ_PATTERNS.map(name => [name, namedPatternParser(name)])),
  date_time: parserOfGroups(
    YEAR_GROUP,
    '-',
    MONTH_GROUP,
    '-',
    DAY_GROUP,
    'T',
    HOUR_GROUP,
    ':',
    MINUTE_GROUP,
    ':',
    SECOND_GROUP,
    `(?:${FRACTION_GROUP})?`,
    ZONE_GROUP,
  ),
  date_time_no_millis: namedPatternParser('date_time_no_millis'),
}

const NAMED_FORMATS: ReadonlyMap<string, DateParser> = new Map([
  ['epoch_second', epochOf(1000)],
  ['epoch_millis', epochOf(1)],
  ['basic_date', namedPatternParser('basic_date')],
  ['basic_date_time_no_millis', namedPatternParser('basic_date_time_no_millis')],
  ['iso8601', parseIsoDate],
  ...Object.entries(DATE_FORMS).flatMap(([name, parse]): [string, DateParser][] => [
    [name, parse],
    [`strict_${name}`, parse],
  ]),
])
