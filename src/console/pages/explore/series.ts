import { at } from '../../api/json.ts'
import type { Hit, SearchAnswer } from '../../api/wire.ts'
import type { Series } from '../../parts/chart.tsx'
import { dateOf } from '../../parts/time.tsx'

/** Counts over time, of what was found and of what came since. */
export const seriesOf = (answer: SearchAnswer | undefined, news: readonly Hit[]): Series | undefined => {
  const buckets = at(answer?.aggregations, 'counts.buckets')
  if (!Array.isArray(buckets) || buckets.length === 0) return undefined
  const times = buckets.map(bucket => Number(at(bucket, 'key')) / 1000)
  const counts = buckets.map(bucket => Number(at(bucket, 'doc_count')))
  const step = times.length > 1 ? times[1]! - times[0]! : Number.POSITIVE_INFINITY
  for (const { _source } of news.toReversed()) {
    const written = at(_source, 'timestamp')
    if (typeof written !== 'number' && typeof written !== 'string') continue
    const time = dateOf(written).getTime() / 1000
    // A chain that rested for long leaves a gap, not thousands of empty bars.
    while (time >= times.at(-1)! + step && times.length < MOST) {
      times.push(times.at(-1)! + step)
      counts.push(0)
    }
    const bucket = times.findLastIndex(it => it <= time)
    if (bucket >= 0) counts[bucket]!++
  }
  return { times, counts }
}

const MOST = 400
