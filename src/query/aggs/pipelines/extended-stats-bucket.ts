import { type JsonNode, unexpected } from '../../json-node.ts'
import { readDouble } from '../../numbers.ts'
import { extendedStatsOf } from '../metrics/extended-stats.ts'
import { besideBuckets } from './beside.ts'
import { totalsOf } from './stats-bucket.ts'

export const extendedStatsBucket = besideBuckets(
  'As stats_bucket, with squares, variances and standard deviations.',
  ['sigma'],
  ({ sigma }, format) => {
    const deviations = sigmaOf(sigma)
    return found => extendedStatsOf(totalsOf(found), deviations, format, 'extended_stats_bucket')
  },
  { sigma: 3 },
)

const sigmaOf = (place: JsonNode | undefined): number => {
  const sigma = place === undefined ? 2 : readDouble(place)
  if (sigma < 0) throw unexpected(place!, 'a number from 0 on')
  return sigma
}
