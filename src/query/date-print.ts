import { refuse } from '../lib/errors.ts'
import { didYouMean } from '../lib/nearest.ts'
import { createRecent } from '../lib/recent.ts'
import { show } from './json-node.ts'

/** Writes an instant, in milliseconds since 1970, in UTC. */
export type DatePrinter = (instant: number) => string

/**
 * What writes dates in a format: Elasticsearch's names, and patterns of Java letters. Of alternatives divided by `||` the first one is
 * written. `place` names where the format stands, for the error of one that is not known.
 */
export const printerOf = (format: string, place: string): DatePrinter => {
  const known = recent.get(format)
  if (known) return known
  const [first = ''] = format.split('||', 1)
  const printer = NAMED.get(first) ?? patternPrinter(first, place)
  recent.set(format, printer)
  return printer
}

const recent = createRecent<DatePrinter>(100)

const pad = (value: number, length: number): string => String(value).padStart(length, '0')

const iso = (instant: number): string => new Date(instant).toISOString()
const part =
  (from: number, to: number, end = ''): DatePrinter =>
  instant =>
    iso(instant).slice(from, to) + end
const compact =
  (print: DatePrinter): DatePrinter =>
  instant =>
    print(instant).replace(/[-:]/g, '')

const FORMS: Record<string, DatePrinter> = {
  date_optional_time: iso,
  date_optional_time_nanos: iso,
  date: part(0, 10),
  year_month_day: part(0, 10),
  year_month: part(0, 7),
  year: part(0, 4),
  date_hour: part(0, 13),
  date_hour_minute: part(0, 16),
  date_hour_minute_second: part(0, 19),
  date_hour_minute_second_millis: part(0, 23),
  date_hour_minute_second_fraction: part(0, 23),
  date_time: iso,
  date_time_no_millis: part(0, 19, 'Z'),
  hour: part(11, 13),
  hour_minute: part(11, 16),
  hour_minute_second: part(11, 19),
  hour_minute_second_millis: part(11, 23),
  time: part(11, 24),
  time_no_millis: part(11, 19, 'Z'),
}

const NAMED: ReadonlyMap<string, DatePrinter> = new Map([
  ['epoch_second', secondsOf],
  ['epoch_millis', String],
  ['iso8601', iso],
  ['basic_date', compact(part(0, 10))],
  ['basic_date_time', compact(iso)],
  ['basic_date_time_no_millis', compact(part(0, 19, 'Z'))],
  ...Object.entries(FORMS).flatMap(([name, print]): [string, DatePrinter][] => [
    [name, print],
    [`strict_${name}`, print],
  ]),
])

/** With a fraction where there is one, as Elasticsearch writes it. */
function secondsOf(instant: number): string {
  const rest = ((instant % 1000) + 1000) % 1000
  const seconds = (instant - rest) / 1000
  return rest === 0 ? String(seconds) : `${seconds}.${pad(rest, 3)}`
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ')
const DAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ')

type Print = (date: Date) => string

const digits =
  (value: (date: Date) => number, most = 2) =>
  (count: number): Print | undefined =>
    count > most ? undefined : date => pad(value(date), count)

const name =
  (names: readonly string[], of: (date: Date) => number) =>
  (count: number): Print | undefined =>
    count > 4 ? undefined : date => (count === 4 ? names[of(date)]! : names[of(date)]!.slice(0, 3))

const year = (count: number): Print | undefined => {
  if (count > 4) return undefined
  return date => (count === 2 ? pad(date.getUTCFullYear() % 100, 2) : pad(date.getUTCFullYear(), count))
}
const month = digits(date => date.getUTCMonth() + 1)
const monthName = name(MONTHS, date => date.getUTCMonth())
const hour = (date: Date) => date.getUTCHours()
const fixed = (texts: readonly string[]) => (count: number) => {
  const text = texts[count - 1]
  return text === undefined ? undefined : () => text
}
const startOfYear = (date: Date) => Date.UTC(date.getUTCFullYear(), 0, 1)

/** What the letters of a pattern write, by how often they stand in a row; undefined where they mean nothing known. */
const LETTERS: ReadonlyMap<string, (count: number) => Print | undefined> = new Map([
  ['y', year],
  ['u', year],
  ['M', (count: number) => (count > 2 ? monthName(count) : month(count))],
  ['L', (count: number) => (count > 2 ? monthName(count) : month(count))],
  ['d', digits(date => date.getUTCDate())],
  ['D', digits(date => Math.floor((date.getTime() - startOfYear(date)) / 86_400_000) + 1, 3)],
  ['E', name(DAYS, date => date.getUTCDay())],
  ['H', digits(hour)],
  ['k', digits(date => hour(date) || 24)],
  ['h', digits(date => hour(date) % 12 || 12)],
  ['K', digits(date => hour(date) % 12)],
  ['a', (count: number) => (count > 3 ? undefined : (date: Date) => (hour(date) < 12 ? 'AM' : 'PM'))],
  ['m', digits(date => date.getUTCMinutes())],
  ['s', digits(date => date.getUTCSeconds())],
  [
    'S',
    (count: number) =>
      count > 9 ? undefined : (date: Date) => pad(date.getUTCMilliseconds(), 3).padEnd(9, '0').slice(0, count),
  ],
  ['X', fixed(['Z', 'Z', 'Z', 'Z', 'Z'])],
  ['x', fixed(['+00', '+0000', '+00:00', '+0000', '+00:00'])],
  ['Z', fixed(['+0000', '+0000', '+0000', 'GMT', 'Z'])],
  ['z', fixed(['UTC', 'UTC', 'UTC', 'Coordinated Universal Time'])],
])

const LONGEST_PATTERN = 100

const patternPrinter = (pattern: string, place: string): DatePrinter => {
  const bad = (why: string) =>
    refuse(
      'illegal_argument_exception',
      `${place}: invalid date format ${show(pattern)}: ${why}.${didYouMean(pattern, [...NAMED.keys()])} Formats are patterns of ${[...LETTERS.keys()].join(' ')}, such as "yyyy-MM-dd HH:mm:ss", and the names ${Object.keys(FORMS).join(', ')}, epoch_second and epoch_millis.`,
    )
  if (pattern === '' || pattern.length > LONGEST_PATTERN) throw bad(`it must have 1 to ${LONGEST_PATTERN} characters`)
  const parts = pattern.match(/'(?:[^']|'')*'|([A-Za-z])\1*|[\s\S]/g)!
  const prints = parts.map((text): Print => {
    if (text === "''") return () => "'"
    if (text.length > 1 && text.startsWith("'")) {
      const literal = text.slice(1, -1).replaceAll("''", "'")
      return () => literal
    }
    if (!/^[A-Za-z]/.test(text)) return () => text
    const print = LETTERS.get(text[0]!)?.(text.length)
    if (!print) throw bad(`[${text}] is not supported`)
    return print
  })
  return instant => {
    const date = new Date(instant)
    return prints.map(print => print(date)).join('')
  }
}
