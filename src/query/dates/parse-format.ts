import { createRecent } from '../../lib/caches.ts'
import { didYouMean } from '../../lib/edit-distance.ts'
import { refuse } from '../../lib/errors.ts'
import { type Limits, overLimit } from '../../limits/index.ts'
import { type JsonNode, show, where } from '../json-node.ts'
import { PATTERNS, piecesOf } from './patterns.ts'

/** A date and time as it was written; what was not written is absent. `offset` from UTC in milliseconds. */
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

/** Reads a text, as an instant in milliseconds since 1970 or as local time; undefined where it has another form. */
type DateParser = (text: string) => number | LocalTime | undefined

/** What a date means where the query names no format. */
export const DEFAULT_FORMAT = 'epoch_second||epoch_millis||strict_date_optional_time'

/**
 * The parser of a format: Elasticsearch's names and patterns of Java letters, alternatives divided by `||`. Of the
 * default format, a number is seconds, or milliseconds where it is too large for seconds.
 */
export const parserOf = (place: JsonNode | undefined, format: string, limits: Limits): DateParser => {
  if (format === DEFAULT_FORMAT) return text => epoch(text) ?? ISO(text)
  const known = recent.get(format)
  if (known) return known
  const parts = format.split('||', limits.dateFormats + 1)
  if (parts.length > limits.dateFormats) throw overLimit('dateFormats', limits, where(place!))
  const parsers = parts.map(part => NAMED.get(part) ?? parserOfPattern(place, part))
  const parser: DateParser = text => {
    for (const parse of parsers) {
      const parsed = parse(text)
      if (parsed !== undefined) return parsed
    }
    return undefined
  }
  recent.set(format, parser)
  return parser
}

const recent = createRecent<DateParser>(100)

/** From here on a number is milliseconds: as seconds it would lie beyond the year 5138, as milliseconds before March 1973. */
const MILLISECONDS_FROM = 1e11

const epoch: DateParser = text => {
  const number = EPOCH.test(text) ? Number(text) : undefined
  return number && Math.floor(Math.abs(number) >= MILLISECONDS_FROM ? number : number * 1000)
}

const EPOCH = /^-?\d{1,20}(?:\.\d{0,9})?$/

const epochOf =
  (scale: number): DateParser =>
  text =>
    EPOCH.test(text) ? Math.floor(Number(text) * scale) : undefined

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

const YEAR = '(?<year>\\d{4})'
const MONTH = '(?<month>\\d{2})'
const DAY = '(?<day>\\d{2})'
const HOUR = '(?<hour>\\d{2})'
const MINUTE = '(?<minute>\\d{2})'
const SECOND = '(?<second>\\d{2})'
const FRACTION = '\\.(?<fraction>\\d{1,9})'
const ZONE = '(?<zone>Z|[+-]\\d{2}(?::?\\d{2})?)'

const of = (...parts: string[]) => byExpression(new RegExp(`^${parts.join('')}$`))

const OPTIONAL_TIME = `(?:T(?:${HOUR}(?::${MINUTE}(?::${SECOND}(?:${FRACTION})?)?)?${ZONE}?)?)?`
const ISO = of(YEAR, `(?:-${MONTH}(?:-${DAY}${OPTIONAL_TIME})?)?`)

/** Letters of a pattern, by how often they stand in a row. */
const year = (count: number) => (count === 4 ? YEAR : count === 1 ? '(?<year>\\d{1,9})' : undefined)
const zone = (count: number) => (count <= 3 ? ZONE : undefined)
const LETTERS = new Map<string, (count: number) => string | undefined>([
  ['y', year],
  ['u', year],
  ['M', count => digits('month', count)],
  ['d', count => digits('day', count)],
  ['H', count => digits('hour', count)],
  ['m', count => digits('minute', count)],
  ['s', count => digits('second', count)],
  ['S', count => (count <= 9 ? `(?<fraction>\\d{${count}})` : undefined)],
  ['X', zone],
  ['x', zone],
  ['Z', count => (count <= 3 ? '(?<zone>[+-]\\d{4})' : undefined)],
])

const digits = (unit: string, count: number) =>
  count === 2 ? `(?<${unit}>\\d{2})` : count === 1 ? `(?<${unit}>\\d{1,2})` : undefined

const parserOfPattern = (place: JsonNode | undefined, pattern: string): DateParser => {
  const bad = (why: string) => {
    const message = `${where(place!)}: invalid date format ${show(pattern)}: ${why}.${didYouMean(pattern, [...NAMED.keys()])}`
    return refuse(
      'illegal_argument_exception',
      `${message} Formats are patterns of y M d H m s S X Z, such as "yyyy-MM-dd HH:mm:ss", and the names ${Object.keys(FORMS).join(', ')}, epoch_second and epoch_millis.`,
    )
  }
  const seen = new Set<string>()
  const source = piecesOf(pattern, bad).map(piece => {
    if ('text' in piece) return piece.text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
    const expression = LETTERS.get(piece.letter)?.(piece.count)
    if (expression === undefined) throw bad(`[${piece.letter.repeat(piece.count)}] is not supported`)
    const unit = /\?<(\w+)>/.exec(expression)![1]!
    if (seen.has(unit)) throw bad(`the ${unit} occurs twice`)
    seen.add(unit)
    return expression
  })
  return of(...source)
}

/** Names that are read by the patterns that dates are written by. */
const READ = [
  'date',
  'year_month_day',
  'year_month',
  'year',
  'date_hour',
  'date_hour_minute',
  'date_hour_minute_second',
]

const byName = (name: string): DateParser => parserOfPattern(undefined, PATTERNS.get(name)!)

const FORMS: Record<string, DateParser> = {
  date_optional_time: ISO,
  date_optional_time_nanos: ISO,
  ...Object.fromEntries(READ.map(name => [name, byName(name)])),
  date_time: of(YEAR, '-', MONTH, '-', DAY, 'T', HOUR, ':', MINUTE, ':', SECOND, `(?:${FRACTION})?`, ZONE),
  date_time_no_millis: byName('date_time_no_millis'),
}

const NAMED: ReadonlyMap<string, DateParser> = new Map([
  ['epoch_second', epochOf(1000)],
  ['epoch_millis', epochOf(1)],
  ['basic_date', byName('basic_date')],
  ['basic_date_time_no_millis', byName('basic_date_time_no_millis')],
  ['iso8601', ISO],
  ...Object.entries(FORMS).flatMap(([name, parse]): [string, DateParser][] => [
    [name, parse],
    [`strict_${name}`, parse],
  ]),
])
