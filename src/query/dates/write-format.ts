import { createRecentCache } from '../../lib/caches.ts'
import { refuse } from '../../lib/errors.ts'
import { type JsonNode, where } from '../json-node.ts'
import { badDateFormat, DATE, FINEST, patternOfFormat } from './parse-format.ts'
import { type PatternPart, parseDatePattern } from './pattern.ts'
import { periodsOf } from './rounding.ts'
import { type CalendarTime, calendarTimeOf, TIME_FIELDS } from './time-fields.ts'
import { DAY, HOUR, idOfZone, MINUTE, SECOND, type Zone } from './time-zone.ts'

/** Formats milliseconds since 1970, and nanoseconds within the last one. */
type DateWriter = (instant: number, nanoseconds?: number) => string

/** Writes Elasticsearch's format names and patterns of Java letters; of `a||b`, the first. */
export const dateWriterOf = (place: JsonNode, format: string, zone: Zone): DateWriter => {
  // A leading 8 once marked a pattern of Java 8.
  const first = format.replace(/^8/, '').split('||', 1)[0]!.trim()
  if (first === 'epoch_millis') return epochMillis
  if (first === 'epoch_second') return epochSecond
  const pattern = patternOfFormat(first)
  const known = first.replace(/^strict_/, '') === FINEST ? finest : recentWriters.get(pattern)
  const parts = known ?? compileWriter(place, pattern)
  if (!known) recentWriters.set(pattern, parts)
  const periods = periodsOf(zone)
  const write: DateWriter = (given, nanoseconds = 0) => {
    const long = toJavaLong(given)
    const instant = Number(long)
    const { offset } = periods(instant)
    const time = Number.isSafeInteger(instant) ? calendarTimeOf(instant + offset) : farTimeOf(long, offset)
    const written: WrittenTime = { ...time, nanoseconds, offset, zone, place }
    return parts.map(part => (typeof part === 'string' ? part : part(written))).join('')
  }
  // Refuses what this zone cannot show before anything is counted.
  if (NAMED_ZONE.test(idOfZone(zone))) write(0)
  return write
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

interface WrittenTime extends CalendarTime {
  readonly offset: number
  readonly zone: Zone
  readonly place: JsonNode
}

/** After so many years weekdays and leap years are the same again. */
const CYCLE_YEARS = 400
const CYCLE = 146_097n * BigInt(DAY)

const farTimeOf = (instant: bigint, offset: number): CalendarTime => {
  const within = ((instant % CYCLE) + CYCLE) % CYCLE
  const time = calendarTimeOf(Number(within) + offset)
  const shift = Number((instant - within) / CYCLE) * CYCLE_YEARS
  return { ...time, year: time.year + shift, shift }
}

const recentWriters = createRecentCache<DatePart[]>(100)

type DatePart = string | ((time: WrittenTime) => string)

const compileWriter = (place: JsonNode, pattern: string): DatePart[] =>
  parseDatePattern(pattern, why => badDateFormat(place, pattern, why)).flatMap(writerOfPart)

const writerOfPart = (part: PatternPart): DatePart | DatePart[] => {
  switch (part.kind) {
    case 'literal':
      return part.text
    case 'number': {
      const of = TIME_FIELDS[part.field]
      return time => {
        const text = padNumber(of(time), part.min)
        return part.sign === 'exceeds' && of(time) > 0 && text.length > part.min ? `+${text}` : text
      }
    }
    case 'two digits':
      return time => padNumber(Math.abs(TIME_FIELDS[part.field](time)) % 100, 2)
    case 'fraction':
      return time => fractionOf(time).slice(0, part.digits)
    case 'name':
      return time => part.names[TIME_FIELDS[part.field](time) - part.first]!
    case 'offset': {
      const { zero, colon, minutes, seconds } = part
      return ({ offset }) =>
        Math.abs(offset) < (seconds ? SECOND : MINUTE) ? zero : offsetText(offset, colon, minutes, seconds)
    }
    case 'offset from GMT':
      return part.full
        ? ({ offset }) => (offset === 0 ? 'GMT' : `GMT${offsetText(offset, ':', 'always', true)}`)
        : ({ offset }) =>
            offset === 0 ? 'GMT' : `GMT${offsetText(offset, ':', 'needed', true).replace(/^(.)0/, '$1')}`
    case 'zone':
      return ({ zone, place }) => {
        const id = idOfZone(zone)
        if (NAMED_ZONE.test(id) && (part.isFull || (part.isName && id.includes('/')))) throw namesNoZone(place, id)
        return id
      }
    case 'optional':
      return part.parts.flatMap(writerOfPart)
  }
}

const NAMED_ZONE = /^[a-z][a-z]/i

const namesNoZone = (place: JsonNode, id: string) =>
  refuse(
    'illegal_argument_exception',
    `${where(place)}: names of the time zone ${id} are not known. Write VV for its id or XXX for its offset instead of z.`,
  )

const padNumber = (value: number, width: number): string =>
  value < 0 ? `-${String(-value).padStart(width, '0')}` : String(value).padStart(width, '0')

const fractionOf = (time: CalendarTime): string => String(TIME_FIELDS.nanosecond(time)).padStart(9, '0')

const offsetText = (offset: number, colon: string, minutes: 'always' | 'needed', withSeconds = false): string => {
  const size = Math.abs(offset)
  const [rest, seconds] = [Math.floor((size % HOUR) / MINUTE), Math.floor((size % MINUTE) / SECOND)]
  const parts = [padNumber(Math.floor(size / HOUR), 2)]
  // Before time zones, every town had its own noon.
  const hasSeconds = withSeconds && seconds > 0
  if (minutes === 'always' || rest > 0 || hasSeconds) parts.push(padNumber(rest, 2))
  if (hasSeconds) parts.push(padNumber(seconds, 2))
  return `${offset < 0 ? '-' : '+'}${parts.join(colon)}`
}

const finest: DatePart[] = [
  ...compileWriter({ path: FINEST, value: FINEST }, `${DATE}'T'HH:mm:ss.`),
  time => fractionOf(time).replace(/0{1,6}$/, ''),
  ...compileWriter({ path: FINEST, value: FINEST }, 'XXX'),
]
