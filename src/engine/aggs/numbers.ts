import type { SpecOf } from '../../query/aggs/ast.ts'
import { avgOf } from '../../query/aggs/metrics/avg.ts'
import { extendedStatsOf } from '../../query/aggs/metrics/extended-stats.ts'
import { maxOf } from '../../query/aggs/metrics/max.ts'
import { minOf } from '../../query/aggs/metrics/min.ts'
import type { Totals } from '../../query/aggs/metrics/moments.ts'
import { statsOf, withBooleans } from '../../query/aggs/metrics/stats.ts'
import { sumOf } from '../../query/aggs/metrics/sum.ts'
import type { Metric } from '../../query/aggs/result.ts'
import { type Aggregator, bytesOf, type Context, createNumbers, lengthFor, type State } from './aggregator.ts'
import type { Batch } from './batch.ts'
import { packArrays, takenAll } from './packed.ts'
import { createSource } from './sources.ts'
import { eachValue, type Found, gathered, type RawNumbers } from './values.ts'
import { endsOfWhole, totalsOfWhole } from './whole-numbers.ts'

/** By bucket. Sums are compensated (Kahan), as Elasticsearch's are. What nobody asks for is empty. */
export interface Numbers {
  counts: Float64Array
  sums: Float64Array
  /** Empty also where nothing is lost. */
  lost: Float64Array
  least: Float64Array
  greatest: Float64Array
  squares: Float64Array
  lostSquares: Float64Array
  /** At least the sum of all, where they are whole numbers and none is below 0; else infinite. */
  total: number
}

type Spec = SpecOf<'avg' | 'sum' | 'min' | 'max' | 'stats' | 'extended_stats'>

/** What an aggregation follows from. */
interface Wants {
  counts?: true
  sums?: true
  ends?: true
  squares?: true
}

const WANTS: Record<Spec['kind'], Wants> = {
  avg: { counts: true, sums: true },
  sum: { sums: true },
  min: { ends: true },
  max: { ends: true },
  stats: { counts: true, sums: true, ends: true },
  extended_stats: { counts: true, sums: true, ends: true, squares: true },
}

/** What follows from count, sum, least, greatest and sum of squares. */
export const createNumbersOf = (spec: Spec, context: Context): Aggregator => {
  const source = createSource(spec.values, undefined, context)
  const wants = WANTS[spec.kind]
  const [counts, sums, lost] = [createNumbers(), createNumbers(), createNumbers()]
  const [squares, lostSquares] = [createNumbers(), createNumbers()]
  const [least, greatest] = [createNumbers(Number.POSITIVE_INFINITY), createNumbers(Number.NEGATIVE_INFINITY)]
  const every = [
    ...(wants.counts ? [counts] : []),
    ...(wants.sums ? [sums] : []),
    ...(wants.ends ? [least, greatest] : []),
    ...(wants.squares ? [squares, lostSquares] : []),
  ]
  const totalsOf = (owner: number): Totals => ({
    count: counts.values[owner] ?? 0,
    sum: sums.values[owner] ?? 0,
    min: least.values[owner] ?? Number.POSITIVE_INFINITY,
    max: greatest.values[owner] ?? Number.NEGATIVE_INFINITY,
    sumOfSquares: squares.values[owner] ?? 0,
  })
  const metricOf = (owner: number): Metric => {
    const metric = write(spec, totalsOf(owner))
    return spec.values.type === 'boolean' && SEVERAL.has(spec.kind) ? withBooleans(metric) : metric
  }
  /** Bound of all sums so far. */
  let bound = 0
  const addSums = (part: Numbers, owners: Uint32Array) => {
    bound += part.total
    if (bound < Number.MAX_SAFE_INTEGER) return addWhole(sums.values, owners, part.sums)
    lost.reserve(sums.values.length)
    addAll(sums.values, lost.values, owners, part.sums)
    addAll(sums.values, lost.values, owners, part.lost)
  }
  return {
    collect(at, batch): Numbers & State {
      const numbers = collectNumbers(source.read(at, batch), batch, wants)
      const { total, ...arrays } = numbers
      return { ...numbers, bytes: bytesOf([], ...Object.values(arrays)) }
    },
    merge(state, owners) {
      const part = state as Numbers & State
      const length = lengthFor(owners)
      for (const one of every) one.reserve(length)
      if (wants.counts) for (let i = 0; i < owners.length; i++) counts.values[owners[i]!]! += part.counts[i]!
      if (wants.sums) addSums(part, owners)
      if (wants.ends) mergeEnds(least.values, greatest.values, owners, part)
      if (!wants.squares) return
      addAll(squares.values, lostSquares.values, owners, part.squares)
      addAll(squares.values, lostSquares.values, owners, part.lostSquares)
    },
    pick(state, buckets): Numbers & State {
      const { total, bytes, ...arrays } = state as Numbers & State
      return { ...takenAll(arrays, buckets), total, bytes }
    },
    pack(state, order) {
      const { total, bytes, ...arrays } = state as Numbers & State
      const packed = packArrays(arrays, order)
      // The total of all bounds that of some.
      return { ...packed, of: (places): Numbers & State => ({ ...packed.of(places), total, bytes }) }
    },
    summands(state, rest) {
      const { sums, total } = state as Numbers & State
      return spec.kind === 'sum' && isOwn(rest) && Number.isFinite(total) ? sums : undefined
    },
    finish() {},
    result: metricOf,
    number: (owner, _, rest) => write(spec, totalsOf(owner)).number(rest) ?? null,
    numbers(rest) {
      if (!isOwn(rest)) return undefined
      if (spec.kind === 'sum') return sums.values
      return spec.kind === 'avg' ? sums.values.map((sum, i) => sum / counts.values[i]!) : undefined
    },
    bytes: () => every.reduce((sum, one) => sum + one.bytes(), lost.bytes()),
  }
}

const isOwn = (rest: string | undefined): boolean => rest === undefined || rest === 'value'

const sumIn = (numbers: Float64Array): number => {
  let sum = 0
  for (let i = 0; i < numbers.length; i++) sum += numbers[i]!
  return sum
}

/** Where nothing is lost. */
const addWhole = (sums: Float64Array, owners: Uint32Array, more: Float64Array) => {
  for (let i = 0; i < more.length; i++) sums[owners[i]!]! += more[i]!
}

const addAll = (sums: Float64Array, lost: Float64Array, owners: Uint32Array, more: Float64Array) => {
  for (let i = 0; i < more.length; i++) addTo(sums, lost, owners[i]!, more[i]!)
}

const mergeEnds = (least: Float64Array, greatest: Float64Array, owners: Uint32Array, part: Numbers) => {
  for (let i = 0; i < owners.length; i++) {
    const owner = owners[i]!
    if (part.least[i]! < least[owner]!) least[owner] = part.least[i]!
    if (part.greatest[i]! > greatest[owner]!) greatest[owner] = part.greatest[i]!
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

const EMPTY = new Float64Array(0)

const collectNumbers = (found: Found, batch: Batch, wants: Wants): Numbers => {
  const raw = found.form === 'each' && !wants.squares ? found.raw : undefined
  if (raw && (raw.base + 2 ** 32) * batch.count < Number.MAX_SAFE_INTEGER) return collectWhole(raw, batch, wants)
  const { counts, sums, lost, least, greatest, ...squares } = collectAny(found, batch, wants.squares === true)
  return {
    ...squares,
    total: areWhole(found, batch.count) ? sumIn(sums) : Number.POSITIVE_INFINITY,
    counts: wants.counts ? counts : EMPTY,
    ...(wants.sums ? { sums, lost } : { sums: EMPTY, lost: EMPTY }),
    ...(wants.ends ? { least, greatest } : { least: EMPTY, greatest: EMPTY }),
  }
}

/** Whether their sum is exact, in any order. */
const areWhole = (found: Found, count: number): boolean =>
  found.form === 'few' &&
  found.keys.every(
    key => Number.isNaN(key) || (key >= 0 && key * count < Number.MAX_SAFE_INTEGER && Math.floor(key) === key),
  )

const collectWhole = (raw: RawNumbers, batch: Batch, wants: Wants): Numbers => {
  const totals = wants.sums ? totalsOfWhole(raw, batch) : { counts: EMPTY, sums: EMPTY }
  return {
    ...{ lost: EMPTY, squares: EMPTY, lostSquares: EMPTY },
    total: sumIn(totals.sums),
    counts: wants.counts ? totals.counts : EMPTY,
    sums: totals.sums,
    ...(wants.ends ? endsOfWhole(raw, batch) : { least: EMPTY, greatest: EMPTY }),
  }
}

const collectAny = (found: Found, batch: Batch, wantsSquares: boolean): Omit<Numbers, 'total'> => {
  const { buckets, owners, count } = batch
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
    const { list, from } = batch
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
