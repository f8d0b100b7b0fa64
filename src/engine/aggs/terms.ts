import { remembered } from '../../lib/caches.ts'
import { murmur3 } from '../../lib/hash.ts'
import { overLimit } from '../../limits/index.ts'
import type { SpecOf, ValueType } from '../../query/aggs/ast.ts'
import { rareTermsType, TERMS_TYPES, termKey } from '../../query/aggs/buckets.ts'
import { pathOf } from '../../query/aggs/options.ts'
import type { Value } from '../../query/ast.ts'
import type { Aggregator, Context, Inner } from './aggregator.ts'
import type { At, Batch } from './batch.ts'
import { createBuckets, entriesOf, groupBy } from './buckets.ts'
import { elementsOf } from './elements.ts'
import { group } from './group.ts'
import type { Keyed, Wanted } from './keyed.ts'
import { type Keys, sharedKeys } from './keys.ts'
import { type BucketOrder, bucketOrder, firstBuckets } from './order.ts'
import { createSource } from './sources.ts'
import { ROW_BYTES } from './value-store.ts'
import { type Found, mapped } from './values.ts'

export const createTerms = (spec: SpecOf<'terms'>, inner: Inner, context: Context): Aggregator => {
  const { values, size, shardSize, minDocCount } = spec
  const { reader, limits } = context
  const terms = bucketsOf(spec, context)
  const isNested = Object.values(values.fields).some(({ list }) => list?.nested)
  const keysIn = (at: At, batch: Batch): Float64Array => {
    const all = isNested ? elementsOf(at, batch, context) : { at, batch }
    return group(terms.read(all.at, all.batch), all.batch, false).rows.keys
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
  let order: BucketOrder | undefined
  return createBuckets(
    {
      ...terms,
      type: TERMS_TYPES[values.type],
      ...(minDocCount > 0 ? { wanted: wantedOf(spec, inner) } : { complete: addAll }),
      show(owner, keyed) {
        const { counts } = keyed
        order ??= bucketOrder(spec.order, keyed, inner, terms.keys.compare)
        const shard = firstBuckets(keyed.in(owner), shardSize, order)
        const enough = shard.filter(bucket => counts[bucket]! >= minDocCount)
        const shown = enough.slice(0, size)
        const sum = (buckets: readonly number[]) => buckets.reduce((sum, bucket) => sum + counts[bucket]!, 0)
        const others = keyed.documents(owner) - sum(shard) + sum(enough) - sum(shown)
        return {
          entries: entriesOf(keyed, shown),
          members: [
            ['doc_count_error_upper_bound', 0n],
            ['sum_other_doc_count', BigInt(others)],
          ],
        }
      },
    },
    inner,
    context,
  )
}

/** Terms that few documents have, the rarest first, and of equal ones by their keys. */
export const createRareTerms = (spec: SpecOf<'rare_terms'>, inner: Inner, context: Context): Aggregator => {
  const terms = bucketsOf(spec, context)
  return createBuckets(
    {
      ...terms,
      type: rareTermsType(spec.values.type),
      show(owner, keyed) {
        const { counts, keys } = keyed
        const rare = Array.from(keyed.in(owner)).filter(bucket => counts[bucket]! <= spec.maxDocCount)
        rare.sort((a, b) => counts[a]! - counts[b]! || terms.keys.compare(keys[a]!, keys[b]!))
        return { entries: entriesOf(keyed, rare) }
      },
    },
    inner,
    context,
  )
}

/** A bucket for each term that is wanted. */
const bucketsOf = (spec: SpecOf<'terms' | 'rare_terms'>, context: Context) => {
  const { values } = spec
  const keys = sharedKeys(values, context)
  const source = createSource(values, keys, context)
  const wanted = wantedBy(spec, keys)
  const read = (at: At, batch: Batch): Found => {
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

/** Keeps the keys that are asked for; undefined where all are. */
const wantedBy = (
  { terms: { include, exclude, partition }, values }: SpecOf<'terms' | 'rare_terms'>,
  keys: Keys,
): ((key: number) => number) | undefined => {
  if (!include && !exclude && !partition) return undefined
  return remembered(MAX_REMEMBERED, key => {
    const value = keys.value(key)
    const text = values.type === 'boolean' ? String(Boolean(value)) : String(value)
    const isWanted =
      (include?.(text) ?? true) &&
      !(exclude?.(text) ?? false) &&
      (!partition || partOf(value, partition.of, values.type) === partition.partition)
    return isWanted ? key : Number.NaN
  })
}

const MAX_REMEMBERED = 100_000

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
