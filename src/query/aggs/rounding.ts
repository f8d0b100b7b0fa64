import { DAY, type Zone } from '../time-zone.ts'
import type { CalendarUnit } from './calendar.ts'
import { type Period, type Periods, periodsOf } from './offsets.ts'

/** From instants to the buckets of a date histogram. All times are milliseconds since 1970. */
export interface Rounding {
  /** What it was made from. */
  readonly of: RoundingOf
  /** The start of the bucket in which an instant lies. */
  round(instant: number): number
  /** The start of the next bucket, from the start of one. */
  next(start: number): number
  /** At least as many buckets as lie between two instants, both included, without counting them one by one. */
  count(first: number, last: number): number
}

/** `offset`: milliseconds by which each bucket begins later. */
export interface RoundingOf {
  readonly interval: Interval
  readonly zone: Zone
  readonly offset: number
}

/** A unit of the calendar, or a length in milliseconds. */
export type Interval = CalendarUnit | number

export const createRounding = (interval: Interval, zone: Zone, offset = 0): Rounding => {
  const whole = typeof interval === 'number' ? fixed(interval, periodsOf(zone)) : calendar(interval, periodsOf(zone))
  const least = typeof interval === 'number' ? interval : interval.least
  const next = (start: number) => whole.next(start - offset) + offset
  // Instants come in the order of blocks, so that most lie in the bucket of the one before.
  let [from, until] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  return {
    of: { interval, zone, offset },
    round(instant) {
      if (instant >= from && instant < until) return from
      const start = whole.round(instant - offset) + offset
      const end = next(start)
      // Where clocks are put back, a bucket may hold two times of which one does not follow on the other.
      if (whole.round(end - 1 - offset) + offset === start) [from, until] = [start, end]
      return start
    },
    next,
    count: (first, last) => (last < first ? 0 : Math.floor((last - first) / least) + 2),
  }
}

type Whole = Pick<Rounding, 'round' | 'next'>

/** What a local time means that comes twice or never, where a period begins. `earlier` reads it in the period before. */
interface Doubt {
  skipped(local: number, period: Period, earlier: (local: number) => number): number
  twice(local: number, period: Period, earlier: (local: number) => number): number
  /** A local time before the first of those that come twice: the instant, or the local time to be looked for earlier. */
  beforeTwice?(local: number, period: Period): { instant: number } | { earlier: number }
}

/** The instant of a local time that is not after the end of the period. Long intervals begin thousands of periods earlier. */
const instantOf = (local: number, last: Period, periods: Periods, doubt: Doubt): number => {
  let sought = local
  for (let period = last; ; period = periods(period.from - 1)) {
    const { from, offset, before } = period
    if (sought >= from + Math.max(offset, before)) return sought - offset
    const earlier = (time: number) => instantOf(time, periods(from - 1), periods, doubt)
    if (offset > before && sought >= from + before) return doubt.skipped(sought, period, earlier)
    if (offset < before && sought >= from + offset) return doubt.twice(sought, period, earlier)
    if (offset >= before || !doubt.beforeTwice) continue
    const found = doubt.beforeTwice(sought, period)
    if ('instant' in found) return found.instant
    sought = found.earlier
  }
}

const fixed = (size: number, periods: Periods): Whole => {
  const floor = (local: number) => Math.floor(local / size) * size
  const doubt: Doubt = {
    skipped: (_, { from }) => from,
    twice: (local, { offset }) => local - offset,
    beforeTwice: (_, { from, before }) => ({ earlier: floor(from + before - 1) }),
  }
  const round = (instant: number) => {
    const period = periods(instant)
    return instantOf(floor(instant + period.offset), period, periods, doubt)
  }
  return { round, next: start => after(start, start + size, round) }
}

const calendar = (unit: CalendarUnit, periods: Periods): Whole => {
  const doubt = unit.least < DAY ? withinDay(unit) : MIDNIGHT
  const round = (instant: number) => {
    const period = periods(instant)
    return instantOf(unit.floor(instant + period.offset), period, periods, doubt)
  }
  if (unit.least < DAY) return { round, next: start => after(start, start + unit.least, round) }
  return {
    round,
    next(start) {
      const midnight = unit.next(unit.floor(start + periods(start).offset))
      return instantOf(midnight, periods(midnight + 2 * DAY), periods, MIDNIGHT)
    },
  }
}

/** A day begins with its first moment: the first midnight of two, or when clocks are put forward over it. */
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

/** The first start of a bucket after `start`, from an instant near it. */
const after = (start: number, near: number, round: (instant: number) => number): number => {
  const next = round(near)
  return next > start ? next : round(near + (near - start))
}
