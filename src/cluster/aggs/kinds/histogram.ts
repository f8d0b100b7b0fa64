import type { SpecOf } from '../../../query/aggs/ast.ts'
import { evenSteps, filledPlaces, histogramKey, type Steps } from '../../../query/aggs/buckets/histogram.ts'
import type { Bucket, Buckets } from '../../../query/aggs/result.ts'
import type { RoundingOf } from '../../../query/aggs/rounding.ts'
import { nameOfZone } from '../../../query/time-zone.ts'
import { type Answered, countIn, listIn, numberIn } from '../answer.ts'
import { sourceOf } from '../fields.ts'
import type { ClusterAggregation, Reading } from '../kind.ts'
import { rankedBy } from '../order.ts'

type Spec = SpecOf<'histogram'> | SpecOf<'date_histogram'>

export const histogram: ClusterAggregation<'histogram'> = {
  ask: ({ values, interval, offset }) => ({
    histogram: { ...sourceOf(values), interval, offset, min_doc_count: 1 },
  }),
  read: (spec, found, reading) => read(spec, evenSteps(spec.interval, spec.offset), found, reading),
}

export const dateHistogram: ClusterAggregation<'date_histogram'> = {
  ask: ({ values, rounding }) => ({
    date_histogram: { ...sourceOf(values), ...rounded(rounding.of), format: 'epoch_millis', min_doc_count: 1 },
  }),
  read: (spec, found, reading) => read(spec, spec.rounding, found, reading),
}

/** The members by which the cluster rounds dates. */
export const rounded = ({ interval, zone, offset }: RoundingOf): object => ({
  ...(typeof interval === 'number' ? { fixed_interval: `${interval}ms` } : { calendar_interval: interval.name }),
  time_zone: nameOfZone(zone),
  ...(offset !== 0 && { offset: `${offset}ms` }),
})

const read = (spec: Spec, steps: Steps, found: Answered | undefined, reading: Reading): Buckets => {
  const { minDocCount, order, extended, format } = spec
  const all = listIn(found, 'buckets')
    .map(bucket => ({ bucket, key: numberIn(bucket.key)! }))
    .filter(({ key }) => isInside(spec, key))
    .sort((a, b) => a.key - b.key)
  const isDate = spec.kind === 'date_histogram'
  const bucketOf = (key: number, bucket: Answered | undefined): Bucket => ({
    ...histogramKey(key, { isDate, format }),
    docCount: countIn(bucket),
    results: reading.inner(bucket, String(key)),
  })
  const places =
    minDocCount === 0
      ? filledPlaces(
          all.map(({ key }) => key),
          { steps, extended, most: reading.limits.buckets, room: reading.room },
        )
      : all.flatMap(({ bucket, key }, place): [number, number][] =>
          countIn(bucket) >= minDocCount ? [[key, place]] : [],
        )
  reading.count(places.length)
  const buckets = places.map(([key, place]) => bucketOf(key, all[place]?.bucket))
  const shared: Omit<Buckets, 'buckets'> = { is: 'buckets', type: spec.kind, members: [], keyed: spec.keyed }
  const { by, ascending } = order[0]!
  if (by === '_key') return { ...shared, buckets: ascending ? buckets : buckets.reverse() }
  const isEmpty = (_: Bucket, i: number) => places[i]![1] < 0
  const empty = buckets.filter(isEmpty)
  const real = buckets.filter((one, i) => !isEmpty(one, i)).map(one => ({ ...one, value: one.number! }))
  const ranked = rankedBy(order, real).map(({ value: _, ...one }) => one)
  return { ...shared, buckets: by === '_count' && ascending ? [...empty, ...ranked] : [...ranked, ...empty] }
}

export const isInside = (spec: Spec, key: number): boolean => {
  const { min: low = Number.NEGATIVE_INFINITY, max: high = Number.POSITIVE_INFINITY } = spec.hard ?? {}
  if (spec.kind === 'date_histogram') return key >= low && key < high
  const plain = Math.round((key - spec.offset) / spec.interval) * spec.interval
  return plain >= low && plain <= high
}
