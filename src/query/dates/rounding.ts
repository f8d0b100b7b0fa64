import type { CalendarUnit } from './calendar.ts'
import { DAY, SECOND, type Zone } from './time-zone.ts'

/** Maps instants to buckets of a date histogram. All times are milliseconds since 1970. */
export interface Rounding {
  readonly of: RoundingOf
  round(instant: number): number
  next(start: number): number
  /** Upper bound of the number of buckets from `first` to `last`, without counting them. */
  count(first: number, last: number): number
}

/** `offset`: milliseconds that each bucket starts later. */
export interface RoundingOf {
  readonly interval: Interval
  readonly zone: Zone
  readonly offset: number
}

export type Interval = CalendarUnit | number

export const createRounding = (interval: Interval, zone: Zone, offset = 0): Rounding => {
  const whole = typeof interval === 'number' ? fixed(interval, periodsOf(zone)) : calendar(interval, periodsOf(zone))
  const least = typeof interval === 'number' ? interval : interval.least
  const next = (start: number) => whole.next(start - offset) + offset
  // Instants arrive in block order, mostly in the bucket of the previous one.
  let [from, until] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  return {
    of: { interval, zone, offset },
    round(instant) {
      if (instant >= from && instant < until) return from
      const start = whole.round(instant - offset) + offset
      const end = next(start)
      // Where clocks go back, a bucket may consist of two separate periods.
      if (whole.round(end - 1 - offset) + offset === start) [from, until] = [start, end]
      return start
    },
    next,
    count: (first, last) => (last < first ? 0 : Math.floor((last - first) / least) + 2),
  }
}

type RoundingByZone = Pick<Rounding, 'round' | 'next'>

/** Reads local times that occur twice or never at an offset change; `earlier` reads before it. */
interface Doubt {
  skipped(local: number, period: ZonePeriod, earlier: (local: number) => number): number
  twice(local: number, period: ZonePeriod, earlier: (local: number) => number): number
  /** Reads a local time before a repeated one: an instant, or a local time to look for earlier. */
  beforeTwice?(local: number, period: ZonePeriod): { instant: number } | { earlier: number }
}

/** Searches back for the instant of a local time; long intervals may span thousands of periods. */
const instantOfLocal = (local: number, last: ZonePeriod, periods: ZonePeriods, doubt: Doubt): number => {
  let sought = local
  for (let period = last; ; period = periods(period.from - 1)) {
    const { from, offset, before } = period
    if (sought >= from + Math.max(offset, before)) return sought - offset
    const earlier = (time: number) => instantOfLocal(time, periods(from - 1), periods, doubt)
    if (offset > before && sought >= from + before) return doubt.skipped(sought, period, earlier)
    if (offset < before && sought >= from + offset) return doubt.twice(sought, period, earlier)
    if (offset >= before || !doubt.beforeTwice) continue
    const found = doubt.beforeTwice(sought, period)
    if ('instant' in found) return found.instant
    sought = found.earlier
  }
}

const fixed = (size: number, periods: ZonePeriods): RoundingByZone => {
  const floor = (local: number) => Math.floor(local / size) * size
  const doubt: Doubt = {
    skipped: (_, { from }) => from,
    twice: (local, { offset }) => local - offset,
    beforeTwice: (_, { from, before }) => ({ earlier: floor(from + before - 1) }),
  }
  const round = (instant: number) => {
    const period = periods(instant)
    return instantOfLocal(floor(instant + period.offset), period, periods, doubt)
  }
  return { round, next: start => after(start, start + size, round) }
}

const calendar = (unit: CalendarUnit, periods: ZonePeriods): RoundingByZone => {
  const doubt = unit.least < DAY ? withinDay(unit) : MIDNIGHT
  const round = (instant: number) => {
    const period = periods(instant)
    return instantOfLocal(unit.floor(instant + period.offset), period, periods, doubt)
  }
  if (unit.least < DAY) return { round, next: start => after(start, start + unit.least, round) }
  return {
    round,
    next(start) {
      const midnight = unit.next(unit.floor(start + periods(start).offset))
      return instantOfLocal(midnight, periods(midnight + 2 * DAY), periods, MIDNIGHT)
    },
  }
}

/** A day begins at the first of two midnights, or at the moment that clocks skip midnight. */
const MIDNIGHT: Doubt = {
  skipped: (_, { from }) => from,
  twice: (local, _, earlier) => earlier(local),
}

const withinDay = (unit: CalendarUnit): Doubt => ({
  skipped: (_, { from, before }, earlier) => earlier(unit.floor(from + before - 1)),
  twice: (local, { offset }) => local - offset,
  beforeTwice: (local, { offset, before }) =>
    before - offset >= unit.least ? { instant: local - offset } : { earlier: local },
})

/** First bucket start after `start`, searched from an instant near it. */
const after = (start: number, near: number, round: (instant: number) => number): number => {
  const next = round(near)
  return next > start ? next : round(near + (near - start))
}

/** A period with one offset from UTC, in milliseconds. */
interface ZonePeriod {
  readonly from: number
  readonly until: number
  readonly offset: number
  readonly before: number
}

type ZonePeriods = (instant: number) => ZonePeriod

/** Caches the periods of a zone: the runtime takes microseconds for an offset. */
export const periodsOf = (zone: Zone): ZonePeriods => {
  const found = knownPeriods.get(zone)
  if (found) return found
  const chunks = new Map<number, readonly ZonePeriod[]>()
  const chunkOf = (index: number): readonly ZonePeriod[] => {
    const found = chunks.get(index)
    if (found) return found
    const periods = periodsIn(zone, index * ZONE_CHUNK)
    chunks.set(index, periods)
    return periods
  }
  const periods: ZonePeriods = instant => {
    if (instant < FIRST_CHUNK)
      return {
        from: Number.NEGATIVE_INFINITY,
        until: FIRST_CHUNK,
        offset: zone(FIRST_CHUNK),
        before: zone(FIRST_CHUNK),
      }
    const shift = instant < LAST_CHUNK ? 0 : Math.ceil((instant - LAST_CHUNK + 1) / ZONE_CYCLE) * ZONE_CYCLE
    const chunk = chunkOf(Math.floor((instant - shift) / ZONE_CHUNK))
    let i = 0
    while (instant - shift >= chunk[i]!.until) i++
    const period = chunk[i]!
    return shift === 0 ? period : { ...period, from: period.from + shift, until: period.until + shift }
  }
  knownPeriods.set(zone, periods)
  return periods
}

const knownPeriods = new WeakMap<Zone, ZonePeriods>()

const periodsIn = (zone: Zone, start: number): ZonePeriod[] => {
  const periods: ZonePeriod[] = []
  let [from, offset, before] = [start, zone(start), zone(start - SECOND)]
  for (let at = start + ZONE_STEP; at <= start + ZONE_CHUNK; at += ZONE_STEP) {
    const next = zone(at)
    if (next === offset) continue
    const change = changeIn(zone, at - ZONE_STEP, at)
    if (change < start + ZONE_CHUNK) {
      periods.push({ from, until: change, offset, before })
      ;[from, before, offset] = [change, offset, next]
    }
  }
  periods.push({ from, until: start + ZONE_CHUNK, offset, before })
  return periods
}

/** Finds the second between `low` and `high` in which the offset changes. */
const changeIn = (zone: Zone, low: number, high: number): number => {
  const first = zone(low)
  while (high - low > SECOND) {
    const middle = low + Math.floor((high - low) / 2 / SECOND) * SECOND
    if (zone(middle) === first) low = middle
    else high = middle
  }
  return high
}

/** Changes of a zone are further apart than one step. */
const ZONE_STEP = 7 * DAY
const ZONE_CHUNK = 52 * ZONE_STEP
/** Before 1767, every place used its local mean time. */
const FIRST_CHUNK = -204 * ZONE_CHUNK
/** From 2398 on, calendars and therefore changes repeat every 400 years. */
const LAST_CHUNK = 430 * ZONE_CHUNK
const ZONE_CYCLE = 146_097 * DAY
