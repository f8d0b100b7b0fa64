import type { SpecOf } from '../../query/aggs/ast.ts'
import { javaDouble } from '../../query/aggs/java-double.ts'
import type { Member, Metric, Value } from '../../query/aggs/result.ts'
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
      const buckets = keyed
        .in(owner)
        .slice()
        .sort((a, b) => keys[a]! - keys[b]!)
      sorted = sortedFrom(
        Float64Array.from(buckets, bucket => keys[bucket]!),
        Float64Array.from(buckets, bucket => counts[bucket]!),
      )
      known.set(owner, sorted)
    }
    return sorted
  }
  const isRank = spec.kind === 'percentile_ranks'
  const quantileOf = (sorted: Sorted, of: number): number => (isRank ? rankOf(sorted, of) : percentileOf(sorted, of))
  return {
    ...listed(keyed),
    result(owner): Metric {
      const sorted = sortedOf(owner)
      const entries = spec.of.map((of): [number, number | null] => [
        of,
        sorted.total === 0 ? null : quantileOf(sorted, of),
      ])
      return {
        is: 'metric',
        type: `${spec.hdrDigits === undefined ? 'tdigest' : 'hdr'}_${spec.kind}`,
        body: [['values', spec.keyed ? asMap(entries, spec) : asList(entries, spec)]],
        number: rest => numberAt(entries, rest),
      }
    },
    number(owner, _, rest) {
      const of = Number(rest)
      const sorted = sortedOf(owner)
      return sorted.total === 0 || Number.isNaN(of) ? null : quantileOf(sorted, of)
    },
  }
}

type Entries = readonly (readonly [number, number | null])[]

const asMap = (entries: Entries, { format }: SpecOf<'percentiles' | 'percentile_ranks'>): Value =>
  new Map<string, Value>(
    entries.flatMap(([of, value]): [string, Value][] => [
      [javaDouble(of), value],
      ...(format && value !== null ? [[`${javaDouble(of)}_as_string`, format(value)] as [string, Value]] : []),
    ]),
  )

const asList = (entries: Entries, { format }: SpecOf<'percentiles' | 'percentile_ranks'>): Value =>
  entries.map(
    ([of, value]) =>
      new Map<string, Value>([
        ['key', of],
        ['value', value],
        ...(format && value !== null ? ([['value_as_string', format(value)]] as [string, Value][]) : []),
      ] as Member[]),
  )

const numberAt = (entries: Entries, rest: string | undefined): number | null | undefined =>
  entries.find(([of]) => of === Number(rest))?.[1]

interface Sorted {
  values: Float64Array
  /** How many lie up to and with each value. */
  ends: Float64Array
  total: number
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

/** How many percent lie below a value, of those that are equal to it one half. */
const rankOf = ({ values, ends, total }: Sorted, value: number): number => {
  let low = 0
  let high = values.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (values[middle]! < value) low = middle + 1
    else high = middle
  }
  const below = low === 0 ? 0 : ends[low - 1]!
  if (low < values.length && values[low] === value) return (100 * (below + (ends[low]! - below) / 2)) / total
  if (low === 0) return 0
  if (low === values.length) return 100
  const [left, right] = [values[low - 1]!, values[low]!]
  const middleOf = (i: number) => ((i === 0 ? 0 : ends[i - 1]!) + ends[i]!) / 2
  const [from, to] = [middleOf(low - 1), middleOf(low)]
  return (100 * (from + ((value - left) / (right - left)) * (to - from))) / total
}
