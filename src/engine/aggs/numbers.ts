import type { SpecOf } from '../../query/aggs/ast.ts'
import type { Metric } from '../../query/aggs/result.ts'
import { type Summary, summaries } from '../../query/aggs/summaries.ts'
import { type Aggregator, bytesOf, type Context, createNumbers, lengthFor, type State } from './aggregator.ts'
import type { Batch } from './batch.ts'
import { createSource } from './sources.ts'
import { eachValue, type Found } from './values.ts'

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
  const every = Object.values(all)
  const summaryOf = (owner: number): Summary => {
    const count = all.counts.values[owner] ?? 0
    if (count === 0) return { count, sum: 0, least: Infinity, greatest: -Infinity, squares: 0 }
    return {
      count,
      sum: all.sums.values[owner]!,
      least: all.least.values[owner]!,
      greatest: all.greatest.values[owner]!,
      squares: all.squares.values[owner]!,
    }
  }
  const { kind, format } = spec
  const write = summaries[kind] as (summary: Summary, options: typeof spec) => Metric
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
        addTo(all.squares.values, all.lostSquares.values, owner, part.squares[i]!)
        addTo(all.squares.values, all.lostSquares.values, owner, part.lostSquares[i]!)
      }
    },
    finish() {},
    result: owner => write(summaryOf(owner), { ...spec, format }),
    number: (owner, _, rest) => write(summaryOf(owner), spec).number(rest) ?? null,
    bytes: () => every.reduce((sum, one) => sum + one.bytes(), 0),
  }
}

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
  eachValue(found, batch, (i, value) => {
    const owner = owners ? owners[i]! : 0
    counts[owner]!++
    addTo(sums, lost, owner, value)
    if (value < least[owner]!) least[owner] = value
    if (value > greatest[owner]!) greatest[owner] = value
    if (wantsSquares) addTo(squares, lostSquares, owner, value * value)
  })
  return numbers
}
