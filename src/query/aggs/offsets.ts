import { DAY, SECOND, type Zone } from '../time-zone.ts'

/** A time during which a zone's clocks show the same offset from UTC. All times in milliseconds. */
export interface Period {
  readonly from: number
  readonly until: number
  readonly offset: number
  /** The offset just before `from`, which may be the same. */
  readonly before: number
}

/** Finds the period of an instant. */
export type Periods = (instant: number) => Period

/** The periods of a zone, found as they are asked for: asking the runtime for an offset takes microseconds. */
export const periodsOf = (zone: Zone): Periods => {
  const found = known.get(zone)
  if (found) return found
  const chunks = new Map<number, readonly Period[]>()
  const chunkOf = (index: number): readonly Period[] => {
    const found = chunks.get(index)
    if (found) return found
    const periods = periodsIn(zone, index * CHUNK)
    chunks.set(index, periods)
    return periods
  }
  const periods: Periods = instant => {
    if (instant < FIRST)
      return { from: Number.NEGATIVE_INFINITY, until: FIRST, offset: zone(FIRST), before: zone(FIRST) }
    const shift = instant < LAST ? 0 : Math.ceil((instant - LAST + 1) / CYCLE) * CYCLE
    const chunk = chunkOf(Math.floor((instant - shift) / CHUNK))
    let i = 0
    while (instant - shift >= chunk[i]!.until) i++
    const period = chunk[i]!
    return shift === 0 ? period : { ...period, from: period.from + shift, until: period.until + shift }
  }
  known.set(zone, periods)
  return periods
}

const known = new WeakMap<Zone, Periods>()

const periodsIn = (zone: Zone, start: number): Period[] => {
  const periods: Period[] = []
  let [from, offset, before] = [start, zone(start), zone(start - SECOND)]
  for (let at = start + STEP; at <= start + CHUNK; at += STEP) {
    const next = zone(at)
    if (next === offset) continue
    const change = changeIn(zone, at - STEP, at)
    if (change < start + CHUNK) {
      periods.push({ from, until: change, offset, before })
      ;[from, before, offset] = [change, offset, next]
    }
  }
  periods.push({ from, until: start + CHUNK, offset, before })
  return periods
}

/** The second in which the offset changes, that of `low` being another than that of `high`. */
const changeIn = (zone: Zone, low: number, high: number): number => {
  const first = zone(low)
  while (high - low > SECOND) {
    const middle = low + Math.floor((high - low) / 2 / SECOND) * SECOND
    if (zone(middle) === first) low = middle
    else high = middle
  }
  return high
}

/** Two changes of a zone lie further apart than a step. */
const STEP = 7 * DAY
const CHUNK = 52 * STEP
/** Before it, 1767, every place had its local mean time. */
const FIRST = -204 * CHUNK
/** From the year 2398 on, calendars and so the changes repeat in 400 years. */
const LAST = 430 * CHUNK
const CYCLE = 146_097 * DAY
