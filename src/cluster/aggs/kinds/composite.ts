import type { CompositeSource, SpecOf } from '../../../query/aggs/ast.ts'
import { compositePart } from '../../../query/aggs/buckets/composite.ts'
import type { Value as Shown } from '../../../query/aggs/result.ts'
import type { Value } from '../../../query/ast.ts'
import { notInCluster } from '../../refused.ts'
import { type Answered, countIn, listIn, objectIn } from '../answer.ts'
import { fieldOf, plain, valueFrom } from '../fields.ts'
import type { ClusterAggregation } from '../kind.ts'
import { rounded } from './histogram.ts'

export const composite: ClusterAggregation<'composite'> = {
  ask: ({ sources, size, after }) => ({
    composite: {
      size,
      sources: sources.map((source, i) => ({ [nameOfSource(i)]: asked(source) })),
      ...(after && {
        after: Object.fromEntries(after.map((value, i) => [nameOfSource(i), partOf(value, sources[i]!)])),
      }),
    },
  }),
  read({ sources }, found, reading) {
    const buckets = listIn(found, 'buckets').map(bucket => ({
      key: [['key', keyOf(objectIn(bucket, 'key'), sources)]] as [string, Shown][],
      docCount: countIn(bucket),
      results: reading.inner(bucket, JSON.stringify(bucket.key, asText)),
    }))
    reading.count(buckets.length)
    const last = buckets.at(-1)
    return {
      is: 'buckets',
      type: 'composite',
      members: last === undefined ? [] : [['after_key', last.key[0]![1]]],
      keyed: false,
      buckets,
    }
  },
}

const asText = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)

export const nameOfSource = (place: number): string => `s${place}`

const asked = (source: CompositeSource): object => {
  const { values, descending, missingBucket } = source
  if (values.meta !== undefined)
    throw notInCluster('a [composite] of names of indices', 'search one entity, or use [terms]')
  const shared = {
    field: fieldOf(values),
    order: descending ? 'desc' : 'asc',
    ...(missingBucket && { missing_bucket: true }),
  }
  switch (source.by) {
    case 'terms':
      // Dates that are not rounded would be written as the field writes them.
      return values.type === 'date'
        ? { date_histogram: { ...shared, fixed_interval: '1ms', format: 'epoch_millis' } }
        : { terms: shared }
    case 'histogram':
      return { histogram: { ...shared, interval: source.interval } }
    case 'date_histogram':
      return { date_histogram: { ...shared, ...rounded(source.rounding.of), format: 'epoch_millis' } }
  }
}

const partOf = (value: Value | null, { values, by }: CompositeSource): unknown => {
  if (value === null) return null
  return by === 'date_histogram' || values.type === 'date' ? String(value) : plain(value)
}

const keyOf = (key: Answered | undefined, sources: SpecOf<'composite'>['sources']): ReadonlyMap<string, Shown> =>
  new Map(
    sources.map((source, i) => {
      const found = key?.[nameOfSource(i)]
      const isMissing = found === null || found === undefined
      const value = isMissing ? null : source.by === 'terms' ? valueFrom(found, source.values) : Number(found)
      return [source.name, compositePart(value, source)]
    }),
  )
