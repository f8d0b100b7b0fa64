import type { SpecOf } from '../ast.ts'
import { CALENDAR_UNITS } from '../calendar.ts'
import type { Bucket } from '../result.ts'
import { createRounding, type Rounding } from '../rounding.ts'
import { histogramKey } from './histogram.ts'

/** Units with about their length in milliseconds, and how many of each a bucket may have: those of Elasticsearch. */
const UNITS = [
  { name: 'second', unit: '1s', letter: 's', length: 1_000, counts: [1, 5, 10, 30] },
  { name: 'minute', unit: '1m', letter: 'm', length: 60_000, counts: [1, 5, 10, 30] },
  { name: 'hour', unit: '1h', letter: 'h', length: 3_600_000, counts: [1, 3, 12] },
  { name: 'day', unit: '1d', letter: 'd', length: 86_400_000, counts: [1, 7] },
  { name: 'month', unit: '1M', letter: 'M', length: 2_592_000_000, counts: [1, 3] },
  { name: 'year', unit: '1y', letter: 'y', length: 31_536_000_000, counts: [1, 5, 10, 20, 50, 100] },
] as const

/** Beginnings of buckets, from the first to the last. */
export interface Scale {
  starts: number[]
  name: string
}

export interface Scales {
  /** That of buckets between the first and the last time. */
  of(least: number, greatest: number): Scale
  /** The name of the shortest. */
  shortest: string
}

export const scalesOf = ({ buckets, zone, least }: SpecOf<'auto_date_histogram'>): Scales => {
  const units = UNITS.slice(
    Math.max(
      0,
      UNITS.findIndex(({ name }) => name === least),
    ),
  )
  const roundings = units.map(({ unit }) => createRounding(CALENDAR_UNITS.get(unit)!, zone))
  return {
    of: (least, greatest) => scaleOf(least, greatest, buckets, units, roundings),
    shortest: `1${units[0]!.letter}`,
  }
}

/** What tells the bucket that begins then. */
export const timeKey = (
  start: number,
  { format }: Pick<SpecOf<'auto_date_histogram'>, 'format'>,
): Pick<Bucket, 'key' | 'number'> => {
  const { key, number } = histogramKey(start, { isDate: true, format })
  return { key, number }
}

/** The shortest unit of which there are few enough, and how many of it make a bucket. */
const scaleOf = (
  least: number,
  greatest: number,
  wanted: number,
  units: readonly (typeof UNITS)[number][],
  roundings: readonly Rounding[],
): Scale => {
  for (const [i, rounding] of roundings.entries()) {
    const { counts, letter, length } = units[i]!
    const most = wanted * counts.at(-1)!
    const isLast = i === roundings.length - 1
    if (!isLast && (greatest - least) / length > most * 2 + 10) continue
    const all = startsIn(rounding, least, greatest)
    // The last one is not counted, as Elasticsearch does not.
    if (!isLast && all.length - 1 > most) continue
    const count =
      counts.find(one => Math.ceil(all.length / one) <= wanted) ?? (all.length <= wanted ? 1 : counts.at(-1)!)
    return { starts: all.filter((_, place) => place % count === 0), name: `${count}${letter}` }
  }
  throw new Error('the last unit is always long enough')
}

const startsIn = (rounding: Rounding, least: number, greatest: number): number[] => {
  const all: number[] = []
  const last = rounding.round(greatest)
  for (let key = rounding.round(least); key <= last; key = rounding.next(key)) all.push(key)
  return all
}
