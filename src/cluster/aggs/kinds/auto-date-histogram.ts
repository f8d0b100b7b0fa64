import { type Scale, scalesOf, timeKey } from '../../../query/aggs/buckets/auto-date-histogram.ts'
import { notInCluster } from '../../refused.ts'
import { type Answered, countIn, numberIn, objectIn } from '../answer.ts'
import { inMilliseconds, sourceOf } from '../fields.ts'
import { type ClusterAggregation, INNER } from '../kind.ts'

/** The beginnings of buckets follow from the first and the last time: these are asked for at first, and then the buckets between. */
export interface KnownStarts {
  /** Of the buckets above, by names. */
  lists: ReadonlyMap<string, readonly number[]>
}

export const startsIn = (known: unknown): KnownStarts['lists'] => (known as KnownStarts | undefined)?.lists ?? new Map()

export const endsIn = (found: Answered | undefined): [least: number, greatest: number] | undefined => {
  const [least, greatest] = ['least', 'greatest'].map(end => numberIn(objectIn(found, end)?.value) ?? undefined)
  return least === undefined || greatest === undefined ? undefined : [least, greatest]
}

/** Those of a list, by their beginnings as text; undefined where they were not asked for. */
export const bucketsOf = (found: Answered | undefined, name: string): Answered | undefined =>
  objectIn(objectIn(found, `${INNER}${name}`), 'buckets')

export const autoDateHistogram: ClusterAggregation<'auto_date_histogram'> = {
  ask({ values }, { known }) {
    const source = { ...sourceOf(values), ...inMilliseconds(values) }
    const ranges = Array.from(startsIn(known), ([name, starts]): [string, object] => [
      `${INNER}${name}`,
      {
        date_range: {
          ...source,
          keyed: true,
          ranges: starts.map((from, place) => ({
            key: String(from),
            from: String(from),
            ...(place + 1 < starts.length && { to: String(starts[place + 1]) }),
          })),
        },
      },
    ])
    return {
      filter: { match_all: {} },
      aggs: { least: { min: source }, greatest: { max: source }, ...Object.fromEntries(ranges) },
    }
  },
  read(spec, found, reading) {
    const scales = scalesOf(spec)
    const ends = endsIn(found)
    const scale = ends && scales.of(...ends)
    const starts = scale?.starts ?? []
    const buckets = scale && bucketsIn(found, scale, reading)
    reading.count(starts.length)
    return {
      is: 'buckets',
      type: 'auto_date_histogram',
      members: [],
      keyed: false,
      buckets: starts.map(key => {
        const bucket = objectIn(buckets, String(key))
        return { ...timeKey(key, spec), docCount: countIn(bucket), results: reading.inner(bucket, String(key)) }
      }),
      after: [['interval', scale?.name ?? scales.shortest]],
    }
  },
}

const bucketsIn = (
  found: Answered | undefined,
  { starts, name: length }: Scale,
  { known, learnt, again }: Parameters<typeof autoDateHistogram.read>[2],
): Answered | undefined => {
  const name = `${length}_${starts[0]}_${starts.length}`
  const lists = learnt(() => ({ lists: new Map<string, readonly number[]>() })).lists
  lists.set(name, starts)
  if (lists.size > MOST)
    throw notInCluster(`[auto_date_histogram] in more than ${MOST} buckets of different times`, 'use date_histogram')
  if (startsIn(known).has(name)) return bucketsOf(found, name)
  again()
  return undefined
}

/** Lists of buckets that are asked for at once. */
const MOST = 100
