import { createRecentCache } from '../../lib/caches.ts'
import { refuse } from '../../lib/errors.ts'
import { didYouMean } from '../../lib/name-matching.ts'
import { type JsonNode, showJson, where } from '../json-node.ts'
import { monthOf, startOfMonth } from './calendar.ts'
import { DATE, FINEST, PATTERNS, splitPattern } from './parse-format.ts'
import { periodsOf } from './rounding.ts'
import { DAY, HOUR, MINUTE, SECOND, type Zone } from './time-zone.ts'

/** Formats milliseconds since 1970, and nanoseconds within the last one. */
type DateWriter = (instant: number, nanoseconds?: number) => string

/** Writes Elasticsearch's format names and patterns of Java letters; of `a||b`, the first. */
export const dateWriterOf = (place: JsonNode, format: string, zone: Zone): DateWriter => {
  const first = format.split('||', 1)[0]!
  if (first === 'epoch_millis') return epochMillis
  if (first === 'epoch_second') return epochSecond
  const name = first.startsWith('strict_') ? first.slice(7) : first
  const pattern = PATTERNS.get(name) ?? first
  const known = name === FINEST ? finest : recentWriters.get(pattern)
  const parts = known ?? compileWriter(place, pattern)
  if (!known) recentWriters.set(pattern, parts)
  const periods = periodsOf(zone)
  return (given, nanoseconds = 0) => {
    const long = toJavaLong(given)
    const instant = Number(long)
    const { offset } = periods(instant)
    const time = Number.isSafeInteger(instant) ? localTimeOf(instant, offset) : farTimeOf(long, offset)
    time.nanoseconds = nanoseconds
    return parts.map(part => (typeof part === 'string' ? part : part(time))).join('')
  }
}

/** As Java makes a long of a double. */
export const toJavaLong = (value: number): bigint =>
  Number.isNaN(value) ? 0n : value >= 2 ** 63 ? 2n ** 63n - 1n : BigInt(Math.trunc(Math.max(value, -(2 ** 63))))

const epochMillis: DateWriter = (instant, nanoseconds = 0) => {
  const millis = Math.trunc(instant)
  return withFraction(Number.isSafeInteger(millis) ? millis : toJavaLong(instant), nanoseconds, 6)
}

const epochSecond: DateWriter = (instant, nanoseconds = 0) => {
  const millis = toJavaLong(instant)
  const rest = ((millis % 1000n) + 1000n) % 1000n
  return withFraction((millis - rest) / 1000n, Number(rest) * 1e6 + nanoseconds, 9)
}

const withFraction = (whole: number | bigint, fraction: number, digits: number): string =>
  fraction === 0 ? String(whole) : `${whole}.${String(fraction).padStart(digits, '0').replace(/0+$/, '')}`

interface WrittenTime {
  local: number
  offset: number
  year: number
  month: number
  day: number
  /** Years that `local` lacks. */
  shift: number
  nanoseconds: number
}

const localTimeOf = (instant: number, offset: number): WrittenTime => {
  const local = instant + offset
  const month = monthOf(local)
  const year = Math.floor(month / 12)
  const day = Math.floor((local - startOfMonth(month)) / DAY) + 1
  return { local, offset, year, month: month - year * 12 + 1, day, shift: 0, nanoseconds: 0 }
}

/** After so many years weekdays and leap years are the same again. */
const CYCLE_YEARS = 400
const CYCLE = 146_097n * BigInt(DAY)

const farTimeOf = (instant: bigint, offset: number): WrittenTime => {
  const within = ((instant % CYCLE) + CYCLE) % CYCLE
  const time = localTimeOf(Number(within), offset)
  const shift = Number((instant - within) / CYCLE) * CYCLE_YEARS
  return { ...time, year: time.year + shift, shift }
}

const recentWriters = createRecentCache<DatePart[]>(100)

type DatePart = string | ((time: WrittenTime) => string)

const compileWriter = (place: JsonNode, pattern: string): DatePart[] => {
  const bad = (why: string) =>
    refuse(
      'illegal_argument_exception',
      `${where(place)}: invalid date format ${showJson(pattern)}: ${why}.${didYouMean(pattern, PATTERNS.keys())} Dates are written by patterns of ${[...WRITE_LETTERS.keys()].join(' ')}, such as "yyyy-MM-dd HH:mm", and by the names ${[...PATTERNS.keys()].join(', ')}, epoch_second and epoch_millis.`,
    )
  return splitPattern(pattern, bad).flatMap((piece, i): DatePart[] => {
    if ('letter' in piece) {
      const part = WRITE_LETTERS.get(piece.letter)?.(piece.count)
      if (part === undefined) throw bad(`[${piece.letter.repeat(piece.count)}] is not supported`)
      return [part]
    }
    const { text, isQuoted } = piece
    if (isQuoted) return [text]
    // Optional parts are always written; a leading 8 once marked a pattern of Java 8.
    if (text === '[' || text === ']' || (text === '8' && i === 0)) return []
    if (/^['{}#]/.test(text)) throw bad(`[${text}] has no meaning there`)
    return [text]
  })
}

const padNumber = (value: number, width: number): string =>
  value < 0 ? `-${String(-value).padStart(width, '0')}` : String(value).padStart(width, '0')

/** One letter writes as many digits as there are, two write two. */
const numberLetter =
  (most: number, of: (time: WrittenTime) => number) =>
  (count: number): DatePart | undefined =>
    count > most ? undefined : time => padNumber(of(time), count)

const yearLetter =
  (of: (time: WrittenTime) => number) =>
  (count: number): DatePart | undefined => {
    if (count === 2) return time => padNumber(((of(time) % 100) + 100) % 100, 2)
    if (count > 4) return undefined
    return time => (count === 4 && of(time) > 9999 ? `+${of(time)}` : padNumber(of(time), count))
  }

/** Names are those of Java without a language, short in any length. */
const nameLetter =
  (names: readonly string[], of: (time: WrittenTime) => number) =>
  (count: number): DatePart | undefined =>
    count > 4 ? undefined : time => names[of(time)]!

const month = (count: number): DatePart | undefined =>
  count > 2 ? nameLetter(MONTHS, time => time.month - 1)(count) : numberLetter(2, time => time.month)(count)

const quarterOf = ({ month }: WrittenTime) => Math.ceil(month / 3)
const quarter = (count: number): DatePart | undefined =>
  count === 3 ? time => `Q${quarterOf(time)}` : numberLetter(2, quarterOf)(count)

const inDay = ({ local }: WrittenTime) => local - Math.floor(local / DAY) * DAY
const hourOf = (time: WrittenTime) => Math.floor(inDay(time) / HOUR)
const dayOfYear = ({ local, year, shift }: WrittenTime) =>
  Math.floor((local - startOfMonth((year - shift) * 12)) / DAY) + 1
const weekday = ({ local }: WrittenTime) => {
  const days = Math.floor(local / DAY) + THURSDAY
  return days - Math.floor(days / 7) * 7
}

const THURSDAY = 4

/** Weeks of Java without a language begin on Sundays, the first one of a year holds 1 January. */
const weekOf = (time: WrittenTime): { year: number; week: number } => {
  const saturday = localTimeOf(time.local + (6 - weekday(time)) * DAY, 0)
  return { year: saturday.year + time.shift, week: Math.ceil(dayOfYear(saturday) / 7) }
}

const fraction = (count: number): DatePart | undefined =>
  count > 9 ? undefined : time => fractionOf(time).slice(0, count)

const fractionOf = (time: WrittenTime): string =>
  String((inDay(time) % SECOND) * 1e6 + time.nanoseconds).padStart(9, '0')

const offsetText = (offset: number, colon: string, minutes: 'always' | 'needed', withSeconds = false): string => {
  const size = Math.abs(offset)
  const [rest, seconds] = [Math.floor((size % HOUR) / MINUTE), Math.floor((size % MINUTE) / SECOND)]
  const parts = [padNumber(Math.floor(size / HOUR), 2)]
  if (minutes === 'always' || rest > 0) parts.push(padNumber(rest, 2))
  // Before time zones, every town had its own noon.
  if (withSeconds && seconds > 0) parts.push(padNumber(seconds, 2))
  return `${offset < 0 ? '-' : '+'}${parts.join(colon)}`
}

const offset =
  (zero: string | undefined) =>
  (count: number): DatePart | undefined => {
    if (count > 5) return undefined
    return ({ offset }) =>
      offset === 0 && zero !== undefined
        ? zero
        : offsetText(offset, count === 3 || count === 5 ? ':' : '', count === 1 ? 'needed' : 'always', count > 3)
  }

const zoneName = ({ offset }: WrittenTime): string =>
  offset === 0 ? 'GMT' : `GMT${offsetText(offset, ':', 'always', true)}`

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']

const WRITE_LETTERS = new Map<string, (count: number) => DatePart | undefined>([
  ['y', yearLetter(({ year }) => (year > 0 ? year : 1 - year))],
  ['u', yearLetter(({ year }) => year)],
  ['Y', yearLetter(time => weekOf(time).year)],
  ['M', month],
  ['L', month],
  ['w', numberLetter(2, time => weekOf(time).week)],
  ['d', numberLetter(2, ({ day }) => day)],
  ['D', numberLetter(3, dayOfYear)],
  ['E', nameLetter(DAYS, weekday)],
  ['e', count => (count > 2 ? nameLetter(DAYS, weekday)(count) : numberLetter(2, time => weekday(time) + 1)(count))],
  ['Q', quarter],
  ['q', quarter],
  ['a', count => (count > 1 ? undefined : time => (hourOf(time) < 12 ? 'AM' : 'PM'))],
  ['H', numberLetter(2, hourOf)],
  ['k', numberLetter(2, time => hourOf(time) || 24)],
  ['K', numberLetter(2, time => hourOf(time) % 12)],
  ['h', numberLetter(2, time => hourOf(time) % 12 || 12)],
  ['m', numberLetter(2, time => Math.floor((inDay(time) % HOUR) / MINUTE))],
  ['s', numberLetter(2, time => Math.floor((inDay(time) % MINUTE) / SECOND))],
  ['S', fraction],
  ['X', offset('Z')],
  ['x', offset(undefined)],
  [
    'Z',
    count => (count <= 3 ? ({ offset }) => offsetText(offset, '', 'always') : count === 5 ? offset('Z')(5) : zoneName),
  ],
])

const finest: DatePart[] = [
  ...compileWriter({ path: FINEST, value: FINEST }, `${DATE}'T'HH:mm:ss.`),
  time => fractionOf(time).replace(/0{1,6}$/, ''),
  ...compileWriter({ path: FINEST, value: FINEST }, 'XXX'),
]
