import { countIn, objectIn } from '../answer.ts'
import type { ClusterAggregation } from '../kind.ts'

export const filters: ClusterAggregation<'filters'> = {
  ask: ({ filters, other }, { query }) => ({
    filters: {
      filters: Object.fromEntries(filters.map((one, i) => [`f${i}`, query(one.query)])),
      ...(other !== undefined && { other_bucket_key: OTHER }),
    },
  }),
  read({ filters, other }, found, reading) {
    const isNamed = filters[0]!.name !== undefined
    const all = [
      ...filters.map(({ name }, i) => ({ name, place: `f${i}` })),
      ...(other === undefined ? [] : [{ name: other, place: OTHER }]),
    ]
    const buckets = objectIn(found, 'buckets')
    reading.count(all.length)
    return {
      is: 'buckets',
      type: 'filters',
      members: [],
      keyed: isNamed,
      buckets: all.map(({ name, place }) => {
        const bucket = objectIn(buckets, place)
        return {
          ...(isNamed && { name: name! }),
          ...{ key: [], docCount: countIn(bucket), results: reading.inner(bucket, place) },
        }
      }),
    }
  },
}

const OTHER = 'other'
