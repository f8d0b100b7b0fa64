import type { SpecOf } from '../../query/aggs/ast.ts'
import type { Digest } from '../../query/aggs/metrics/digest.ts'
import { percentileRanksOf, percentilesOf } from '../../query/aggs/metrics/percentiles.ts'
import type { Metric } from '../../query/aggs/result.ts'
import type { Aggregator, Context } from './aggregator.ts'
import { group } from './group.ts'
import { createKeyed } from './keyed.ts'
import { listed } from './range.ts'
import { createSource } from './sources.ts'

/** Exact: the different values are kept with their counts. */
export const createPercentiles = (spec: SpecOf<'percentiles' | 'percentile_ranks'>, context: Context): Aggregator => {
  const source = createSource(spec.values, undefined, context)
  const keyed = createKeyed((at, batch) => group(source.read(at, batch), batch, false), [])
  const known = new Map<number, Sorted>()
  const sortedOf = (owner: number): Sorted => {
    let sorted = known.get(owner)
    if (!sorted) {
      const { keys, counts } = keyed
      const buckets = keyed.in(owner)
      sorted = sortedPairs(
        Float64Array.from(buckets, bucket => keys[bucket]!),
        Float64Array.from(buckets, bucket => counts[bucket]!),
      )
      known.set(owner, sorted)
    }
    return sorted
  }
  const { of, keyed: isKeyed, format } = spec
  const metricOf = (owner: number): Metric => {
    const sorted = sortedOf(owner)
    const write = (spec.kind === 'percentiles' ? percentilesOf : percentileRanksOf) as typeof percentilesOf
    const metric = write(digestOf(sorted), of, { keyed: isKeyed, format })
    return spec.hdrDigits === undefined ? metric : { ...metric, type: `hdr_${spec.kind}` }
  }
  return {
    ...listed(keyed),
    result: metricOf,
    number: (owner, _, rest) => metricOf(owner).number(rest) ?? null,
  }
}

/** What percentiles are told from. */
const digestOf = (sorted: Sorted): Pick<Digest, 'quantile' | 'rank'> => ({
  quantile: part => (sorted.total === 0 ? Number.NaN : percentileOf(sorted, part * 100)),
  rank: value => (sorted.total === 0 ? Number.NaN : rankOf(sorted, value) / 100),
})

interface Sorted {
  values: Float64Array
  /** How many lie up to and with each value. */
  ends: Float64Array
  total: number
}

/** Numbers alone are sorted much faster than by a function: where there is room, a value's place stands in its lower bits. */
const sortedPairs = (values: Float64Array, counts: Float64Array): Sorted => {
  const step = 2 ** Math.ceil(Math.log2(values.length + 1))
  const most = Number.MAX_SAFE_INTEGER / step
  if (values.every(value => value >= 0 && value < most && Math.floor(value) === value)) {
    const packed = values.map((value, place) => value * step + place).sort()
    return sortedFrom(
      packed.map(one => Math.floor(one / step)),
      packed.map(one => counts[one % step]!),
    )
  }
  const byValue = new Map(Array.from(values, (value, place) => [value, counts[place]!]))
  const sorted = values.slice().sort()
  return sortedFrom(
    sorted,
    sorted.map(value => byValue.get(value)!),
  )
}

const sortedFrom = (values: Float64Array, counts: Float64Array): Sorted => {
  const ends = counts
  let total = 0
  for (let i = 0; i < counts.length; i++) {
    total += counts[i]!
    ends[i] = total
  }
  return { values, ends, total }
}

/** The value at a zero-based place of the sorted list. */
const valueAtPlace = ({ values, ends, total }: Sorted, place: number): number => {
  const wanted = Math.max(0, Math.min(total - 1, place))
  let low = 0
  let high = values.length - 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ends[middle]! > wanted) high = middle
    else low = middle + 1
  }
  return values[low]!
}

/** By Hazen's rule, which a t-digest follows too where it holds each value by itself. */
const percentileOf = (sorted: Sorted, percent: number): number => {
  const place = (percent / 100) * sorted.total - 0.5
  const below = Math.floor(place)
  const [low, high] = [valueAtPlace(sorted, below), valueAtPlace(sorted, below + 1)]
  const share = place - below
  return low === high ? low : low + (high - low) * share
}

/** How many percent lie below a value, as a t-digest tells it that holds each value by itself. */
const rankOf = ({ values, ends, total }: Sorted, value: number): number => {
  if (total === 1 || values.length === 1) return value < values[0]! ? 0 : 100
  if (value < values[0]!) return 0
  let low = 0
  let high = values.length - 1
  // The first value that lies above the middle between the one before and it.
  while (low < high) {
    const middle = (low + high) >>> 1
    if (value < (values[middle]! + values[middle + 1]!) / 2) high = middle
    else low = middle + 1
  }
  const own = values[low]!
  const before = low === 0 ? 0 : ends[low - 1]!
  const count = ends[low]! - before
  const left = low === 0 ? 0 : (own - values[low - 1]!) / 2
  const right = low === values.length - 1 ? left : (values[low + 1]! - own) / 2
  const from = own - (low === 0 && count === 1 ? right : left)
  if (value >= own + right) return 100
  let below: number
  if (count === 1) below = before + (value - from) / (own + right - from)
  else if (value < own) below = before + (value - from) / (own - from)
  else below = before + count - 1 + (value - own) / right
  return (100 * Math.max(0, below)) / total
}
