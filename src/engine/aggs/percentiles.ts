import type { SpecOf } from '../../query/aggs/ast.ts'
import { boxplotOf, percentileRanksOf, percentilesOf, singleMetric } from '../../query/aggs/metric-results.ts'
import type { Metric } from '../../query/aggs/result.ts'
import type { AggregationContext, AggregationState, Aggregator } from './aggregator.ts'
import type { Batch, BatchView } from './batch.ts'
import { MEMORY_SHARE } from './cardinality.ts'
import { groupByValue } from './group-by.ts'
import {
  type BucketRows,
  createValueStore,
  ROW_BYTES,
  type RowsPart,
  rowsByOwner,
  type ValuesByBucket,
} from './rows.ts'
import {
  areWords,
  countsFrom,
  medianDeviationOf,
  rankOfValue,
  type Sorted,
  selectQuantiles,
  shorter,
  sortedOf,
  valueAtQuantile,
  type Words,
  wordsInBatch,
} from './sorted-values.ts'
import { createSource } from './value-source.ts'
import { type FoundValues, gathered } from './values.ts'

type QuantileSpec = SpecOf<'percentiles' | 'percentile_ranks' | 'median_absolute_deviation' | 'boxplot'>

/**
 * Percentiles, ranks, deviations and boxplots: exact up to a limit of distinct values, where a
 * t-digest would estimate.
 */
export const createPercentiles = (spec: QuantileSpec, context: AggregationContext): Aggregator => {
  const source = createSource(spec.values, undefined, context)
  const { of, ...store } = createQuantiles(source.read, {
    compression: spec.compression,
    // As they are written: see `percentilesOf`.
    parts: spec.kind === 'percentiles' ? spec.of.map(percent => percent / 100) : undefined,
    most: context.limits.aggregationMemory / MEMORY_SHARE,
    check: context.reader.check,
  })
  const metricOf = (owner: number): Metric => quantileMetric(spec, of(owner))
  return { ...store, result: metricOf, number: (owner, _, rest) => metricOf(owner).number(rest) ?? null }
}

const quantileMetric = (spec: QuantileSpec, quantiles: Quantiles): Metric => {
  const { format } = spec
  switch (spec.kind) {
    case 'median_absolute_deviation': {
      const value = medianDeviationOf(quantiles.sorted)
      return singleMetric(spec.kind, Number.isNaN(value) ? null : value, format)
    }
    case 'boxplot':
      return boxplotOf({ values: quantiles.sorted.values, quantile: quantiles.quantile }, format)
    default: {
      const { keyed } = spec
      const metric =
        spec.kind === 'percentiles'
          ? percentilesOf(quantiles, spec.of, { keyed, format })
          : percentileRanksOf(quantiles, spec.of, { keyed, format })
      return spec.hdrDigits === undefined ? metric : { ...metric, type: `hdr_${spec.kind}` }
    }
  }
}

interface Quantiles {
  sorted: Sorted
  /** The value below which a share (0 to 1) of the values is; NaN without values. */
  quantile(part: number): number
  /** The share (0 to 1) of the values below a value; NaN without values. */
  rank(value: number): number
}

interface QuantileOptions {
  compression: number
  /** Memory limit for exact values, in bytes. */
  most: number
  /** Requested quantiles, from 0 to 1. */
  parts?: readonly number[] | undefined
  check(): void
}

/** All values as they come, or rows of different ones. */
type ValueState = AggregationState & (Words | BucketRows)
interface ValuePart extends RowsPart {
  words?: Words
}

/** Keeps the values of each bucket; of too many different ones, neighbours become their mean. */
export const createQuantiles = (
  foundIn: (at: BatchView, batch: Batch) => FoundValues,
  { compression, most, parts: wanted, check }: QuantileOptions,
) => {
  const known = new Map<number, Quantiles>()
  const least = 50 * Math.min(Math.max(compression, 100), MOST_COMPRESSION)
  const store = createValueStore<ValuePart>(all => shortened(all, least / 2), { most, least, check })
  let all: ValuesByBucket = NO_VALUES
  let ofAll: Quantiles | undefined
  return {
    collect(at: BatchView, batch: Batch): ValueState {
      const found = foundIn(at, batch)
      const words = wanted && found.form === 'each' && !batch.owners && found.raw && wordsInBatch(found.raw, batch)
      if (words) return { ...words, bytes: 100 + words.words.byteLength }
      const rows =
        found.form === 'each' && !batch.owners ? valuesOf(found, batch) : groupByValue(found, batch, false).rows
      return { ...rows, bytes: 100 + rows.keys.length * ROW_BYTES }
    },
    merge(state: AggregationState, owners: Uint32Array) {
      store.add(valuePartOf(state as ValueState, owners), state.bytes)
    },
    finish() {
      ofAll = wanted && selectedIn(store.all(), wanted, check)
      if (!ofAll) all = rowsByOwner(store.all(), check)
      store.clear()
    },
    of(owner: number): Quantiles {
      let found = known.get(owner)
      if (!found) {
        check()
        found = ofAll && owner === 0 ? ofAll : quantilesOf(sortedIn(all, owner))
        known.set(owner, found)
      }
      return found
    },
    bytes: store.bytes,
  }
}

const MOST_COMPRESSION = 1000
const NO_VALUES: ValuesByBucket = {
  ...{ starts: new Uint32Array(1), keys: new Float64Array(0), counts: new Float64Array(0) },
}

const shortened = (all: ValuesByBucket, most: number): ValuesByBucket => {
  const each = Array.from({ length: all.starts.length - 1 }, (_, owner) => shorter(sortedIn(all, owner), most))
  const starts = new Uint32Array(all.starts.length)
  for (const [owner, { values }] of each.entries()) starts[owner + 1] = starts[owner]! + values.length
  const [keys, counts] = [new Float64Array(starts.at(-1)!), new Float64Array(starts.at(-1)!)]
  for (const [owner, { values, ends }] of each.entries()) {
    keys.set(values, starts[owner])
    counts.set(countsFrom(ends), starts[owner])
  }
  return { starts, keys, counts }
}

const sortedIn = ({ keys, counts, starts }: ValuesByBucket, owner: number): Sorted => {
  const [from, to] = owner + 1 < starts.length ? [starts[owner], starts[owner + 1]] : [0, 0]
  return sortedOf(keys.slice(from, to), counts.subarray(from, to))
}

const quantilesOf = (sorted: Sorted): Quantiles => ({
  sorted,
  quantile: part => valueAtQuantile(sorted, part),
  rank: value => rankOfValue(sorted, value),
})

const valuePartOf = (state: ValueState, owners: Uint32Array): ValuePart => {
  if ('keys' in state) return { rows: state, owners }
  let rows: BucketRows | undefined
  return {
    ...{ owners, words: state },
    get rows() {
      rows ??= sortedRows(Float64Array.from(state.words))
      return rows
    },
  }
}

const valuesOf = (found: FoundValues, batch: Batch): BucketRows => {
  const given = gathered(found, batch)
  let size = 0
  for (let i = 0; i < given.length; i++) if (!Number.isNaN(given[i]!)) given[size++] = given[i]! + 0
  return sortedRows(given.slice(0, size))
}

const sortedRows = (values: Float64Array<ArrayBuffer>): BucketRows => {
  const { values: keys, ends } = sortedOf(values)
  return { owners: new Uint32Array(keys.length), keys, counts: countsFrom(ends) }
}

/** Quantiles of small whole numbers in a single bucket, by counting. */
const selectedIn = (
  parts: readonly ValuePart[],
  wanted: readonly number[],
  check: () => void,
): Quantiles | undefined => {
  if (!parts.some(({ words }) => words)) return undefined
  const all: Words[] = []
  for (const part of parts) {
    const { owners, words } = part
    if (owners.length !== 1 || owners[0] !== 0) return undefined
    if (words) all.push(words)
    else if (!areWords(part.rows.keys)) return undefined
    else {
      const own = Uint32Array.from(part.rows.keys)
      all.push({ words: own, counts: part.rows.counts, greatest: own.reduce((most, word) => Math.max(most, word), 0) })
    }
  }
  const quantile = selectQuantiles(all, wanted, check)
  if (!quantile) return undefined
  let sorted: Quantiles | undefined
  const ofAll = () => (sorted ??= quantilesOf(sortedIn(rowsByOwner(parts, check), 0)))
  return {
    get sorted() {
      return ofAll().sorted
    },
    quantile: part => quantile(part) ?? ofAll().quantile(part),
    rank: value => ofAll().rank(value),
  }
}
