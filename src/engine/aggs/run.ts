import { overLimit } from '../../limits/index.ts'
import type { Kind } from '../../mapping/index.ts'
import type { Aggregation } from '../../query/aggs/ast.ts'
import type { Results } from '../../query/aggs/result.ts'
import type { Evaluation } from '../query/evaluate.ts'
import { numberedAs } from '../query/places.ts'
import { viewOf } from '../query/segment-matcher.ts'
import type { OrdinalSet } from '../query/sets.ts'
import { toArray } from '../query/sets.ts'
import type { Segment } from '../reader.ts'
import {
  bytesOfAll,
  type Context,
  collectAll,
  finishAll,
  type Inner,
  mergeAll,
  resultsOf,
  type State,
} from './aggregator.ts'
import type { At, Batch } from './batch.ts'

/** The documents of one kind that aggregations look at, segment by segment. */
export interface AggregatedPart {
  kind: Kind
  evaluation: Evaluation
}

/** Computes aggregations over what some queries find. */
export const aggregate = (
  inner: Inner,
  { parts, everything }: { parts: readonly AggregatedPart[]; everything: readonly AggregatedPart[] },
  context: Context,
): Results => {
  const isGlobal = ({ aggregation }: { aggregation: Aggregation }) => aggregation.spec.kind === 'global'
  walk(
    inner.filter(one => !isGlobal(one)),
    parts,
    context,
  )
  walk(inner.filter(isGlobal), everything, context)
  finishAll(inner, 1)
  return resultsOf(inner, 0)
}

const walk = (inner: Inner, parts: readonly AggregatedPart[], context: Context) => {
  if (inner.length === 0) return
  const { reader, limits } = context
  for (const segment of reader.segments())
    for (const part of parts) {
      reader.check()
      const states = statesOf(inner, part, segment, context)
      mergeAll(inner, states, ONLY)
      if (bytesOfAll(inner) > limits.aggregationMemory) throw overLimit('aggregationMemory', limits)
    }
}

const ONLY = Uint32Array.of(0)

const statesOf = (inner: Inner, { kind, evaluation }: AggregatedPart, segment: Segment, context: Context): State[] => {
  const at: At = { ...viewOf(segment, numberedAs(kind), context.reader), kind, elements: undefined }
  return collectAll(inner, at, batchOf(evaluation.matches(segment)))
}

export const batchOf = (set: OrdinalSet): Batch => {
  const shared = { owners: undefined, buckets: 1 }
  if (set.form === 'run') return { ...shared, count: set.to - set.from, list: undefined, from: set.from }
  const list = toArray(set)
  return { ...shared, count: list.length, list, from: 0 }
}
