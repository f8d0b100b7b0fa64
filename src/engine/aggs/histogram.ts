import type { SpecOf } from '../../query/aggs/ast.ts'
import { filledPlaces, histogramKey, type Steps } from '../../query/aggs/buckets/histogram.ts'
import type { Bucket, Buckets } from '../../query/aggs/result.ts'
import { MISSING } from '../index/column-codec.ts'
import { type Aggregator, type Context, type Inner, resultsOf } from './aggregator.ts'
import { group } from './group.ts'
import { createKeyed } from './keyed.ts'
import { bucketOrder } from './order.ts'
import { createSource } from './sources.ts'
import { type Found, mapped, type RawNumbers } from './values.ts'

type Spec = SpecOf<'histogram'> | SpecOf<'date_histogram'>

export const createHistogram = (spec: Spec, steps: Steps, inner: Inner, context: Context): Aggregator => {
  const { values, hard, extended, minDocCount, format } = spec
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
  const stepped = (found: Found): Found => {
    const raw = found.form === 'each' && spec.kind === 'histogram' && !hard ? found.raw : undefined
    return (raw && inEvenSteps(raw, spec as SpecOf<'histogram'>)) ?? mapped(found, keyOf)
  }
  const keyed = createKeyed(
    (at, batch, wantsInner) => group(stepped(source.read(at, batch)), batch, wantsInner),
    inner,
    context.reader.check,
  )
  let order: ReturnType<typeof bucketOrder> | undefined

  const bucketOf = (key: number, bucket: number): Bucket => ({
    ...histogramKey(key, { isDate: spec.kind === 'date_histogram', format }),
    docCount: bucket < 0 ? 0 : keyed.counts[bucket]!,
    results: resultsOf(inner, bucket),
  })

  /** Also those without documents. */
  const filled = (buckets: readonly number[]): [key: number, bucket: number][] => {
    const keys = buckets.map(bucket => keyed.keys[bucket]!)
    const { room, limits } = context
    const places = filledPlaces(keys, { steps, extended, most: limits.buckets, room })
    return places.map(([key, place]) => [key, place < 0 ? -1 : buckets[place]!])
  }

  return {
    collect: keyed.collect,
    merge: keyed.merge,
    finish: () => keyed.finish(),
    result(owner): Buckets {
      const { keys, counts } = keyed
      const sorted = Array.from(keyed.in(owner)).sort((a, b) => keys[a]! - keys[b]!)
      const shown =
        minDocCount === 0
          ? filled(sorted)
          : sorted
              .filter(bucket => counts[bucket]! >= minDocCount)
              .map((bucket): [number, number] => [keys[bucket]!, bucket])
      context.count(shown.length)
      if (spec.order[0]!.by === '_key') {
        if (!spec.order[0]!.ascending) shown.reverse()
      } else {
        order ??= bucketOrder(spec.order, keyed, inner, (a, b) => a - b)
        const real = shown.filter(([, bucket]) => bucket >= 0).sort(([, a], [, b]) => order!.compare(a, b))
        const empty = shown.filter(([, bucket]) => bucket < 0)
        const emptyFirst = spec.order[0]!.by === '_count' && spec.order[0]!.ascending
        shown.splice(0, shown.length, ...(emptyFirst ? [...empty, ...real] : [...real, ...empty]))
      }
      return {
        is: 'buckets',
        type: spec.kind,
        members: [],
        keyed: spec.keyed,
        buckets: shown.map(([key, bucket]) => bucketOf(key, bucket)),
      }
    },
    number: () => null,
    bytes: () => keyed.bytes(),
  }
}

/** Numbers as places among the steps that they lie on; undefined where there are more of these than pays. */
const inEvenSteps = (
  { values, base }: RawNumbers,
  { interval, offset }: Pick<SpecOf<'histogram'>, 'interval' | 'offset'>,
): Found | undefined => {
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
    // Steps may be too small for their numbers.
    if (i > 0 && !(keys[i]! > keys[i - 1]!)) return undefined
  }
  keys[steps] = Number.NaN
  const at = new Uint32Array(values.length)
  for (let i = 0; i < values.length; i++) at[i] = Math.floor((base + values[i]! - offset) / interval) - first
  if (hasMissing) for (let i = 0; i < values.length; i++) if (values[i] === 0) at[i] = steps
  return { form: 'few', at, keys, distinct: true }
}
