import { overLimit } from '../../limits/index.ts'
import type { CompositeSource, SpecOf } from '../../query/aggs/ast.ts'
import { compositePart } from '../../query/aggs/buckets.ts'
import type { Value as Shown } from '../../query/aggs/result.ts'
import type { Value } from '../../query/ast.ts'
import type { Aggregator, Context, Inner } from './aggregator.ts'
import type { At, Batch } from './batch.ts'
import { createBuckets, entriesOf } from './buckets.ts'
import { type Grouped, group, type Rows } from './group.ts'
import { type Keys, sharedKeys } from './keys.ts'
import { createPairs, type Pairs } from './merging.ts'
import { firstOf } from './order.ts'
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
    const keys = sharedKeys(source.values, context)
    const isTerms = source.by === 'terms'
    return {
      spec: source,
      source: createSource(source.values, isTerms ? keys : undefined, context),
      keys,
      round: rounderOf(source),
      chain: context.shared(() => createPairs()),
    }
  })
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
  const shownOf = (combination: number): Map<string, Shown> =>
    new Map(valuesOf(combination).map((value, i) => [parts[i]!.spec.name, shown(value, parts[i]!)]))

  return createBuckets(
    {
      type: 'composite',
      group: (at, batch, wantsInner) => combine({ parts, context }, at, batch, wantsInner),
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
          entries: entriesOf(keyed, first),
          members: last === undefined ? [] : [['after_key', shownOf(keyed.keys[last]!)]],
        }
      },
      describe: combination => ({ key: [['key', shownOf(combination)]] }),
      bytes: () => parts.reduce((sum, { chain, keys }) => sum + chain.bytes() + keys.bytes(), 0),
    },
    inner,
    context,
  )
}

const rounderOf = (source: CompositeSource): Part['round'] => {
  if (source.by === 'histogram') return value => Math.floor(value / source.interval) * source.interval
  return source.by === 'date_histogram' ? source.rounding.round : undefined
}

/** What a combination of a document takes while it is looked at. */
const BYTES = 32

/**
 * Each document once for each combination of its values: part after part, within the buckets of the part before. Those of a time come
 * first, as their documents stand side by side.
 */
const combine = (
  { parts, context: { limits, reader } }: { parts: readonly Part[]; context: Context },
  at: At,
  batch: Batch,
  wantsInner: boolean,
): Grouped => {
  const steps = [...parts.filter(isOfTime), ...parts.filter(part => !isOfTime(part))]
  let documents: Batch | undefined = batch
  const levels = new Map<Part, Rows>()
  for (const [i, part] of steps.entries()) {
    const { source, round, spec } = part
    reader.check()
    if (documents!.count * BYTES > limits.aggregationMemory) throw overLimit('aggregationMemory', limits)
    const read = source.read(at, documents!)
    const rounded = round ? mapped(read, round) : read
    const found = withMissing(rounded, spec.missingBucket ? NONE : undefined)
    const { rows, inner } = group(found, documents!, wantsInner || i < steps.length - 1)
    if (rows.keys.length * BYTES > limits.aggregationMemory) throw overLimit('aggregationMemory', limits)
    levels.set(part, rows)
    documents = inner
  }
  return { rows: numbered(parts, steps, levels), inner: documents }
}

const isOfTime = ({ spec }: Part): boolean => spec.by === 'date_histogram'

/** In place of keys, numbers of combinations. */
const numbered = (parts: readonly Part[], steps: readonly Part[], levels: ReadonlyMap<Part, Rows>): Rows => {
  const last = levels.get(steps.at(-1)!)!
  const size = last.keys.length
  /** Of each row its bucket of the level above, on the way up. */
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
    for (let i = 0; i < size; i++) numbers[i] = part.chain.of(numbers[i]!, own[i]!)
  }
  return { owners, keys: numbers, counts: last.counts }
}

const keyOfAfter = (value: Value | null, { spec, keys }: Part): number => {
  if (value === null) return NONE
  return spec.by === 'terms' ? keys.of(value) : Number(value)
}

const shown = (key: number, { spec, keys }: Part): Shown =>
  compositePart(key === NONE ? null : spec.by === 'terms' ? keys.value(key) : key, spec)
