import type { SpecOf } from '../../query/aggs/ast.ts'
import { type Digest, digestOf } from '../../query/aggs/metrics/digest.ts'
import { single } from '../../query/aggs/metrics/numbers.ts'
import { boxplotOf, percentileRanksOf, percentilesOf } from '../../query/aggs/metrics/percentiles.ts'
import type { Metric } from '../../query/aggs/result.ts'
import type { Aggregator, Context, State } from './aggregator.ts'
import type { At, Batch } from './batch.ts'
import { group, type Rows } from './group.ts'
import { inOrder, type Ordered, type Part, upTo } from './merging.ts'
import { selected, type Words, wordsOf } from './selection.ts'
import { areWords, medianDeviationOf, quantileOf, rankOf, type Sorted, sortedOf } from './sorted.ts'
import { createSource } from './sources.ts'
import { type Found, gathered } from './values.ts'

type Spec = SpecOf<'percentiles' | 'percentile_ranks' | 'median_absolute_deviation' | 'boxplot'>

/** What follows from where values lie: exact, unless there are too many different ones. */
export const createPercentiles = (spec: Spec, context: Context): Aggregator => {
  const source = createSource(spec.values, undefined, context)
  const { of, ...store } = createQuantiles(source.read, {
    compression: spec.compression,
    // As they are written: see `percentilesOf`.
    parts: spec.kind === 'percentiles' ? spec.of.map(percent => percent / 100) : undefined,
    most: context.limits.aggregationMemory / KEPT,
    check: context.reader.check,
  })
  const metricOf = (owner: number): Metric => write(spec, of(owner))
  return { ...store, result: metricOf, number: (owner, _, rest) => metricOf(owner).number(rest) ?? null }
}

/** The part of the memory of a search that one aggregation takes before it sketches. */
const KEPT = 8

const write = (spec: Spec, quantiles: Quantiles): Metric => {
  const { format } = spec
  switch (spec.kind) {
    case 'median_absolute_deviation': {
      const value = medianDeviationOf(quantiles.sorted)
      return single(spec.kind, Number.isNaN(value) ? null : value, format)
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

/** What percentiles are told from. */
interface Quantiles extends Pick<Digest, 'quantile' | 'rank'> {
  sorted: Sorted
}

/** The different values of each bucket above, with their counts. Too many of them are put together by a sketch. */
interface QuantileStore extends Pick<Aggregator, 'collect' | 'merge' | 'finish' | 'bytes'> {
  of(owner: number): Quantiles
}

interface QuantileOptions {
  compression: number
  /** Bytes up to which all values are kept. */
  most: number
  /** Parts of all values from 0 to 1: the quantiles that are asked for, and mostly nothing else. */
  parts?: readonly number[] | undefined
  check(): void
}

/** `foundIn`: the values of documents. */
export const createQuantiles = (
  foundIn: (at: At, batch: Batch) => Found,
  { compression, most, parts: wanted, check }: QuantileOptions,
): QuantileStore => {
  const known = new Map<number, Quantiles>()
  /** One of the two. */
  let parts: Waiting[] | undefined = []
  let digests: Digest[] = []
  let bytes = 0
  /** Bytes of parts from which on equal values become one. */
  let room = most
  let all: Ordered | undefined
  let ofAll: Quantiles | undefined

  const toDigests = ({ starts, keys, counts }: Ordered) => {
    digests = Array.from({ length: starts.length - 1 }, (_, owner) => {
      const [from, to] = [starts[owner]!, starts[owner + 1]!]
      return digestFrom(keys.slice(from, to), counts.slice(from, to), compression)
    })
    parts = undefined
    bytes = 0
  }

  const shorten = (waiting: readonly Waiting[]) => {
    const rows = withoutRepeats(inOrder(waiting.map(inRows), check), check)
    const above = rows.starts.length - 1
    const size = rows.keys.length * ROW
    // Sketches of few values each would take more than these.
    if (size > most && rows.keys.length >= above * Math.max(MANY, 20 * compression)) return toDigests(rows)
    parts = [{ state: { ...rows, owners: ownersOf(rows.starts) }, owners: upTo(above) }]
    bytes = size
    room = Math.max(most, 2 * size)
  }

  const mergeSketched = ({ owners: rowOwners, keys, counts }: Rows, owners: Uint32Array) => {
    const places = Uint32Array.from(keys, (_, i) => i).sort((a, b) => rowOwners[a]! - rowOwners[b]!)
    for (let from = 0, to = 0; from < places.length; from = to) {
      const owner = rowOwners[places[from]!]!
      while (to < places.length && rowOwners[places[to]!] === owner) to++
      const here = places.subarray(from, to)
      const more = digestFrom(
        Float64Array.from(here, place => keys[place]!),
        Float64Array.from(here, place => counts[place]!),
        compression,
      )
      const number = owners[owner]!
      if (digests[number]) digests[number].merge(more)
      else digests[number] = more
    }
  }

  return {
    collect(at, batch) {
      const found = foundIn(at, batch)
      const words = wanted && found.form === 'each' && !batch.owners && found.raw && wordsOf(found.raw, batch)
      if (words) return { ...words, bytes: 100 + words.words.byteLength } satisfies State & Words
      const rows = found.form === 'each' && !batch.owners ? valuesOf(found, batch) : group(found, batch, false).rows
      return { ...rows, bytes: 100 + rows.keys.length * ROW } satisfies State & Rows
    },
    merge(part, owners) {
      const state = part as State & (Rows | Words)
      if (!parts) return mergeSketched(rowsIn(state), owners)
      parts.push({ state, owners })
      bytes += state.bytes
      if (bytes > room) shorten(parts)
    },
    finish() {
      if (!parts) return
      ofAll = wanted && selectedIn(parts, wanted, check)
      if (!ofAll) all = inOrder(parts.map(inRows), check)
      parts = []
    },
    of(owner) {
      let found = known.get(owner)
      if (!found) {
        check()
        found = ofAll && owner === 0 ? ofAll : parts ? exactly(all ?? NO_ROWS, owner) : roughly(digests[owner])
        known.set(owner, found)
      }
      return found
    },
    bytes: () => bytes + digests.reduce((sum, digest) => sum + (digest?.bytes() ?? 0) + 500, 0),
  }
}

/** Bytes of a value with its count and its bucket above. */
const ROW = 20
/** Values of a bucket from which on a sketch is smaller. */
const MANY = 5000

interface Waiting {
  state: Rows | Words
  owners: Uint32Array
}

/** All values of a batch without buckets, in their order. */
const valuesOf = (found: Found, batch: Batch): Rows => {
  const given = gathered(found, batch)
  let size = 0
  for (let i = 0; i < given.length; i++) if (!Number.isNaN(given[i]!)) given[size++] = given[i]! + 0
  return rowsOf(given.slice(0, size))
}

const rowsOf = (values: Float64Array<ArrayBuffer>): Rows => {
  const { values: keys, ends } = sortedOf(values)
  return { owners: new Uint32Array(keys.length), keys, counts: countsFrom(ends) }
}

const rowsIn = (state: Rows | Words): Rows => ('keys' in state ? state : rowsOf(Float64Array.from(state.words)))

const inRows = ({ state, owners }: Waiting): Part => ({ rows: rowsIn(state), owners })

/** Of all values together, where nothing lies above and all are small whole numbers. */
const selectedIn = (parts: readonly Waiting[], wanted: readonly number[], check: () => void): Quantiles | undefined => {
  if (!parts.some(({ state }) => 'words' in state)) return undefined
  const all: Words[] = []
  for (const { state, owners } of parts) {
    if (owners.length !== 1 || owners[0] !== 0) return undefined
    if ('words' in state) all.push(state)
    else if (!areWords(state.keys)) return undefined
    else {
      const words = Uint32Array.from(state.keys)
      all.push({ words, counts: state.counts, greatest: words.reduce((most, word) => Math.max(most, word), 0) })
    }
  }
  const quantile = selected(all, wanted, check)
  if (!quantile) return undefined
  let sorted: Sorted | undefined
  const sort = () => (sorted ??= exactly(inOrder(parts.map(inRows), check), 0).sorted)
  return {
    get sorted() {
      return sort()
    },
    quantile: part => quantile(part) ?? quantileOf(sort(), part),
    rank: value => rankOf(sort(), value),
  }
}

const NO_ROWS: Ordered = {
  ...{ starts: new Uint32Array(1), keys: new Float64Array(0), counts: new Float64Array(0) },
  ...{ bases: new Uint32Array(0), places: undefined },
}

const countsFrom = (ends: Float64Array): Float64Array => {
  const counts = ends.slice()
  for (let i = counts.length - 1; i > 0; i--) counts[i]! -= counts[i - 1]!
  return counts
}

const withoutRepeats = ({ starts, ...all }: Ordered, check: () => void): Ordered => {
  const sorted = Array.from({ length: starts.length - 1 }, (_, owner) => {
    check()
    const [from, to] = [starts[owner]!, starts[owner + 1]!]
    return sortedOf(all.keys.slice(from, to), all.counts.subarray(from, to))
  })
  const shorter = new Uint32Array(starts.length)
  for (const [owner, { values }] of sorted.entries()) shorter[owner + 1] = shorter[owner]! + values.length
  const [keys, counts] = [new Float64Array(shorter.at(-1)!), new Float64Array(shorter.at(-1)!)]
  for (const [owner, { values, ends }] of sorted.entries()) {
    keys.set(values, shorter[owner])
    counts.set(countsFrom(ends), shorter[owner])
  }
  return { ...all, starts: shorter, keys, counts }
}

const ownersOf = (starts: Uint32Array): Uint32Array => {
  const owners = new Uint32Array(starts.at(-1)!)
  for (let owner = 0; owner + 1 < starts.length; owner++) owners.fill(owner, starts[owner], starts[owner + 1])
  return owners
}

const exactly = ({ keys, counts, starts }: Ordered, owner: number): Quantiles => {
  const [from, to] = owner + 1 < starts.length ? [starts[owner]!, starts[owner + 1]!] : [0, 0]
  const sorted = sortedOf(keys.slice(from, to), counts.subarray(from, to))
  return { sorted, quantile: part => quantileOf(sorted, part), rank: value => rankOf(sorted, value) }
}

const roughly = (digest: Digest | undefined): Quantiles => {
  if (!digest) return { sorted: NOTHING, quantile: () => Number.NaN, rank: () => Number.NaN }
  const { means, weights, min, max } = digest.state()
  const sorted = sortedOf(Float64Array.of(min, ...means, max), Float64Array.of(0, ...weights.map(Math.abs), 0))
  return { sorted, quantile: digest.quantile, rank: digest.rank }
}

const NOTHING: Sorted = { values: new Float64Array(0), ends: new Float64Array(0), total: 0 }

const digestFrom = (values: Float64Array<ArrayBuffer>, counts: Float64Array, compression: number): Digest => {
  const { values: means, ends } = sortedOf(values, counts)
  const weights = ends.map((end, i) => (i === 0 ? end : end - ends[i - 1]!))
  const whole = digestOf({
    ...{ compression, means, weights },
    min: means[0] ?? Number.POSITIVE_INFINITY,
    max: means.at(-1) ?? Number.NEGATIVE_INFINITY,
  })
  // What is merged is made as short as a sketch has to be.
  const short = digestOf({ ...EMPTY, compression })
  short.merge(whole)
  return short
}

const EMPTY = {
  min: Number.POSITIVE_INFINITY,
  max: Number.NEGATIVE_INFINITY,
  means: new Float64Array(0),
  weights: new Float64Array(0),
}
