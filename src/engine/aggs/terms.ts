import { memoize } from '../../lib/caches.ts'
import { murmur3 } from '../../lib/hash.ts'
import { overLimit } from '../../limits/index.ts'
import type { SpecOf, ValueType } from '../../query/aggs/ast.ts'
import { multiTermsKey, rareTermsType, TERMS_TYPES, termKey } from '../../query/aggs/buckets.ts'
import { parseMetricPath } from '../../query/aggs/order.ts'
import type { QueryValue } from '../../query/ast.ts'
import type { AggregationContext, Aggregator, InnerAggregators } from './aggregator.ts'
import type { Batch, BatchView } from './batch.ts'
import { type Bucketing, bucketEntries, createBuckets, type FirstBuckets, groupBy, type Keyed } from './buckets.ts'
import { createCombinations } from './composite.ts'
import { toElements } from './elements.ts'
import { groupByValue } from './group-by.ts'
import { type Keys, sharedKeys } from './keys.ts'
import { type BucketOrder, bucketOrder, firstBuckets } from './order.ts'
import { ROW_BYTES } from './rows.ts'
import { createSource } from './value-source.ts'
import { type FoundValues, mapped } from './values.ts'

export const createTerms = (
  spec: SpecOf<'terms'>,
  inner: InnerAggregators,
  context: AggregationContext,
): Aggregator => {
  const { values, minDocCount } = spec
  const { reader, limits } = context
  const terms = termBuckets(spec, context)
  const isNested = Object.values(values.fields).some(({ list }) => list?.nested)
  const keysIn = (at: BatchView, batch: Batch): Float64Array => {
    const all = isNested ? toElements(at, batch, context) : { at, batch }
    return groupByValue(terms.read(all.at, all.batch), all.batch, false).rows.keys
  }
  const addAll = (keyed: Keyed, owners: number) => {
    const keys = new Set<number>()
    for (const { at, batch } of context.everywhere()) {
      reader.check()
      for (const key of keysIn(at, batch)) keys.add(key)
      if (keys.size * owners * ROW_BYTES > limits.aggregationMemory) throw overLimit('aggregationMemory', limits)
    }
    keyed.add(Float64Array.from(keys), owners)
  }
  return createBuckets(
    {
      ...terms,
      type: TERMS_TYPES[values.type],
      ...(minDocCount > 0 ? { wanted: firstTermsOf(spec, inner) } : { complete: addAll }),
      show: showTerms(spec, inner, terms.keys.compare),
    },
    inner,
    context,
  )
}

/** The first buckets in order, and how many documents the others have. */
const showTerms = (
  { order: orders, size, shardSize, minDocCount }: SpecOf<'terms' | 'multi_terms'>,
  inner: InnerAggregators,
  compareKeys: (a: number, b: number) => number,
): Bucketing['show'] => {
  let order: BucketOrder | undefined
  return (owner, keyed) => {
    const { counts } = keyed
    order ??= bucketOrder(orders, keyed, inner, compareKeys)
    const shard = firstBuckets(keyed.in(owner), shardSize, order)
    const enough = shard.filter(bucket => counts[bucket]! >= minDocCount)
    const shown = enough.slice(0, size)
    const sum = (buckets: readonly number[]) => buckets.reduce((sum, bucket) => sum + counts[bucket]!, 0)
    const others = keyed.documents(owner) - sum(shard) + sum(enough) - sum(shown)
    return {
      entries: bucketEntries(keyed, shown),
      members: [
        ['doc_count_error_upper_bound', 0n],
        ['sum_other_doc_count', BigInt(others)],
      ],
    }
  }
}

export const createMultiTerms = (
  spec: SpecOf<'multi_terms'>,
  inner: InnerAggregators,
  context: AggregationContext,
): Aggregator => {
  const { parts, valuesOf, compareWith, group, bytes } = createCombinations(spec.sources, context)
  const values = memoize(MAX_TESTED_KEYS, valuesOf)
  return createBuckets(
    {
      ...{ type: 'multi_terms', group, bytes, wanted: firstTermsOf(spec, inner) },
      show: showTerms(spec, inner, (a, b) => compareWith(values(a), values(b))),
      describe: combination => ({
        key: multiTermsKey(
          values(combination).map((value, i) => parts[i]!.keys.value(value)),
          spec,
        ),
      }),
    },
    inner,
    context,
  )
}

/** The rarest terms first, and equal ones by key. */
export const createRareTerms = (
  spec: SpecOf<'rare_terms'>,
  inner: InnerAggregators,
  context: AggregationContext,
): Aggregator => {
  const terms = termBuckets(spec, context)
  return createBuckets(
    {
      ...terms,
      type: rareTermsType(spec.values.type),
      show(owner, keyed) {
        const { counts, keys } = keyed
        const rare = Array.from(keyed.in(owner)).filter(bucket => counts[bucket]! <= spec.maxDocCount)
        rare.sort((a, b) => counts[a]! - counts[b]! || terms.keys.compare(keys[a]!, keys[b]!))
        return { entries: bucketEntries(keyed, rare) }
      },
    },
    inner,
    context,
  )
}

const termBuckets = (spec: SpecOf<'terms' | 'rare_terms'>, context: AggregationContext) => {
  const { values } = spec
  const keys = sharedKeys(values, context)
  const source = createSource(values, keys, context)
  const wanted = wantedBy(spec, keys)
  const read = (at: BatchView, batch: Batch): FoundValues => {
    const found = source.read(at, batch)
    return wanted ? mapped(found, wanted) : found
  }
  return {
    ...{ keys, read, group: groupBy(read), bytes: keys.bytes },
    describe: (key: number) => ({
      key: termKey(keys.value(key), spec),
      ...(values.type !== 'keyword' && { number: key }),
    }),
  }
}

/** Undefined if the order does not begin with the greatest numbers. */
const firstTermsOf = (
  { order, shardSize }: SpecOf<'terms' | 'multi_terms'>,
  inner: InnerAggregators,
): FirstBuckets | undefined => {
  const { by, ascending } = order[0]!
  if (ascending || by === '_key') return undefined
  if (by === '_count') return { size: shardSize, numbers: ({ counts }) => counts }
  const { steps, rest } = parseMetricPath(by)
  const place = steps.length === 1 ? inner.findIndex(({ aggregation }) => aggregation.name === steps[0]) : -1
  const aggregator = inner[place]?.aggregator
  if (!aggregator?.summands) return undefined
  return {
    size: shardSize,
    numbers: state => (state.inner[place] ? aggregator.summands!(state.inner[place], rest) : undefined),
  }
}

/** Maps excluded keys to NaN; undefined if none are. */
const wantedBy = (
  { terms: { include, exclude, partition }, values }: SpecOf<'terms' | 'rare_terms'>,
  keys: Keys,
): ((key: number) => number) | undefined => {
  if (!include && !exclude && !partition) return undefined
  return memoize(MAX_TESTED_KEYS, key => {
    const value = keys.value(key)
    const text = values.type === 'boolean' ? String(Boolean(value)) : String(value)
    const isWanted =
      (include?.(text) ?? true) &&
      !(exclude?.(text) ?? false) &&
      (!partition || partitionOfValue(value, partition.of, values.type) === partition.partition)
    return isWanted ? key : Number.NaN
  })
}

const MAX_TESTED_KEYS = 100_000

/** The same partitions as in Elasticsearch. */
const partitionOfValue = (value: QueryValue, of: number, type: ValueType): number => {
  if (typeof value === 'string') {
    const part = murmur3(Buffer.from(value), SEED) % of
    return part < 0 ? part + of : part
  }
  const long = type === 'double' ? doubleBits(Number(value)) : BigInt(value)
  const part = BigInt.asIntN(64, mix64(BigInt.asUintN(64, long))) % BigInt(of)
  return Number(part < 0n ? part + BigInt(of) : part)
}

const SEED = 31

const doubleBits = (value: number): bigint => new BigUint64Array(Float64Array.of(value).buffer)[0]!

const mix64 = (long: bigint): bigint => {
  let mixed = BigInt.asUintN(64, (long ^ (long >> 32n)) * 0x4cd6944c5cc20b6dn)
  mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 29n)) * 0xfc12c5b19d3259e9n)
  return mixed ^ (mixed >> 32n)
}
