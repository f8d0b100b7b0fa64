import type { SpecOf } from '../../query/aggs/ast.ts'
import { rangeKey } from '../../query/aggs/buckets.ts'
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
import { type At, type Batch, countsOf, filtered, ordinalAt } from './batch.ts'
import { createChoices } from './buckets.ts'
import { createSource } from './sources.ts'
import { eachValue, gathered } from './values.ts'

interface SingleState extends State {
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

export const createRange = (spec: SpecOf<'range' | 'date_range'>, inner: Inner, context: Context): Aggregator => {
  const source = createSource(spec.values, undefined, context)
  return createChoices(
    spec.ranges,
    {
      ...{ type: spec.kind, isNamed: spec.keyed },
      choose(at, batch) {
        const found = source.read(at, batch)
        const values = found.form === 'several' ? undefined : gathered(found, batch)
        return ({ from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY }) => {
          if (values) return filtered(batch, (_, i) => values[i]! >= from && values[i]! < to)
          const inside = new Uint8Array(batch.count)
          eachValue(found, batch, (i, value) => {
            if (value >= from && value < to) inside[i] = 1
          })
          return filtered(batch, (_, i) => inside[i] === 1)
        }
      },
      describe: range => rangeKey(range, spec),
    },
    inner,
    context,
  )
}

export const createFilters = ({ filters, other }: SpecOf<'filters'>, inner: Inner, context: Context): Aggregator => {
  const isNamed = filters[0]!.name !== undefined
  const rest = other === undefined ? [] : [{ name: other, query: undefined }]
  return createChoices(
    [...filters, ...rest],
    {
      ...{ type: 'filters', isNamed },
      choose(at, batch) {
        const matched = new Set<number>()
        return ({ query }) => {
          if (!query) return filtered(batch, ordinal => !matched.has(ordinal))
          const one = context.matching.filter(query, at, batch)
          if (other !== undefined) for (let i = 0; i < one.count; i++) matched.add(ordinalAt(one, i))
          return one
        }
      },
      describe: ({ name }) => ({ ...(isNamed && { name: name! }), key: [] }),
    },
    inner,
    context,
  )
}
