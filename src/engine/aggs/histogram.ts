import { upperBound } from '../../lib/arrays.ts'
import type { SpecOf } from '../../query/aggs/ast.ts'
import {
  histogramKey,
  histogramSteps,
  orderHistogram,
  scalesOf,
  type TimeScale,
  timeKey,
  withEmptyBuckets,
} from '../../query/aggs/buckets.ts'
import { MISSING } from '../index/column-codec.ts'
import type { AggregationContext, AggregationState, Aggregator, InnerAggregators } from './aggregator.ts'
import { type BucketEntry, bucketEntries, createBuckets, groupBy, type Keyed } from './buckets.ts'
import { type BucketOrder, bucketOrder } from './order.ts'
import type { BucketRows } from './rows.ts'
import { createSource } from './value-source.ts'
import { type FoundValues, mapped, type RawNumbers } from './values.ts'

type Spec = SpecOf<'histogram'> | SpecOf<'date_histogram'>

export const createHistogram = (spec: Spec, inner: InnerAggregators, context: AggregationContext): Aggregator => {
  const { values, hard, minDocCount, format } = spec
  const steps = histogramSteps(spec)
  const source = createSource(values, undefined, context)
  const { min: low = Number.NEGATIVE_INFINITY, max: high = Number.POSITIVE_INFINITY } = hard ?? {}
  const isInside = (key: number, value: number): boolean => {
    if (spec.kind === 'date_histogram') return key >= low && key < high
    const plain = Math.floor((value - spec.offset) / spec.interval) * spec.interval
    return plain >= low && plain <= high
  }
  const keyOf = (value: number): number => {
    const key = steps.round(value)
    return !hard || isInside(key, value) ? key : Number.NaN
  }
  const stepped = (found: FoundValues): FoundValues => {
    const raw = found.form === 'each' && spec.kind === 'histogram' && !hard ? found.raw : undefined
    return (raw && inEvenSteps(raw, spec as SpecOf<'histogram'>)) ?? mapped(found, keyOf)
  }
  const { room, limits } = context
  const filling = { steps, extended: spec.extended, most: limits.buckets, room }
  let order: BucketOrder | undefined
  const ordered = (entries: readonly BucketEntry[], keyed: Keyed): BucketEntry[] =>
    orderHistogram(entries, spec.order[0]!, (a, b) => {
      order ??= bucketOrder(spec.order, keyed, inner, (a, b) => a - b)
      return order.compare(a, b)
    })
  return createBuckets(
    {
      ...{ type: spec.kind, isNamed: spec.keyed },
      group: groupBy((at, batch) => stepped(source.read(at, batch))),
      show(owner, keyed) {
        const all = bucketEntries(keyed, Array.from(keyed.in(owner))).sort(([a], [b]) => a - b)
        const enough = () => all.filter(([, bucket]) => keyed.counts[bucket]! >= minDocCount)
        const shown = minDocCount === 0 ? withEmptyBuckets(all, filling) : enough()
        return { entries: ordered(shown, keyed) }
      },
      describe: key => histogramKey(key, { isDate: spec.kind === 'date_histogram', format }),
    },
    inner,
    context,
  )
}

/** The interval depends on all times, so each time is a bucket of its own until `finish`. */
export const createAutoDateHistogram = (
  spec: SpecOf<'auto_date_histogram'>,
  inner: InnerAggregators,
  context: AggregationContext,
): Aggregator => {
  const source = createSource(spec.values, undefined, context)
  const waiting: { state: AggregationState & BucketRows; owners: Uint32Array }[] = []
  const scales = new Map<number, TimeScale>()
  const allScales = scalesOf(spec)

  const ends = (): Map<number, [least: number, greatest: number]> => {
    const found = new Map<number, [number, number]>()
    for (const { state, owners } of waiting)
      for (let i = 0; i < state.keys.length; i++) {
        const owner = owners[state.owners[i]!]!
        const key = state.keys[i]!
        const known = found.get(owner)
        if (!known) found.set(owner, [key, key])
        else if (key < known[0]) known[0] = key
        else if (key > known[1]) known[1] = key
      }
    return found
  }

  const buckets = createBuckets(
    {
      type: 'auto_date_histogram',
      group: groupBy(source.read),
      show(owner, keyed) {
        const scale = scales.get(owner)
        const known = new Map(Array.from(keyed.in(owner), bucket => [keyed.keys[bucket]!, bucket]))
        return {
          entries: (scale?.starts ?? []).map(start => [start, known.get(start) ?? -1]),
          after: [['interval', scale?.name ?? allScales.shortest]],
        }
      },
      describe: key => timeKey(key, spec),
    },
    inner,
    context,
  )
  return {
    ...buckets,
    merge: (state, owners) => void waiting.push({ state: state as AggregationState & BucketRows, owners }),
    finish(owners) {
      for (const [owner, [least, greatest]] of ends()) scales.set(owner, allScales.of(least, greatest))
      for (const { state, owners: above } of waiting) {
        const keys = state.keys.map((key, i) => startOf(scales.get(above[state.owners[i]!]!)!, key))
        buckets.merge({ ...state, keys } as AggregationState, above)
      }
      waiting.length = 0
      buckets.finish(owners)
    },
  }
}

/** The start of the bucket of a time. */
const startOf = ({ starts }: TimeScale, time: number): number => starts[upperBound(starts, time) - 1]!

/** Codes of histogram steps; undefined if there are more steps than values. */
const inEvenSteps = (
  { values, base }: RawNumbers,
  { interval, offset }: Pick<SpecOf<'histogram'>, 'interval' | 'offset'>,
): FoundValues | undefined => {
  const indexOf = (value: number) => Math.floor((value - offset) / interval)
  const hasMissing = base === MISSING
  let least = Number.POSITIVE_INFINITY
  let greatest = Number.NEGATIVE_INFINITY
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    if (hasMissing && value === 0) continue
    if (value < least) least = value
    if (value > greatest) greatest = value
  }
  const first = indexOf(base + least)
  const steps = indexOf(base + greatest) - first + 1
  if (!(steps > 0 && steps <= values.length)) return undefined
  const keys = new Float64Array(steps + 1)
  for (let i = 0; i < steps; i++) {
    keys[i] = (first + i) * interval + offset
    // The interval is below the precision of the numbers.
    if (i > 0 && !(keys[i]! > keys[i - 1]!)) return undefined
  }
  keys[steps] = Number.NaN
  const at = new Uint32Array(values.length)
  for (let i = 0; i < values.length; i++) at[i] = Math.floor((base + values[i]! - offset) / interval) - first
  if (hasMissing) for (let i = 0; i < values.length; i++) if (values[i] === 0) at[i] = steps
  return { form: 'few', at, keys, distinct: true }
}
