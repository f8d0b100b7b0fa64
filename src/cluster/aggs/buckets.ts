import { topHitsRequest } from '../../engine/aggs/top-hits.ts'
import { hidesScores } from '../../engine/show/basic-hit.ts'
import type { AggregationType, CompositeSource, GivenTerms, OrderBy, SpecOf } from '../../query/aggs/ast.ts'
import {
  compositePart,
  histogramKey,
  histogramSteps,
  multiTermsKey,
  orderHistogram,
  type PlacedKey,
  rangeKey,
  rareTermsType,
  TERMS_TYPES,
  termKey,
  timeKey,
  withEmptyBuckets,
} from '../../query/aggs/buckets.ts'
import { parseMetricPath } from '../../query/aggs/order.ts'
import type { Bucket, Buckets, ResultMember, ResultValue as Shown, SingleBucket } from '../../query/aggs/result.ts'
import type { QueryValue } from '../../query/ast.ts'
import type { RoundingOf } from '../../query/dates/rounding.ts'
import { nameOfZone } from '../../query/dates/time-zone.ts'
import { javaDouble } from '../../query/numbers.ts'
import { asFloat } from '../../query/statistics.ts'
import { notInCluster } from '../deviations.ts'
import { fieldOf, inMilliseconds, plain, valueFrom, valueSource } from './fields.ts'
import {
  type AggregationAnswer,
  type AggregationAsking,
  answerCount,
  answerList,
  answerNumber,
  answerObject,
  askedName,
  type BucketReading,
  type ClusterAggregation,
  INNER,
} from './kind.ts'

/** A bucket without its sub-aggregations. */
type Key = Pick<Bucket, 'name' | 'key' | 'number'>

const bucketsOf = (
  type: string,
  found: readonly (AggregationAnswer | undefined)[],
  keyOf: (bucket: AggregationAnswer | undefined, place: number) => Key,
  { count, inner }: BucketReading,
): Buckets => {
  count(found.length)
  const buckets = found.map((bucket, place) => bucketOf(keyOf(bucket, place), bucket, inner))
  return { is: 'buckets', type, members: [], keyed: false, buckets }
}

const bucketOf = (key: Key, bucket: AggregationAnswer | undefined, inner: BucketReading['inner']): Bucket => ({
  ...key,
  ...{ docCount: answerCount(bucket), results: inner(bucket) },
})

/** The cluster takes 32-bit integers. */
const GREATEST = 2 ** 31 - 1

export const terms: ClusterAggregation<'terms'> = {
  ask(spec) {
    if (spec.minDocCount === 0)
      throw notInCluster('[terms] with [min_doc_count] 0', 'leave it out, or ask for a [composite] of all documents')
    return { terms: { ...chosen(spec), ...termLimits(spec) } }
  },
  read: (spec, found, reading) =>
    withErrors(bucketsOf(TERMS_TYPES[spec.values.type], answerList(found, 'buckets'), termOf(spec), reading), found),
}

export const multiTerms: ClusterAggregation<'multi_terms'> = {
  ask: spec => ({
    multi_terms: {
      terms: spec.sources.map(({ values }) => ({ ...valueSource(values), ...inMilliseconds(values) })),
      ...termLimits(spec),
    },
  }),
  read(spec, found, reading) {
    const keyOf = (bucket: AggregationAnswer | undefined): Key => {
      const values = (bucket!.key as readonly unknown[]).map((value, i) => valueFrom(value, spec.sources[i]!.values))
      return { key: multiTermsKey(values, spec) }
    }
    return withErrors(bucketsOf('multi_terms', answerList(found, 'buckets'), keyOf, reading), found)
  },
}

const termLimits = ({ size, shardSize, minDocCount, order }: SpecOf<'terms' | 'multi_terms'>): object => ({
  ...{ size: Math.min(size, GREATEST), shard_size: Math.min(shardSize, GREATEST), min_doc_count: minDocCount },
  order: order.map(ordered),
})

const withErrors = (buckets: Buckets, found: AggregationAnswer | undefined): Buckets => ({
  ...buckets,
  members: ['doc_count_error_upper_bound', 'sum_other_doc_count'].map(
    (name): ResultMember => [name, BigInt(answerCount(found, name))],
  ),
})

export const rareTerms: ClusterAggregation<'rare_terms'> = {
  ask: spec => ({ rare_terms: { ...chosen(spec), max_doc_count: spec.maxDocCount } }),
  read: (spec, found, reading) =>
    bucketsOf(rareTermsType(spec.values.type), answerList(found, 'buckets'), termOf(spec), reading),
}

const termOf =
  (spec: Pick<SpecOf<'terms'>, 'values' | 'format'>) =>
  (bucket: AggregationAnswer | undefined): Key => {
    const value = valueFrom(bucket!.key, spec.values)
    return { key: termKey(value, spec), ...(spec.values.type !== 'keyword' && { number: Number(value) }) }
  }

/** Path to a nested number, by the names sent to the cluster. */
const ordered = ({ by, ascending }: OrderBy): object => {
  const direction = ascending ? 'asc' : 'desc'
  if (by === '_key' || by === '_count') return { [by]: direction }
  const { steps, rest } = parseMetricPath(by)
  const path = steps
    .filter(step => step !== '_count')
    .map(askedName)
    .join('>')
  const isCount = rest === undefined || rest === 'doc_count' || rest === '_count'
  return { [isCount ? path : `${path}[${rest}]`]: direction }
}

/** The values and their filters. */
const chosen = ({ values, terms }: Pick<SpecOf<'terms'>, 'values' | 'terms'>): object => {
  const { given, partition } = terms
  const { include, exclude } = given
  checkChosen(values.meta !== undefined, include, exclude)
  if (values.meta !== undefined && values.meta !== '_id') return { field: fieldOf(values) }
  return {
    ...valueSource(values),
    ...inMilliseconds(values),
    ...(include && { include: asGiven(include) }),
    ...(exclude && { exclude: asGiven(exclude) }),
    ...(partition && { include: { partition: partition.partition, num_partitions: partition.of } }),
  }
}

const asGiven = (given: NonNullable<GivenTerms>): string | readonly string[] =>
  'regexp' in given ? given.regexp : given

/** Names of kinds are local; clusters support neither complements nor a list with an expression. */
const checkChosen = (isName: boolean, include: GivenTerms, exclude: GivenTerms): void => {
  const given = [include, exclude].filter(one => one !== undefined)
  if (isName && given.length > 0)
    throw notInCluster('[include] and [exclude] of names of indices', 'search the entities that are wanted')
  const expressions = given.flatMap(one => ('regexp' in one ? [one.regexp] : []))
  if (expressions.some(one => one.includes('~')) || (given.length > 1 && expressions.length === 1))
    throw notInCluster(
      '[include] and [exclude] with ~, or one as a list and the other as an expression',
      'put the condition into the query',
    )
}

export const histogram: ClusterAggregation<'histogram'> = {
  ask: spec => {
    const { values, interval, offset } = spec
    return { histogram: { ...valueSource(values), interval, offset, ...histogramOptions(spec) } }
  },
  read: (spec, found, reading) => readHistogram(spec, found, reading),
}

export const dateHistogram: ClusterAggregation<'date_histogram'> = {
  ask: spec => {
    const { values, rounding } = spec
    const by = { ...rounded(rounding.of), format: 'epoch_millis' }
    return { date_histogram: { ...valueSource(values), ...by, ...histogramOptions(spec) } }
  },
  read: (spec, found, reading) => readHistogram(spec, found, reading),
}

type HistogramSpec = SpecOf<'histogram'> | SpecOf<'date_histogram'>

/** Empty buckets are added here, where they are counted first: too many exhaust cluster memory. */
const histogramOptions = ({ minDocCount, order, hard }: HistogramSpec): object => ({
  ...{ min_doc_count: Math.max(1, minDocCount), order: order.map(ordered) },
  ...(hard && { hard_bounds: hard }),
})

const readHistogram = (spec: HistogramSpec, found: AggregationAnswer | undefined, reading: BucketReading): Buckets => {
  const { kind, format, minDocCount, keyed } = spec
  const { count, inner } = reading
  const given = answerList(found, 'buckets').map((bucket): [number, AggregationAnswer] => [
    answerNumber(bucket!.key)!,
    bucket!,
  ])
  const bucket = (key: number, found: AggregationAnswer | undefined) =>
    bucketOf(histogramKey(key, { isDate: kind === 'date_histogram', format }), found, inner)
  if (minDocCount > 0) count(given.length)
  const all = minDocCount > 0 ? given : withEmpty(spec, given, reading)
  return { is: 'buckets', type: kind, members: [], keyed, buckets: all.map(([key, found]) => bucket(key, found)) }
}

/** `given` is in answer order. */
const withEmpty = (
  spec: HistogramSpec,
  given: readonly [key: number, found: AggregationAnswer][],
  { count, limits }: BucketReading,
): [key: number, found: AggregationAnswer | undefined][] => {
  const ascending = given.map(([key], place): PlacedKey => [key, place]).sort(([a], [b]) => a - b)
  const filling = { steps: histogramSteps(spec), extended: spec.extended, most: limits.buckets, room: count }
  const all = orderHistogram(withEmptyBuckets(ascending, filling), spec.order[0]!, (a, b) => a - b)
  return all.map(([key, place]) => [key, given[place]?.[1]])
}

/** Parameters by which the cluster rounds dates. */
const rounded = ({ interval, zone, offset }: RoundingOf): object => ({
  ...(typeof interval === 'number' ? { fixed_interval: `${interval}ms` } : { calendar_interval: interval.name }),
  time_zone: nameOfZone(zone),
  ...(offset !== 0 && { offset: `${offset}ms` }),
})

export const autoDateHistogram: ClusterAggregation<'auto_date_histogram'> = {
  ask: ({ values, buckets, zone, least }) => ({
    auto_date_histogram: {
      ...valueSource(values),
      ...{ ...inMilliseconds(values), buckets, time_zone: nameOfZone(zone) },
      ...(least !== undefined && { minimum_interval: least }),
    },
  }),
  read(spec, found, reading) {
    const keyOf = (bucket: AggregationAnswer | undefined) => timeKey(answerNumber(bucket!.key)!, spec)
    return {
      ...bucketsOf(spec.kind, answerList(found, 'buckets'), keyOf, reading),
      after: [['interval', String(found?.interval ?? '1s')]],
    }
  },
}

type Range = 'range' | 'date_range'

export const range: ClusterAggregation<Range> = {
  ask(spec) {
    const { kind, values } = spec
    const edge = (value: number) => (kind === 'date_range' ? String(value) : value)
    const ranges = spec.ranges.map(({ from, to }, i) => ({
      key: String(i),
      ...(from !== undefined && { from: edge(from) }),
      ...(to !== undefined && { to: edge(to) }),
    }))
    return { [kind]: { ...valueSource(values), ...inMilliseconds(values), keyed: true, ranges } }
  },
  read(spec: SpecOf<Range>, found, reading) {
    const buckets = answerObject(found, 'buckets')
    const all = spec.ranges.map((_, i) => answerObject(buckets, String(i)))
    return {
      ...bucketsOf(spec.kind, all, (_, place) => rangeKey(spec.ranges[place]!, spec), reading),
      keyed: spec.keyed,
    }
  },
}

const OTHER_BUCKET = 'other'

export const filters: ClusterAggregation<'filters'> = {
  ask: ({ filters, other }, { query }) => ({
    filters: {
      filters: Object.fromEntries(filters.map((one, i) => [`f${i}`, query(one.query)])),
      ...(other !== undefined && { other_bucket_key: OTHER_BUCKET }),
    },
  }),
  read({ filters, other }, found, reading) {
    const names = [...filters.map(({ name }) => name), ...(other === undefined ? [] : [other])]
    const buckets = answerObject(found, 'buckets')
    const all = names.map((_, i) => answerObject(buckets, i < filters.length ? `f${i}` : OTHER_BUCKET))
    const keyed = filters[0]!.name !== undefined
    const keyOf = (_: unknown, place: number): Key => ({ key: [], ...(keyed && { name: names[place]! }) })
    return { ...bucketsOf('filters', all, keyOf, reading), keyed }
  },
}

/** Single-bucket aggregations. */
const single = <K extends AggregationType>(
  ask: (spec: SpecOf<K>, asking: AggregationAsking) => object,
  bucketIn: (found: AggregationAnswer | undefined) => AggregationAnswer | undefined = found => found,
): ClusterAggregation<K> => ({
  ask,
  read(spec, found, { count, inner }): SingleBucket {
    const bucket = bucketIn(found)
    count(1)
    return { is: 'bucket', type: spec.kind, docCount: answerCount(bucket), results: inner(bucket) }
  },
})

export const filter = single<'filter'>((spec, { query }) => ({ filter: query(spec.query) }))
export const missingValues = single<'missing'>(({ values }) => {
  const { field, missing } = valueSource(values)
  // With a replacement value, no document lacks one.
  if (missing !== undefined) return { filter: { match_none: {} } }
  // Not `missing`: in OpenSearch 3, terms in one that matches all count other parent buckets.
  return { filter: { bool: { must_not: { exists: { field } } } } }
})

export const nested = single<'nested'>(({ path }) => ({ nested: { path } }))
export const reverseNested = single<'reverse_nested'>(() => ({ reverse_nested: {} }))
export const global = single<'global'>(
  (_, { everything }) => ({ global: {}, aggs: { [INNER]: { filter: everything } } }),
  found => answerObject(found, INNER),
)

export const composite: ClusterAggregation<'composite'> = {
  ask: ({ sources, size, after }) => ({
    composite: {
      size,
      sources: sources.map((source, i) => ({ [`s${i}`]: compositeSource(source) })),
      ...(after && { after: Object.fromEntries(after.map((value, i) => [`s${i}`, afterPart(value, sources[i]!)])) }),
    },
  }),
  read({ sources }, found, reading) {
    const keyOf = (bucket: AggregationAnswer | undefined): Key => ({
      key: [['key', compositeKey(answerObject(bucket, 'key'), sources)]],
    })
    const read = bucketsOf('composite', answerList(found, 'buckets'), keyOf, reading)
    const last = read.buckets.at(-1)
    return { ...read, members: last === undefined ? [] : [['after_key', last.key[0]![1]]] }
  },
}

const compositeSource = (source: CompositeSource): object => {
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
      // Unrounded dates would use the format of the field.
      return values.type === 'date'
        ? { date_histogram: { ...shared, fixed_interval: '1ms', format: 'epoch_millis' } }
        : { terms: shared }
    case 'histogram':
      return { histogram: { ...shared, interval: source.interval } }
    case 'date_histogram':
      return { date_histogram: { ...shared, ...rounded(source.rounding.of), format: 'epoch_millis' } }
  }
}

const afterPart = (value: QueryValue | null, { values, by }: CompositeSource): unknown => {
  if (value === null) return null
  return by === 'date_histogram' || values.type === 'date' ? String(value) : plain(value)
}

const compositeKey = (
  key: AggregationAnswer | undefined,
  sources: SpecOf<'composite'>['sources'],
): ReadonlyMap<string, Shown> =>
  new Map(
    sources.map((source, i) => {
      const found = key?.[`s${i}`]
      const isMissing = found === null || found === undefined
      const value = isMissing ? null : source.by === 'terms' ? valueFrom(found, source.values) : Number(found)
      return [source.name, compositePart(value, source)]
    }),
  )

export const topHits: ClusterAggregation<'top_hits'> = {
  ask(spec, { hits, request, uniform }) {
    if (spec.elements)
      throw notInCluster(
        '[top_hits] inside [nested]',
        'use [top_hits] of the documents, whose [_source] has the elements',
      )
    const { size, from } = spec
    const inner = topHitsRequest(spec, request)
    // The cluster rejects a size of 0, and would count nothing.
    return { top_hits: { ...hits.ask(inner, scoreOf(inner.parts, uniform)), size: Math.max(size, 1), from } }
  },
  read(spec, found, { hits, request, uniform }) {
    const inner = topHitsRequest(spec, request)
    const score = scoreOf(inner.parts, uniform)
    const { total, max_score, hits: list } = hitsParts(found?.hits as string | undefined)
    // With several sort keys, Elasticsearch computes no maximum score.
    const showsGreatest = !hidesScores(inner) && (spec.sort.length < 2 || inner.trackScores === true)
    const text = spec.size === 0 ? '' : hits.write(inner, list, score)
    const most = text !== '' && showsGreatest ? javaDouble(asFloat(score ?? max_score ?? 0)) : 'null'
    return {
      is: 'hits',
      type: 'top_hits',
      hits: `{"total":${hits.total(total)},"max_score":${most},"hits":[${text}]}`,
    }
  },
}

const scoreOf = (parts: AggregationAsking['request']['parts'], uniform: number | undefined): number | undefined =>
  parts.some(({ score }) => score) ? uniform : 1

/** Text before the list is short and contains no lists. */
const hitsParts = (text: string | undefined): { total: number; max_score: number | null; hits: string } => {
  if (text === undefined) return { total: 0, max_score: null, hits: '[]' }
  const at = text.indexOf('"hits":')
  const { total, max_score } = JSON.parse(`${text.slice(0, at).replace(/,$/, '')}}`) as {
    total: { value: number }
    max_score: unknown
  }
  return { total: total.value, max_score: answerNumber(max_score), hits: text.slice(at + '"hits":'.length, -1) }
}
