import { type Scale, scalesOf, timeKey } from '../../../query/aggs/buckets/auto-date-histogram.ts'
import { notInCluster } from '../../refused.ts'
import { type Answered, countIn, numberIn, objectIn } from '../answer.ts'
import { inMilliseconds, sourceOf } from '../fields.ts'
import { type ClusterAggregation, INNER } from '../kind.ts'

/** The beginnings of buckets follow from the first and the last time: these are asked for at first, and then the buckets between. */
interface KnownStarts {
  /** Of the buckets above, without those that are the same. */
  lists: (readonly number[])[]
}

export const autoDateHistogram: ClusterAggregation<'auto_date_histogram'> = {
  ask({ values }, { known }) {
    const source = { ...sourceOf(values), ...inMilliseconds(values) }
    const { lists } = (known as KnownStarts | undefined) ?? { lists: [] }
    const ranges = lists.map((starts, i): [string, object] => [
      `${INNER}${i}`,
      {
        date_range: {
          ...source,
          keyed: true,
          ranges: starts.map((from, place) => ({
            key: String(place),
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
    const ends = [objectIn(found, 'least'), objectIn(found, 'greatest')].map(end => numberIn(end?.value))
    const [least, greatest] = ends as [number | null, number | null]
    const scale = least === null || greatest === null ? undefined : scales.of(least, greatest)
    const starts = scale?.starts ?? []
    const buckets = starts.length === 0 ? undefined : bucketsIn(found, scale!, reading)
    reading.count(starts.length)
    return {
      is: 'buckets',
      type: 'auto_date_histogram',
      members: [],
      keyed: false,
      buckets: starts.map((key, place) => {
        const bucket = objectIn(buckets, String(place))
        return { ...timeKey(key, spec), docCount: countIn(bucket), results: reading.inner(bucket, String(place)) }
      }),
      after: [['interval', scale?.name ?? scales.shortest]],
    }
  },
}

const bucketsIn = (
  found: Answered | undefined,
  { starts }: Scale,
  { known, learnt, again }: Parameters<typeof autoDateHistogram.read>[2],
): Answered | undefined => {
  const is = (list: readonly number[]) => list.length === starts.length && list.every((one, i) => one === starts[i])
  const next = learnt((): KnownStarts => ({ lists: [] }))
  if (!next.lists.some(is)) next.lists.push(starts)
  if (next.lists.length > MOST)
    throw notInCluster(`[auto_date_histogram] in more than ${MOST} buckets of different times`, 'use date_histogram')
  const place = (known as KnownStarts | undefined)?.lists.findIndex(is) ?? -1
  if (place >= 0) return objectIn(objectIn(found, `${INNER}${place}`), 'buckets')
  again()
  return undefined
}

/** Lists of buckets that are asked for at once. */
const MOST = 100
