import type { Totals } from '../../query/aggs/metrics/moments.ts'
import { bytesOf, type State } from './aggregator.ts'
import type { CountState } from './counts.ts'
import type { ExactState } from './exact.ts'
import type { Rows } from './group.ts'
import type { KeyedState } from './led.ts'
import type { Numbers } from './numbers.ts'
import type { SingleState } from './single.ts'
import type { Weighted } from './weighted-avg.ts'

/** What aggregators merge, of documents that lie elsewhere: from what is told of them, by bucket above. */

/** Of terms, histograms, filters and others with buckets by keys. `above`: how many buckets lie above. */
export const keyedState = (rows: Rows, above: number, inner: State[]): KeyedState => ({
  ...{ ...rows, above, inner },
  bytes: bytesOf(inner, rows.owners, rows.keys, rows.counts),
})

export const singleState = (counts: Float64Array, inner: State[]): SingleState => ({
  ...{ counts, inner },
  bytes: bytesOf(inner, counts),
})

export const countState = (counts: Float64Array): CountState => ({ counts, bytes: bytesOf([], counts) })

/** Of values with how many there are of each: percentiles and the like, and different values. */
export const valuesState = (rows: Rows): Rows & State => ({
  ...rows,
  bytes: bytesOf([], rows.owners, rows.keys, rows.counts),
})

export const exactState = (totals: bigint[]): ExactState => ({ totals, bytes: 100 + 48 * totals.length })

export const weightedState = ({ sums, weights }: Omit<Weighted, 'bytes'>): Weighted => ({
  ...{ sums, weights },
  bytes: bytesOf([], sums, weights),
})

export const numbersState = (each: readonly Totals[]): Numbers & State => {
  const of = (name: keyof Totals) => Float64Array.from(each, totals => totals[name])
  const [counts, sums, squares] = [of('count'), of('sum'), of('sumOfSquares')]
  const arrays = { counts, sums, squares, least: of('min'), greatest: of('max') }
  const nothing = new Float64Array(each.length)
  return {
    ...{ ...arrays, lost: nothing, lostSquares: nothing },
    // What was rounded elsewhere is not known.
    total: Number.POSITIVE_INFINITY,
    bytes: bytesOf([], ...Object.values(arrays)),
  }
}
