import { countIn, listIn } from '../answer.ts'
import type { ClusterAggregation } from '../kind.ts'

export const adjacencyMatrix: ClusterAggregation<'adjacency_matrix'> = {
  ask: ({ filters }, { query }) => ({
    adjacency_matrix: { filters: Object.fromEntries(filters.map((one, i) => [placed(i), query(one.query)])) },
  }),
  read({ filters, separator }, found, reading) {
    const nameOf = (key: string): string => {
      const [first, second] = key.split('&').map(place => filters[Number(place)]!.name)
      return second === undefined ? first! : `${first}${separator}${second}`
    }
    const buckets = listIn(found, 'buckets').map(bucket => ({
      name: nameOf(String(bucket.key)),
      ...{ docCount: countIn(bucket), results: reading.inner(bucket, String(bucket.key)) },
    }))
    reading.count(buckets.length)
    return {
      is: 'buckets',
      type: 'adjacency_matrix',
      members: [],
      keyed: false,
      buckets: buckets
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
        .map(({ name, ...rest }) => ({ key: [['key', name]], ...rest })),
    }
  },
}

/** In the order of the filters, also as text. */
const placed = (place: number): string => String(place).padStart(3, '0')
