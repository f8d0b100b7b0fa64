import { overLimit } from '../../limits/index.ts'
import type { CompositeSource, SpecOf } from '../../query/aggs/ast.ts'
import type { Bucket, Buckets, Value as Shown } from '../../query/aggs/result.ts'
import type { Value } from '../../query/ast.ts'
import { type Aggregator, type Context, type Inner, resultsOf } from './aggregator.ts'
import type { At, Batch } from './batch.ts'
import { type Grouped, group, type Rows } from './group.ts'
import { createKeyed } from './keyed.ts'
import { createKeys, type Keys, spaceOf } from './keys.ts'
import { firstOf } from './order.ts'
import { createPairs, type Pairs } from './pairs.ts'
import { listed } from './range.ts'
import { createSource, type Source } from './sources.ts'
import { mapped, withMissing } from './values.ts'

/** One value of each combination. */
interface Part {
  spec: CompositeSource
  source: Source
  keys: Keys
  /** From a value to the key of the bucket. */
  round: ((value: number) => number) | undefined
  /** Numbers the combinations up to this part by the one before and the key. */
  chain: Pairs
}

/** In place of a value that is missing: below all others. */
const NONE = -(2 ** 100)

export const createComposite = (spec: SpecOf<'composite'>, inner: Inner, context: Context): Aggregator => {
  const parts = spec.sources.map((source): Part => {
    const keys = context.shared(() => createKeys(spaceOf(source.values), context.reader))
    const isTerms = source.by === 'terms'
    return {
      spec: source,
      source: createSource(source.values, isTerms ? keys : undefined, context),
      keys,
      round: rounderOf(source),
      chain: context.shared(() => createPairs(true)),
    }
  })
  const keyed = createKeyed(
    (at, batch, wantsInner) => combine({ parts, context }, at, batch, wantsInner),
    inner,
    context.reader.check,
  )

  const valuesOf = (combination: number): number[] => {
    const values: number[] = []
    for (let i = parts.length - 1, at = combination; i >= 0; i--) {
      const { chain } = parts[i]!
      values.unshift(chain.keys[at]!)
      at = chain.owners[at]!
    }
    return values
  }
  const compareWith = (a: readonly number[], b: readonly number[]): number => {
    for (const [i, { spec, keys }] of parts.entries()) {
      const [left, right] = [a[i]!, b[i]!]
      if (left === right) continue
      const order =
        left === NONE ? -1 : right === NONE ? 1 : spec.by === 'terms' ? keys.compare(left, right) : left - right
      if (order !== 0) return spec.descending ? -order : order
    }
    return 0
  }
  const after = spec.after?.map((value, i) => keyOfAfter(value, parts[i]!))
  const shownOf = (values: readonly number[]): Map<string, Shown> =>
    new Map(values.map((value, i) => [parts[i]!.spec.name, shown(value, parts[i]!)]))

  return {
    ...listed(keyed),
    result(owner): Buckets {
      const known = new Map<number, number[]>()
      const of = (bucket: number): number[] => {
        let values = known.get(bucket)
        if (!values) {
          values = valuesOf(keyed.keys[bucket]!)
          known.set(bucket, values)
        }
        return values
      }
      const all = keyed.in(owner)
      const left = after ? all.filter(bucket => compareWith(of(bucket), after) > 0) : all
      const first = firstOf(left, spec.size, (a, b) => compareWith(of(a), of(b)))
      context.count(first.length)
      const last = first.at(-1)
      return {
        is: 'buckets',
        type: 'composite',
        members: last === undefined ? [] : [['after_key', shownOf(of(last))]],
        keyed: false,
        buckets: first.map(
          (bucket): Bucket => ({
            key: [['key', shownOf(of(bucket))]],
            docCount: keyed.counts[bucket]!,
            results: resultsOf(inner, bucket),
          }),
        ),
      }
    },
    number: () => null,
    bytes: () => keyed.bytes() + parts.reduce((sum, { chain, keys }) => sum + chain.bytes() + keys.bytes(), 0),
  }
}

const rounderOf = (source: CompositeSource): Part['round'] => {
  if (source.by === 'histogram') return value => Math.floor(value / source.interval) * source.interval
  return source.by === 'date_histogram' ? source.rounding.round : undefined
}

/** What a combination of a document takes while it is looked at. */
const BYTES = 32

/** Each document once for each combination of its values: part after part, within the buckets of the part before. */
const combine = (
  { parts, context: { limits, reader } }: { parts: readonly Part[]; context: Context },
  at: At,
  batch: Batch,
  wantsInner: boolean,
): Grouped => {
  let documents: Batch | undefined = batch
  let rows: Rows | undefined
  for (const [i, { source, round, chain, spec }] of parts.entries()) {
    reader.check()
    if (documents!.count * BYTES > limits.aggregationMemory) throw overLimit('aggregationMemory', limits)
    const read = source.read(at, documents!)
    const rounded = round ? mapped(read, round) : read
    const found = withMissing(rounded, spec.missingBucket ? NONE : undefined)
    const grouped = group(found, documents!, wantsInner || i < parts.length - 1)
    rows = within(rows, grouped.rows, chain)
    if (rows.keys.length * BYTES > limits.aggregationMemory) throw overLimit('aggregationMemory', limits)
    documents = grouped.inner
  }
  return { rows: rows!, inner: documents }
}

/** In place of keys, numbers of combinations up to this part. */
const within = (before: Rows | undefined, { owners, keys, counts }: Rows, chain: Pairs): Rows => {
  const numbers = new Float64Array(keys.length)
  for (let i = 0; i < keys.length; i++) numbers[i] = chain.of(before ? before.keys[owners[i]!]! : 0, keys[i]!)
  return { owners: before ? owners.map(owner => before.owners[owner]!) : owners, keys: numbers, counts }
}

const keyOfAfter = (value: Value | null, { spec, keys }: Part): number => {
  if (value === null) return NONE
  return spec.by === 'terms' ? keys.of(value) : Number(value)
}

const shown = (key: number, { spec, keys }: Part): Shown => {
  if (key === NONE) return null
  if (spec.by === 'histogram') return key
  if (spec.by === 'date_histogram') return spec.format ? spec.format(key) : BigInt(key)
  const value = keys.value(key)
  switch (spec.values.type) {
    case 'keyword':
      return String(value)
    case 'double':
      return Number(value)
    case 'boolean':
      return Boolean(value)
    default:
      return BigInt(value)
  }
}
