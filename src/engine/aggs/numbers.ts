import type { SpecOf } from '../../query/aggs/ast.ts'
import { avgOf } from '../../query/aggs/metrics/avg.ts'
import { extendedStatsOf } from '../../query/aggs/metrics/extended-stats.ts'
import { maxOf } from '../../query/aggs/metrics/max.ts'
import { minOf } from '../../query/aggs/metrics/min.ts'
import type { Totals } from '../../query/aggs/metrics/moments.ts'
import { statsOf } from '../../query/aggs/metrics/stats.ts'
import { sumOf } from '../../query/aggs/metrics/sum.ts'
import type { Metric } from '../../query/aggs/result.ts'
import { type Aggregator, bytesOf, type Context, createNumbers, lengthFor, type State } from './aggregator.ts'
import type { Batch } from './batch.ts'
import { createSource } from './sources.ts'
import { eachValue, type Found, gathered } from './values.ts'

/** By bucket. Sums are compensated (Kahan), as Elasticsearch's are. */
interface Numbers {
  counts: Float64Array
  sums: Float64Array
  lost: Float64Array
  least: Float64Array
  greatest: Float64Array
  /** Of squares; empty where nobody asks. */
  squares: Float64Array
  lostSquares: Float64Array
}

type Spec = SpecOf<'avg' | 'sum' | 'min' | 'max' | 'stats' | 'extended_stats'>

/** What follows from count, sum, least, greatest and sum of squares. */
export const createNumbersOf = (spec: Spec, context: Context): Aggregator => {
  const source = createSource(spec.values, undefined, context)
  const wantsSquares = spec.kind === 'extended_stats'
  const all = {
    ...{ counts: createNumbers(), sums: createNumbers(), lost: createNumbers() },
    ...{ squares: createNumbers(), lostSquares: createNumbers() },
    least: createNumbers(Number.POSITIVE_INFINITY),
    greatest: createNumbers(Number.NEGATIVE_INFINITY),
  }
  const { squares, lostSquares, ...plain } = all
  const every = Object.values(wantsSquares ? all : plain)
  const totalsOf = (owner: number): Totals => ({
    count: all.counts.values[owner] ?? 0,
    sum: all.sums.values[owner] ?? 0,
    min: all.least.values[owner] ?? Number.POSITIVE_INFINITY,
    max: all.greatest.values[owner] ?? Number.NEGATIVE_INFINITY,
    sumOfSquares: squares.values[owner] ?? 0,
  })
  const metricOf = (owner: number): Metric => {
    const metric = write(spec, totalsOf(owner))
    return spec.values.type === 'boolean' && SEVERAL.has(spec.kind) ? withBooleans(metric) : metric
  }
  return {
    collect(at, batch): Numbers & State {
      const numbers = collectNumbers(source.read(at, batch), batch, wantsSquares)
      return { ...numbers, bytes: bytesOf([], ...Object.values(numbers)) }
    },
    merge(state, owners) {
      const part = state as Numbers & State
      const length = lengthFor(owners)
      for (const one of every) one.reserve(length)
      for (let i = 0; i < owners.length; i++) {
        const owner = owners[i]!
        all.counts.values[owner]! += part.counts[i]!
        addTo(all.sums.values, all.lost.values, owner, part.sums[i]!)
        addTo(all.sums.values, all.lost.values, owner, part.lost[i]!)
        if (part.least[i]! < all.least.values[owner]!) all.least.values[owner] = part.least[i]!
        if (part.greatest[i]! > all.greatest.values[owner]!) all.greatest.values[owner] = part.greatest[i]!
        if (!wantsSquares) continue
        addTo(squares.values, lostSquares.values, owner, part.squares[i]!)
        addTo(squares.values, lostSquares.values, owner, part.lostSquares[i]!)
      }
    },
    finish() {},
    result: metricOf,
    number: (owner, _, rest) => write(spec, totalsOf(owner)).number(rest) ?? null,
    bytes: () => every.reduce((sum, one) => sum + one.bytes(), 0),
  }
}

const write = (spec: Spec, totals: Totals): Metric => {
  const { format } = spec
  switch (spec.kind) {
    case 'avg':
      return avgOf(totals, format)
    case 'sum':
      return sumOf(totals, format)
    case 'min':
      return minOf(totals, format)
    case 'max':
      return maxOf(totals, format)
    case 'stats':
      return statsOf(totals, format)
    case 'extended_stats':
      return extendedStatsOf(totals, spec.sigma, format)
  }
}

const SEVERAL: ReadonlySet<Spec['kind']> = new Set(['stats', 'extended_stats'])

/** Here, and only here, Elasticsearch writes a boolean as one. */
const withBooleans = (metric: Metric): Metric => ({
  ...metric,
  body: metric.body.map(([name, value]) => [
    name,
    name.endsWith('_as_string') && typeof value === 'string' ? value === 'true' : value,
  ]),
})

/** What a sum loses by rounding is added with the next summand. */
export const addTo = (sums: Float64Array, lost: Float64Array, at: number, value: number) => {
  if (!Number.isFinite(value)) {
    sums[at]! += value
    return
  }
  const sum = sums[at]!
  const corrected = value + lost[at]!
  const next = sum + corrected
  lost[at] = corrected - (next - sum)
  sums[at] = next
}

const collectNumbers = (found: Found, batch: Batch, wantsSquares: boolean): Numbers => {
  const { buckets, owners, list, from, count } = batch
  const [counts, sums, lost] = [new Float64Array(buckets), new Float64Array(buckets), new Float64Array(buckets)]
  const least = new Float64Array(buckets).fill(Number.POSITIVE_INFINITY)
  const greatest = new Float64Array(buckets).fill(Number.NEGATIVE_INFINITY)
  const squares = new Float64Array(wantsSquares ? buckets : 0)
  const lostSquares = new Float64Array(wantsSquares ? buckets : 0)
  const numbers = { counts, sums, lost, least, greatest, squares, lostSquares }
  if (found.form === 'few' && !owners && found.keys.length < count) {
    // Each different value once.
    const times = new Uint32Array(found.keys.length)
    const { at } = found
    if (!at) times[0] = count
    else if (list) for (let i = 0; i < count; i++) times[at[list[i]!]!]!++
    else for (let i = from, end = from + count; i < end; i++) times[at[i]!]!++
    for (let i = 0; i < times.length; i++) {
      const value = found.keys[i]!
      const n = times[i]!
      if (n === 0 || Number.isNaN(value)) continue
      counts[0]! += n
      addTo(sums, lost, 0, value * n)
      if (value < least[0]!) least[0] = value
      if (value > greatest[0]!) greatest[0] = value
      if (wantsSquares) addTo(squares, lostSquares, 0, value * value * n)
    }
    return numbers
  }
  const add = (owner: number, value: number) => {
    counts[owner]!++
    addTo(sums, lost, owner, value)
    if (value < least[owner]!) least[owner] = value
    if (value > greatest[owner]!) greatest[owner] = value
    if (wantsSquares) addTo(squares, lostSquares, owner, value * value)
  }
  if (found.form === 'several') {
    eachValue(found, batch, (i, value) => add(owners ? owners[i]! : 0, value))
    return numbers
  }
  const values = gathered(found, batch)
  for (let i = 0; i < count; i++) if (!Number.isNaN(values[i]!)) add(owners ? owners[i]! : 0, values[i]!)
  return numbers
}
