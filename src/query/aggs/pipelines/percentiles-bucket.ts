import { refuse } from '../../../lib/errors.ts'
import { boolean, elements, type JsonNode, list, where } from '../../json-node.ts'
import { readDouble } from '../../numbers.ts'
import type { Digest } from '../metrics/digest.ts'
import { percentilesOf } from '../metrics/percentiles.ts'
import { besideBuckets } from './beside.ts'

export const percentilesBucket = besideBuckets(
  'Percentiles of a number of the buckets: each is the number of a bucket.',
  ['percents', 'keyed'],
  ({ percents, keyed }, format) => {
    const wanted = percentsOf(percents)
    const options = { keyed: keyed === undefined || boolean(keyed), format, namesTexts: true }
    return found => {
      const sorted = found.map(({ value }) => value).sort((a, b) => a - b)
      const metric = percentilesOf({ quantile: part => nearest(sorted, part) } as Digest, wanted, options)
      return { ...metric, type: 'percentiles_bucket' }
    }
  },
  { percents: [50, 95] },
)

const nearest = (sorted: readonly number[], part: number): number =>
  sorted.length === 0 ? Number.NaN : sorted[Math.round(part * (sorted.length - 1))]!

const percentsOf = (place: JsonNode | undefined): number[] => {
  if (place === undefined) return [1, 5, 25, 50, 75, 95, 99]
  const percents = list(place, 'a list of percents').map(readDouble)
  for (const [i, percent] of percents.entries()) {
    if (percent >= 0 && percent <= 100) continue
    throw refuse(
      'action_request_validation_exception',
      `${where(elements(place)[i]!)}: percents must only contain non-null doubles from 0.0-100.0 inclusive.`,
    )
  }
  return percents
}
