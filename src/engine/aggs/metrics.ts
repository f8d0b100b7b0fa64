import type { SpecOf } from '../../query/aggs/ast.ts'
import {
  counting,
  extendedStatsOf,
  type MetricTotals,
  simpleOf,
  singleMetric,
  statsOf,
  withBooleans,
} from '../../query/aggs/metric-results.ts'
import type { Metric } from '../../query/aggs/result.ts'
import { MISSING } from '../index/column-codec.ts'
import {
  type AggregationContext,
  type AggregationState,
  type Aggregator,
  bytesOfStates,
  createNumbers,
  lengthFor,
  sumIn,
} from './aggregator.ts'
import type { Batch, BatchView } from './batch.ts'
import { sharedKeys } from './keys.ts'
import { createSource } from './value-source.ts'
import { codesIn, eachValue, type FoundValues, gathered, gatheredOnce, type RawNumbers } from './values.ts'

/** Columns and their reducers. Sums are compensated (Kahan), as in Elasticsearch. */
const REDUCERS = {
  counts: 'count',
  sums: 'sum',
  squares: 'sum',
  weights: 'sum',
  least: 'least',
  greatest: 'greatest',
} as const
type MetricColumn = keyof typeof REDUCERS
type MetricColumns = Partial<Record<MetricColumn, Float64Array>>
const START_VALUES = { count: 0, sum: 0, least: Number.POSITIVE_INFINITY, greatest: Number.NEGATIVE_INFINITY }

interface Collected {
  columns: MetricColumns
  /** Rounding errors of the sums. */
  lost: MetricColumns
  /** An upper bound of all sums of whole numbers from 0 on; else infinite. */
  total: number
}
type MetricState = Collected & AggregationState

interface MetricKind {
  columns: readonly MetricColumn[]
  collect(at: BatchView, batch: Batch): Collected
  result(of: (column: MetricColumn) => number): Metric
  /** The column whose numbers add up to the metric's own number. */
  adds?: MetricColumn
  /** The metric's own number, without creating a result. */
  number?(of: (column: MetricColumn) => number): number
}

const createMetric = (kind: MetricKind): Aggregator => {
  const { columns, adds } = kind
  const values = Object.fromEntries(columns.map(name => [name, createNumbers(START_VALUES[REDUCERS[name]])]))
  const lost = Object.fromEntries(columns.map(name => [name, createNumbers()]))
  let bound = 0
  const columnsOf =
    (owner: number) =>
    (name: MetricColumn): number =>
      values[name]?.values[owner] ?? START_VALUES[REDUCERS[name]]
  const isOwn = (rest: string | undefined): boolean => rest === undefined || rest === 'value'
  return {
    collect(at, batch): MetricState {
      const { total, ...all } = kind.collect(at, batch)
      const found = Object.fromEntries(columns.map(name => [name, all.columns[name]!]))
      const rounded = Object.fromEntries(columns.flatMap(name => (all.lost[name] ? [[name, all.lost[name]]] : [])))
      const bytes = bytesOfStates([], ...Object.values(found), ...Object.values(rounded))
      return { columns: found, lost: rounded, total, bytes }
    },
    merge(state, owners) {
      const part = state as MetricState
      const length = lengthFor(owners)
      bound += part.total
      for (const name of columns) {
        const into = values[name]!
        into.reserve(length)
        const more = part.columns[name]!
        if (REDUCERS[name] === 'least') mergeLeast(into.values, owners, more)
        else if (REDUCERS[name] === 'greatest') mergeGreatest(into.values, owners, more)
        else if (REDUCERS[name] === 'count' || bound < Number.MAX_SAFE_INTEGER) addWhole(into.values, owners, more)
        else {
          lost[name]!.reserve(into.values.length)
          addAllCompensated(into.values, lost[name]!.values, owners, more)
          if (part.lost[name]) addAllCompensated(into.values, lost[name]!.values, owners, part.lost[name])
        }
      }
    },
    // `total` of all buckets also bounds that of some.
    isColumnar: true,
    summands(state, rest) {
      const part = state as MetricState
      return adds && isOwn(rest) && Number.isFinite(part.total) ? part.columns[adds] : undefined
    },
    finish() {},
    result: owner => kind.result(columnsOf(owner)),
    number(owner, _, rest) {
      const of = columnsOf(owner)
      return (isOwn(rest) ? kind.number?.(of) : undefined) ?? kind.result(of).number(rest) ?? null
    },
    bytes: () => columns.reduce((sum, name) => sum + values[name]!.bytes() + lost[name]!.bytes(), 0),
  }
}

const addWhole = (into: Float64Array, owners: Uint32Array, more: Float64Array) => {
  for (let i = 0; i < more.length; i++) into[owners[i]!]! += more[i]!
}

const addAllCompensated = (sums: Float64Array, lost: Float64Array, owners: Uint32Array, more: Float64Array) => {
  for (let i = 0; i < more.length; i++) addCompensated(sums, lost, owners[i]!, more[i]!)
}

const mergeLeast = (into: Float64Array, owners: Uint32Array, more: Float64Array) => {
  for (let i = 0; i < owners.length; i++) if (more[i]! < into[owners[i]!]!) into[owners[i]!] = more[i]!
}

const mergeGreatest = (into: Float64Array, owners: Uint32Array, more: Float64Array) => {
  for (let i = 0; i < owners.length; i++) if (more[i]! > into[owners[i]!]!) into[owners[i]!] = more[i]!
}

/** Adds the previous rounding error with the next summand. */
export const addCompensated = (sums: Float64Array, lost: Float64Array, at: number, value: number) => {
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

type NumbersSpec = SpecOf<'avg' | 'sum' | 'min' | 'max' | 'stats' | 'extended_stats'>

const COLUMNS_OF_KIND: Record<NumbersSpec['kind'], readonly MetricColumn[]> = {
  avg: ['counts', 'sums'],
  sum: ['sums'],
  min: ['least'],
  max: ['greatest'],
  stats: ['counts', 'sums', 'least', 'greatest'],
  extended_stats: ['counts', 'sums', 'least', 'greatest', 'squares'],
}

export const createNumbersOf = (spec: NumbersSpec, context: AggregationContext): Aggregator => {
  const source = createSource(spec.values, undefined, context)
  const columns = COLUMNS_OF_KIND[spec.kind]
  return createMetric({
    columns,
    collect: (at, batch) => collectNumbers(source.read(at, batch), batch, columns),
    result(of) {
      const [count, sum, sumOfSquares] = [of('counts'), of('sums'), of('squares')]
      return numbersMetric(spec, { count, sum, sumOfSquares, min: of('least'), max: of('greatest') })
    },
    ...(spec.kind === 'sum' && { adds: 'sums', number: of => of('sums') }),
    ...(spec.kind === 'avg' && { number: of => of('sums') / of('counts') }),
  })
}

const numbersMetric = (spec: NumbersSpec, totals: MetricTotals): Metric => {
  const { format } = spec
  const shown = (metric: Metric) => (spec.values.type === 'boolean' ? withBooleans(metric) : metric)
  switch (spec.kind) {
    case 'stats':
      return shown(statsOf(totals, format))
    case 'extended_stats':
      return shown(extendedStatsOf(totals, spec.sigma, format))
    default:
      return simpleOf(spec.kind, totals, format)
  }
}

export const createValueCount = (
  { values, format }: SpecOf<'value_count'>,
  context: AggregationContext,
): Aggregator => {
  const keys = values.type === 'keyword' ? sharedKeys(values, context) : undefined
  const source = createSource(values, keys, context)
  const hasText = format && values.type !== 'date' && values.type !== 'boolean'
  return createMetric({
    ...{ columns: ['counts'], adds: 'counts' },
    collect(at, batch) {
      const counts = new Float64Array(batch.buckets)
      const { owners } = batch
      eachValue(source.read(at, batch), batch, i => {
        counts[owners ? owners[i]! : 0]!++
      })
      return { columns: { counts }, lost: {}, total: 0 }
    },
    result(of) {
      const metric = counting('value_count', of('counts'))
      return hasText ? { ...metric, body: [...metric.body, ['value_as_string', format(of('counts'))]] } : metric
    },
  })
}

/** Totals, which `divideRates` divides once it knows the bucket of dates. */
export const createRate = ({ values, counts }: SpecOf<'rate'>, context: AggregationContext): Aggregator => {
  const format = undefined
  if (values && counts) return createValueCount({ kind: 'value_count', values, format }, context)
  if (values) return createNumbersOf({ kind: 'sum', values, format, exact: false }, context)
  return createMetric({
    ...{ columns: ['counts'], adds: 'counts' },
    collect(_, { buckets, count, owners }) {
      const counts = new Float64Array(buckets)
      for (let i = 0; i < count; i++) counts[owners ? owners[i]! : 0]!++
      return { columns: { counts }, lost: {}, total: 0 }
    },
    result: of => counting('rate', of('counts')),
  })
}

export const createWeightedAvg = (
  { value, weight, format }: SpecOf<'weighted_avg'>,
  context: AggregationContext,
): Aggregator => {
  const sources = [createSource(value, undefined, context), createSource(weight, undefined, context)] as const
  return createMetric({
    columns: ['sums', 'weights'],
    collect(at, batch) {
      const { owners, buckets, count } = batch
      const [left, right] = [gathered(sources[0].read(at, batch), batch), gathered(sources[1].read(at, batch), batch)]
      const [sums, lost] = [new Float64Array(buckets), new Float64Array(buckets)]
      const [weights, lostWeights] = [new Float64Array(buckets), new Float64Array(buckets)]
      for (let i = 0; i < count; i++) {
        const [one, by] = [left[i]!, right[i]!]
        if (Number.isNaN(one) || Number.isNaN(by)) continue
        addCompensated(sums, lost, owners ? owners[i]! : 0, one * by)
        addCompensated(weights, lostWeights, owners ? owners[i]! : 0, by)
      }
      return { columns: { sums, weights }, lost: {}, total: Number.POSITIVE_INFINITY }
    },
    result: of => singleMetric('weighted_avg', of('weights') === 0 ? null : of('sums') / of('weights'), format),
  })
}

const collectNumbers = (found: FoundValues, batch: Batch, columns: readonly MetricColumn[]): Collected => {
  const wantsSquares = columns.includes('squares')
  const raw = found.form === 'each' && !wantsSquares ? found.raw : undefined
  if (raw && (raw.base + 2 ** 32) * batch.count < Number.MAX_SAFE_INTEGER) return collectWhole(raw, batch, columns)
  const summands = summandsOf(found, batch)
  const exact = wantsSquares ? undefined : exactSums(summands, batch.buckets)
  if (!exact) return collectAny(summands, batch.buckets, columns)
  return { columns: { ...exact, ...extremesIn(summands, batch.buckets, columns) }, lost: {}, total: sumIn(exact.sums) }
}

/** Numbers of buckets, which are consecutive unless there are `owners`; NaN is none. */
interface Summands {
  values: Float64Array
  /** How often each is added. */
  times?: Uint32Array
  owners?: Uint32Array | undefined
  ends: ArrayLike<number>
}

const summandsOf = (found: FoundValues, batch: Batch): Summands => {
  const { runs, count } = batch
  const owners = runs ? undefined : batch.owners
  if (found.form === 'several') {
    const { keys: values, ends } = found
    if (!batch.owners) return { values, ends: [values.length] }
    const repeated = new Uint32Array(values.length)
    for (let i = 0, j = 0; i < count; i++) for (; j < ends[i]!; j++) repeated[j] = batch.owners[i]!
    return { values, owners: repeated, ends: [] }
  }
  if (found.form === 'few' && !runs && !owners && found.keys.length < count) {
    const times = new Uint32Array(found.keys.length)
    const codes = codesIn(found.at, batch)
    for (let i = 0; i < count; i++) times[codes[i]!]!++
    return { values: found.keys, times, ends: [times.length] }
  }
  return { values: gatheredOnce(found, batch), owners, ends: owners ? [] : (runs ?? [count]) }
}

/** Undefined if a number is below 0 or not whole, or if a double does not hold all sums exactly. */
const exactSums = ({ values, times, owners, ends }: Summands, buckets: number) => {
  const [counts, sums] = [new Float64Array(buckets), new Float64Array(buckets)]
  let total = 0
  if (owners)
    for (let i = 0; i < values.length; i++) {
      const value = values[i]!
      if (Number.isNaN(value)) continue
      if (!(value >= 0 && Math.floor(value) === value)) return undefined
      counts[owners[i]!]!++
      sums[owners[i]!]! += value
      total += value
    }
  for (let bucket = 0, i = 0; bucket < ends.length; bucket++) {
    const before = total
    let present = 0
    for (const end = ends[bucket]!; i < end; i++) {
      const value = values[i]!
      if (Number.isNaN(value)) continue
      if (!(value >= 0 && Math.floor(value) === value)) return undefined
      const often = times ? times[i]! : 1
      present += often
      total += often === 0 ? 0 : value * often
    }
    counts[bucket] = present
    sums[bucket] = total - before
  }
  return total < Number.MAX_SAFE_INTEGER ? { counts, sums } : undefined
}

const extremesIn = (
  { values, times, owners, ends }: Summands,
  buckets: number,
  columns: readonly MetricColumn[],
): MetricColumns => {
  if (!columns.includes('least') && !columns.includes('greatest')) return {}
  const least = new Float64Array(buckets).fill(Number.POSITIVE_INFINITY)
  const greatest = new Float64Array(buckets).fill(Number.NEGATIVE_INFINITY)
  for (let i = 0, owner = 0; i < values.length; i++) {
    if (owners) owner = owners[i]!
    else while (i >= ends[owner]!) owner++
    if (times && times[i] === 0) continue
    const value = values[i]!
    if (value < least[owner]!) least[owner] = value
    if (value > greatest[owner]!) greatest[owner] = value
  }
  return { least, greatest }
}

/** Whole numbers whose sums a double holds exactly. */
const collectWhole = ({ values, base }: RawNumbers, batch: Batch, columns: readonly MetricColumn[]): Collected => {
  const { buckets, count, runs } = batch
  const codes = codesIn(values, batch)
  const none = base === MISSING ? 0 : -1
  const [counts, sums] = [new Float64Array(buckets), new Float64Array(buckets)]
  if (columns.includes('sums')) {
    const owners = runs ? undefined : batch.owners
    const isCounted = columns.includes('counts')
    if (owners)
      for (let i = 0; i < count; i++) {
        const code = codes[i]!
        if (code === none) continue
        if (isCounted) counts[owners[i]!]!++
        sums[owners[i]!]! += base + code
      }
    const ends = owners ? [] : (runs ?? [count])
    for (let bucket = 0, i = 0; bucket < ends.length; bucket++) {
      const [start, end] = [i, ends[bucket]!]
      let sum = 0
      let zeros = 0
      for (; i < end; i++) {
        const code = codes[i]!
        sum += code
        if (code === 0) zeros++
      }
      counts[bucket] = end - start - (none === 0 ? zeros : 0)
      sums[bucket] = sum + base * counts[bucket]!
    }
  }
  const found = {
    counts,
    sums,
    ...(columns.includes('least') || columns.includes('greatest') ? extremesOf(codes, base, batch) : {}),
  }
  return { columns: found, lost: {}, total: sumIn(sums) }
}

const extremesOf = (codes: ReturnType<typeof codesIn>, base: number, { count, owners, buckets }: Batch) => {
  const none = base === MISSING ? 0 : -1
  const least = new Float64Array(buckets).fill(Number.POSITIVE_INFINITY)
  const greatest = new Float64Array(buckets).fill(Number.NEGATIVE_INFINITY)
  for (let i = 0; i < count; i++) {
    const code = codes[i]!
    if (code === none) continue
    const owner = owners ? owners[i]! : 0
    if (base + code < least[owner]!) least[owner] = base + code
    if (base + code > greatest[owner]!) greatest[owner] = base + code
  }
  return { least, greatest }
}

/** As `addCompensated`, for one sum, which needs no look into arrays. */
const addAll = (values: Float64Array): [count: number, sum: number, lost: number] => {
  let [count, sum, lost] = [0, 0, 0]
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    if (Number.isNaN(value)) continue
    count++
    // Infinite numbers leave no error.
    if (value - value !== 0) sum += value
    else {
      const corrected = value + lost
      const next = sum + corrected
      lost = corrected - (next - sum)
      sum = next
    }
  }
  return [count, sum, lost]
}

/** Sums compensated for rounding errors. */
const collectAny = (summands: Summands, buckets: number, columns: readonly MetricColumn[]): Collected => {
  const wantsSquares = columns.includes('squares')
  const { values, times, owners, ends } = summands
  const [counts, sums, lost] = [new Float64Array(buckets), new Float64Array(buckets), new Float64Array(buckets)]
  const squares = new Float64Array(wantsSquares ? buckets : 0)
  const lostSquares = new Float64Array(wantsSquares ? buckets : 0)
  const isPlain = !owners && !times && ends.length === 1 && !wantsSquares
  if (isPlain) [counts[0], sums[0], lost[0]] = addAll(values)
  else
    for (let i = 0, owner = 0; i < values.length; i++) {
      if (owners) owner = owners[i]!
      else while (i >= ends[owner]!) owner++
      const value = values[i]!
      const often = times ? times[i]! : 1
      if (often === 0 || Number.isNaN(value)) continue
      counts[owner]! += often
      addCompensated(sums, lost, owner, value * often)
      if (wantsSquares) addCompensated(squares, lostSquares, owner, value * value * often)
    }
  return {
    columns: { counts, sums, squares, ...extremesIn(summands, buckets, columns) },
    ...{ lost: { sums: lost, squares: lostSquares }, total: Number.POSITIVE_INFINITY },
  }
}
