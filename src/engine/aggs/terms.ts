import { murmur3 } from '../../lib/murmur.ts'
import { overLimit } from '../../limits/index.ts'
import type { SpecOf, ValueType } from '../../query/aggs/ast.ts'
import { TERMS_TYPES, termKey } from '../../query/aggs/buckets/terms.ts'
import { pathOf } from '../../query/aggs/options.ts'
import type { Bucket, Buckets } from '../../query/aggs/result.ts'
import type { Value } from '../../query/ast.ts'
import { type Aggregator, type Context, type Inner, resultsOf } from './aggregator.ts'
import type { At, Batch } from './batch.ts'
import { elementsOf } from './elements.ts'
import { group } from './group.ts'
import { createKeyed, type Wanted } from './keyed.ts'
import { type Keys, sharedKeys } from './keys.ts'
import { bucketOrder, firstBuckets } from './order.ts'
import { createSource } from './sources.ts'
import { type Found, mapped } from './values.ts'

export const createTerms = (spec: SpecOf<'terms'>, inner: Inner, context: Context): Aggregator => {
  const { values, size, shardSize, minDocCount } = spec
  const { reader, limits } = context
  const keys = sharedKeys(values, context)
  const source = createSource(values, keys, context)
  const wanted = wantedBy(spec, keys)
  const found = (all: Found): Found => (wanted ? mapped(all, wanted) : all)
  const keyed = createKeyed(
    (at, batch, wantsInner) => group(found(source.read(at, batch)), batch, wantsInner),
    inner,
    reader.check,
    minDocCount > 0 ? wantedOf(spec, inner) : undefined,
  )
  const rank = () => bucketOrder(spec.order, keyed, inner, keys.compare)
  let order: ReturnType<typeof rank> | undefined

  const bucketOf = (bucket: number): Bucket => ({
    key: termKey(keys.value(keyed.keys[bucket]!), spec),
    ...numberOf(values.type, keyed.keys[bucket]!),
    docCount: keyed.counts[bucket]!,
    results: resultsOf(inner, bucket),
  })

  const isNested = Object.values(values.fields).some(({ list }) => list?.nested)
  const keysIn = (at: At, batch: Batch): Float64Array => {
    const all = isNested ? elementsOf(at, batch, context) : { at, batch }
    return group(found(source.read(all.at, all.batch)), all.batch, false).rows.keys
  }

  return {
    collect: keyed.collect,
    shrink: keyed.shrink,
    merge: keyed.merge,
    finish(owners) {
      if (minDocCount === 0)
        for (const { at, batch } of context.everywhere())
          for (const key of keysIn(at, batch)) {
            for (let owner = 0; owner < owners; owner++) keyed.add(owner, key)
            reader.check()
            if (keyed.bytes() > limits.aggregationMemory) throw overLimit('aggregationMemory', limits)
          }
      keyed.finish()
    },
    result(owner): Buckets {
      order ??= rank()
      const all = keyed.in(owner)
      const { counts } = keyed
      const shard = firstBuckets(all, shardSize, order)
      const enough = shard.filter(bucket => counts[bucket]! >= minDocCount)
      const shown = enough.slice(0, size)
      const sum = (buckets: readonly number[]) => buckets.reduce((sum, bucket) => sum + counts[bucket]!, 0)
      context.count(shown.length)
      const others = keyed.documents(owner) - sum(shard) + sum(enough) - sum(shown)
      return {
        is: 'buckets',
        type: TERMS_TYPES[values.type],
        members: [
          ['doc_count_error_upper_bound', 0n],
          ['sum_other_doc_count', BigInt(others)],
        ],
        keyed: false,
        buckets: shown.map(bucketOf),
      }
    },
    number: () => null,
    keyOf: ([value]) => keys.of(value!),
    bytes: () => keyed.bytes() + keys.bytes(),
  }
}

/** Undefined of an order that does not begin with the greatest numbers. */
const wantedOf = ({ order, shardSize }: SpecOf<'terms'>, inner: Inner): Wanted | undefined => {
  const { by, ascending } = order[0]!
  if (ascending || by === '_key') return undefined
  if (by === '_count') return { size: shardSize, numbers: ({ counts }) => counts }
  const { steps, rest } = pathOf(by)
  const place = steps.length === 1 ? inner.findIndex(({ aggregation }) => aggregation.name === steps[0]) : -1
  const aggregator = inner[place]?.aggregator
  if (!aggregator?.summands) return undefined
  return {
    size: shardSize,
    numbers: state => (state.inner[place] ? aggregator.summands!(state.inner[place], rest) : undefined),
  }
}

export const numberOf = (type: ValueType, key: number): { number?: number } =>
  type === 'keyword' ? {} : { number: key }

/** Keeps the keys that are asked for; undefined where all are. */
export const wantedBy = (
  { terms: { include, exclude, partition }, values }: Pick<SpecOf<'terms'>, 'terms' | 'values'>,
  keys: Keys,
): ((key: number) => number) | undefined => {
  if (!include && !exclude && !partition) return undefined
  const known = new Map<number, boolean>()
  return key => {
    let kept = known.get(key)
    if (kept === undefined) {
      const value = keys.value(key)
      const text = values.type === 'boolean' ? String(Boolean(value)) : String(value)
      kept =
        (include?.(text) ?? true) &&
        !(exclude?.(text) ?? false) &&
        (!partition || partOf(value, partition.of, values.type) === partition.partition)
      if (known.size >= KNOWN) known.clear()
      known.set(key, kept)
    }
    return kept ? key : Number.NaN
  }
}

const KNOWN = 100_000

/** Terms share a partition as they do in Elasticsearch. */
const partOf = (value: Value, of: number, type: ValueType): number => {
  if (typeof value === 'string') {
    const part = murmur3(Buffer.from(value), SEED) % of
    return part < 0 ? part + of : part
  }
  const long = type === 'double' ? bitsOf(Number(value)) : BigInt(value)
  const part = BigInt.asIntN(64, mix64(BigInt.asUintN(64, long))) % BigInt(of)
  return Number(part < 0n ? part + BigInt(of) : part)
}

const SEED = 31

const bitsOf = (value: number): bigint => new BigUint64Array(Float64Array.of(value).buffer)[0]!

const mix64 = (long: bigint): bigint => {
  let mixed = BigInt.asUintN(64, (long ^ (long >> 32n)) * 0x4cd6944c5cc20b6dn)
  mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 29n)) * 0xfc12c5b19d3259e9n)
  return mixed ^ (mixed >> 32n)
}
