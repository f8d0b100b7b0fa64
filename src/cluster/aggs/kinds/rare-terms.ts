import { rareTermsType, termKey } from '../../../query/aggs/buckets/terms.ts'
import { countIn, listIn } from '../answer.ts'
import { valueFrom } from '../fields.ts'
import type { ClusterAggregation } from '../kind.ts'
import { askMore, mostOf } from '../most.ts'
import { rankedBy } from '../order.ts'
import { chosen, isWanted } from './terms.ts'

/** The cluster's own aggregation of this name leaves out terms by chance, where there are many. */
export const rareTerms: ClusterAggregation<'rare_terms'> = {
  ask(spec, asking) {
    const most = mostOf(asking)
    return { terms: { ...chosen(spec), size: most, shard_size: most, order: { _key: 'asc' } } }
  },
  read(spec, found, reading) {
    const { values, maxDocCount } = spec
    const isWhole = countIn(found, 'sum_other_doc_count') === 0
    if (!isWhole) askMore(reading)
    const rare = (isWhole ? listIn(found, 'buckets') : [])
      .filter(isWanted(spec))
      .filter(bucket => countIn(bucket) <= maxDocCount)
      .map(bucket => ({
        value: valueFrom(bucket.key, values),
        docCount: countIn(bucket),
        results: reading.inner(bucket, String(bucket.key)),
      }))
    reading.count(rare.length)
    return {
      is: 'buckets',
      type: rareTermsType(values.type),
      members: [],
      keyed: false,
      buckets: rankedBy([{ by: '_count', ascending: true }], rare).map(({ value, docCount, results }) => ({
        key: termKey(value, spec),
        ...(values.type !== 'keyword' && { number: Number(value) }),
        ...{ docCount, results },
      })),
    }
  },
}
