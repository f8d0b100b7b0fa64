import type { SpecOf } from '../../query/aggs/ast.ts'
import { CALENDAR_UNITS } from '../../query/aggs/calendar.ts'
import type { Bucket, Buckets } from '../../query/aggs/result.ts'
import { createRounding, type Rounding } from '../../query/aggs/rounding.ts'
import { type Aggregator, type Context, type Inner, resultsOf, type State } from './aggregator.ts'
import { group, type Rows } from './group.ts'
import { createKeyed } from './keyed.ts'
import { createSource } from './sources.ts'

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
interface Scale {
  starts: number[]
  name: string
}

/** The length of buckets is known once all times are: until then each time is a bucket of its own. */
export const createAutoDateHistogram = (
  spec: SpecOf<'auto_date_histogram'>,
  inner: Inner,
  context: Context,
): Aggregator => {
  const source = createSource(spec.values, undefined, context)
  const { check } = context.reader
  const fine = createKeyed((at, batch, wantsInner) => group(source.read(at, batch), batch, wantsInner), inner, check)
  const coarse = createKeyed(
    () => {
      throw new Error('nothing is collected here')
    },
    inner,
    check,
  )
  const waiting: { state: State & Rows; owners: Uint32Array }[] = []
  const scales = new Map<number, Scale>()
  const units = UNITS.slice(
    Math.max(
      0,
      UNITS.findIndex(({ name }) => name === spec.least),
    ),
  )
  const roundings = units.map(({ unit }) => createRounding(CALENDAR_UNITS.get(unit)!, spec.zone))

  const ends = (): Map<number, [least: number, greatest: number]> => {
    const found = new Map<number, [number, number]>()
    for (const { state, owners } of waiting)
      for (let i = 0; i < state.keys.length; i++) {
        const owner = owners[state.owners[i]!]!
        const key = state.keys[i]!
        const known = found.get(owner)
        if (!known) found.set(owner, [key, key])
        else if (key < known[0]) known[0] = key
        else if (key > known[1]) known[1] = key
      }
    return found
  }

  return {
    collect: fine.collect,
    merge: (state, owners) => void waiting.push({ state: state as State & Rows, owners }),
    finish() {
      for (const [owner, [least, greatest]] of ends())
        scales.set(owner, scaleOf(least, greatest, spec.buckets, units, roundings))
      for (const { state, owners } of waiting) {
        const keys = state.keys.map((key, i) => startOf(scales.get(owners[state.owners[i]!]!)!, key))
        coarse.merge({ ...state, keys } as State, owners)
      }
      waiting.length = 0
      coarse.finish()
    },
    result(owner): Buckets {
      const scale = scales.get(owner)
      const known = new Map(Array.from(coarse.in(owner), bucket => [coarse.keys[bucket]!, bucket]))
      const starts = scale?.starts ?? []
      context.count(starts.length)
      return {
        is: 'buckets',
        type: 'auto_date_histogram',
        members: [],
        keyed: false,
        buckets: starts.map((key): Bucket => {
          const bucket = known.get(key) ?? -1
          return {
            key: [
              ...(spec.format ? [['key_as_string', spec.format(key)] as [string, string]] : []),
              ['key', BigInt(key)],
            ],
            number: key,
            docCount: coarse.counts[bucket] ?? 0,
            results: resultsOf(inner, bucket),
          }
        }),
        after: [['interval', scale?.name ?? `1${units[0]!.letter}`]],
      }
    },
    number: () => null,
    bytes: () => coarse.bytes(),
  }
}

const startOf = ({ starts }: Scale, time: number): number => {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (starts[middle]! <= time) low = middle
    else high = middle - 1
  }
  return starts[low]!
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
    const all: number[] = []
    const last = rounding.round(greatest)
    for (let key = rounding.round(least); key <= last; key = rounding.next(key)) all.push(key)
    // The last one is not counted, as Elasticsearch does not.
    if (!isLast && all.length - 1 > most) continue
    const count =
      counts.find(one => Math.ceil(all.length / one) <= wanted) ?? (all.length <= wanted ? 1 : counts.at(-1)!)
    return { starts: all.filter((_, place) => place % count === 0), name: `${count}${letter}` }
  }
  throw new Error('the last unit is always long enough')
}
