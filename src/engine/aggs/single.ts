import type { SingleBucket } from '../../query/aggs/result.ts'
import {
  type Aggregator,
  bytesOf,
  bytesOfAll,
  type Context,
  collectAll,
  createNumbers,
  finishAll,
  type Inner,
  lengthFor,
  mergeAll,
  numberIn,
  resultsOf,
  type State,
  shrinkAll,
} from './aggregator.ts'
import { type At, type Batch, countsOf } from './batch.ts'

export interface SingleState extends State {
  counts: Float64Array
  inner: State[]
}

/** An aggregation of one bucket in each bucket above: of some of the documents, or of others that these lead to. */
export const createSingle = (
  type: string,
  inner: Inner,
  context: Context,
  lead: (at: At, batch: Batch) => { at: At; batch: Batch; counts?: Float64Array },
): Aggregator => {
  const counts = createNumbers()
  return {
    collect(at, batch): SingleState {
      const inside = lead(at, batch)
      const states = collectAll(inner, inside.at, inside.batch)
      const here = inside.counts ?? countsOf(inside.batch)
      return { counts: here, inner: states, bytes: bytesOf(states, here) }
    },
    shrink(state): SingleState {
      const { counts, inner: states } = state as SingleState
      const shrunk = shrinkAll(inner, states)
      return { counts, inner: shrunk, bytes: bytesOf(shrunk, counts) }
    },
    merge(state, owners) {
      const { counts: more, inner: states } = state as SingleState
      counts.reserve(lengthFor(owners))
      for (let i = 0; i < owners.length; i++) counts.values[owners[i]!]! += more[i]!
      mergeAll(inner, states, owners)
    },
    finish: owners => finishAll(inner, owners),
    result(owner): SingleBucket {
      context.count(1)
      return { is: 'bucket', type, docCount: counts.values[owner] ?? 0, results: resultsOf(inner, owner) }
    },
    number(owner, steps, rest) {
      if (steps.length === 0 || (steps.length === 1 && steps[0] === '_count')) return counts.values[owner] ?? 0
      return numberIn(inner, owner, steps, rest)
    },
    bytes: () => counts.bytes() + bytesOfAll(inner),
  }
}
