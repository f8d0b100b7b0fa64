import { overLimit } from '../../limits/index.ts'
import type { CompositeSource, SpecOf } from '../../query/aggs/ast.ts'
import { compositePart } from '../../query/aggs/buckets.ts'
import type { ResultValue as Shown } from '../../query/aggs/result.ts'
import type { QueryValue } from '../../query/ast.ts'
import type { AggregationContext, Aggregator, InnerAggregators } from './aggregator.ts'
import type { Batch, BatchView } from './batch.ts'
import { bucketEntries, createBuckets } from './buckets.ts'
import { type Groups, groupByValue } from './group-by.ts'
import { type Keys, sharedKeys } from './keys.ts'
import { firstOf } from './order.ts'
import type { BucketRows } from './rows.ts'
import { createSource, type ValueSource } from './value-source.ts'
import { mapped, withMissing } from './values.ts'

interface CompositePart {
  spec: CompositeSource
  source: ValueSource
  keys: Keys
  round: ((value: number) => number) | undefined
  /** Numbers the combinations up to this source by the previous one and the key. */
  chain: Pairs
}

/** The key of a missing value, below all others. */
const NO_VALUE = -(2 ** 100)

/** Numbers combinations of values of several sources. */
export const createCombinations = (sources: readonly CompositeSource[], context: AggregationContext) => {
  const parts = sources.map((source): CompositePart => {
    const keys = sharedKeys(source.values, context)
    const isTerms = source.by === 'terms'
    return {
      spec: source,
      source: createSource(source.values, isTerms ? keys : undefined, context),
      keys,
      round: rounderOf(source),
      chain: context.shared(createPairs),
    }
  })
  const valuesOf = (combination: number): number[] => {
    const values: number[] = []
    for (let i = parts.length - 1, at = combination; i >= 0; i--) {
      const { chain } = parts[i]!
      values.unshift(chain.keyOf(at))
      at = chain.ownerOf(at)
    }
    return values
  }
  const compareWith = (a: readonly number[], b: readonly number[]): number => {
    for (const [i, { spec, keys }] of parts.entries()) {
      const [left, right] = [a[i]!, b[i]!]
      if (left === right) continue
      const order =
        left === NO_VALUE ? -1 : right === NO_VALUE ? 1 : spec.by === 'terms' ? keys.compare(left, right) : left - right
      if (order !== 0) return spec.descending ? -order : order
    }
    return 0
  }
  return {
    parts,
    valuesOf,
    compareWith,
    group: (at: BatchView, batch: Batch, wantsInner: boolean) => combine({ parts, context }, at, batch, wantsInner),
    bytes: () => parts.reduce((sum, { chain, keys }) => sum + chain.bytes() + keys.bytes(), 0),
  }
}

export const createComposite = (
  spec: SpecOf<'composite'>,
  inner: InnerAggregators,
  context: AggregationContext,
): Aggregator => {
  const { parts, valuesOf, compareWith, group, bytes } = createCombinations(spec.sources, context)
  const after = spec.after?.map((value, i) => keyOfAfter(value, parts[i]!))
  const shownOf = (combination: number): Map<string, Shown> =>
    new Map(valuesOf(combination).map((value, i) => [parts[i]!.spec.name, shownKey(value, parts[i]!)]))

  return createBuckets(
    {
      ...{ type: 'composite', group, bytes },
      show(owner, keyed) {
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
        const last = first.at(-1)
        return {
          entries: bucketEntries(keyed, first),
          members: last === undefined ? [] : [['after_key', shownOf(keyed.keys[last]!)]],
        }
      },
      describe: combination => ({ key: [['key', shownOf(combination)]] }),
    },
    inner,
    context,
  )
}

const rounderOf = (source: CompositeSource): CompositePart['round'] => {
  if (source.by === 'histogram') return value => Math.floor(value / source.interval) * source.interval
  return source.by === 'date_histogram' ? source.rounding.round : undefined
}

const COMBINATION_BYTES = 32

/** Repeats documents for each combination of values; times first, as their runs are consecutive. */
const combine = (
  { parts, context: { limits, reader } }: { parts: readonly CompositePart[]; context: AggregationContext },
  at: BatchView,
  batch: Batch,
  wantsInner: boolean,
): Groups => {
  const steps = [...parts.filter(isOfTime), ...parts.filter(part => !isOfTime(part))]
  let documents: Batch | undefined = batch
  const levels = new Map<CompositePart, BucketRows>()
  for (const [i, part] of steps.entries()) {
    const { source, round, spec } = part
    reader.check()
    if (documents!.count * COMBINATION_BYTES > limits.aggregationMemory) throw overLimit('aggregationMemory', limits)
    const read = source.read(at, documents!)
    const rounded = round ? mapped(read, round) : read
    const found = withMissing(rounded, spec.missingBucket ? NO_VALUE : undefined)
    const { rows, inner } = groupByValue(found, documents!, wantsInner || i < steps.length - 1)
    if (rows.keys.length * COMBINATION_BYTES > limits.aggregationMemory) throw overLimit('aggregationMemory', limits)
    levels.set(part, rows)
    documents = inner
  }
  return { rows: numbered(parts, steps, levels), inner: documents }
}

const isOfTime = ({ spec }: CompositePart): boolean => spec.by === 'date_histogram'

const numbered = (
  parts: readonly CompositePart[],
  steps: readonly CompositePart[],
  levels: ReadonlyMap<CompositePart, BucketRows>,
): BucketRows => {
  const last = levels.get(steps.at(-1)!)!
  const size = last.keys.length
  let owners: Uint32Array = last.owners
  const keys = new Map([[steps.at(-1)!, last.keys]])
  for (const part of steps.slice(0, -1).reverse()) {
    const level = levels.get(part)!
    keys.set(
      part,
      Float64Array.from(owners, row => level.keys[row]!),
    )
    owners = owners.map(row => level.owners[row]!)
  }
  const numbers = new Float64Array(size)
  for (const part of parts) {
    const own = keys.get(part)!
    for (let i = 0; i < size; i++) numbers[i] = part.chain.numberOf(numbers[i]!, own[i]!)
  }
  return { owners, keys: numbers, counts: last.counts }
}

const keyOfAfter = (value: QueryValue | null, { spec, keys }: CompositePart): number => {
  if (value === null) return NO_VALUE
  return spec.by === 'terms' ? keys.of(value) : Number(value)
}

const shownKey = (key: number, { spec, keys }: CompositePart): Shown =>
  compositePart(key === NO_VALUE ? null : spec.by === 'terms' ? keys.value(key) : key, spec)

/** Numbers pairs of an owner and a key in order of arrival. */
const createPairs = () => {
  let capacity = 1024
  let owners = new Uint32Array(capacity)
  let keys = new Float64Array(capacity)
  /** Pair numbers plus 1, by open addressing; at most half full. */
  let table = new Uint32Array(capacity * 2)
  let size = 0
  const bits = new Float64Array(1)
  const words = new Uint32Array(bits.buffer)

  const placeOf = (owner: number, key: number): number => {
    bits[0] = key
    let hash = Math.imul(words[0]! ^ Math.imul(owner, 0x9e3779b1), 0x85ebca6b) ^ words[1]!
    hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae35)
    const mask = table.length - 1
    for (let place = (hash ^ (hash >>> 13)) & mask; ; place = (place + 1) & mask) {
      const number = table[place]! - 1
      if (number < 0 || (keys[number] === key && owners[number] === owner)) return place
    }
  }

  const grow = () => {
    capacity *= 2
    const [oldOwners, oldKeys] = [owners, keys]
    owners = new Uint32Array(capacity)
    owners.set(oldOwners)
    keys = new Float64Array(capacity)
    keys.set(oldKeys)
    table = new Uint32Array(capacity * 2)
    for (let i = 0; i < size; i++) table[placeOf(owners[i]!, keys[i]!)] = i + 1
  }

  return {
    ownerOf: (pair: number) => owners[pair]!,
    keyOf: (pair: number) => keys[pair]!,
    numberOf(owner: number, key: number): number {
      const place = placeOf(owner, key)
      if (table[place] !== 0) return table[place]! - 1
      owners[size] = owner
      keys[size] = key
      table[place] = ++size
      if (size === capacity) grow()
      return size - 1
    },
    bytes: () => capacity * 20,
  }
}

type Pairs = ReturnType<typeof createPairs>
