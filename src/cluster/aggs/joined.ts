import type { Inner, State } from '../../engine/aggs/aggregator.ts'
import type { Aggregation, Aggregations } from '../../query/aggs/ast.ts'
import {
  askRelated,
  type ClusterAggregating,
  type ClusterFound,
  firstAggregations,
  wantsScores,
} from './aggregations.ts'
import { type Answered, objectIn, readAnswer } from './answer.ts'
import { gather } from './gather/index.ts'
import { MOST, type Most } from './most.ts'
import { nameOf } from './tree.ts'

/**
 * Aggregations over several networks of which this one lies in a cluster. The cluster is asked for all buckets and all that numbers follow
 * from; what it tells is put into the form in which stores add up what they find, so that the same code ends both.
 */
export interface ToldAggregations {
  own: Answered
  /** What was found of aggregations of related documents, by their places. */
  related: ReadonlyMap<number, Answered>
}

/** More values than these cannot be asked for in one answer. */
export const ALL_VALUES: Most = { few: MOST.many, many: MOST.many }

/** All buckets in place of those that come first in one network. */
export const widened = ({ aggs }: Aggregations): Aggregations => ({ aggs: aggs.map(wide), pipelines: [] })

const wide = (aggregation: Aggregation): Aggregation => {
  const { spec } = aggregation
  const all = { size: ALL_VALUES.many, shardSize: ALL_VALUES.many, minDocCount: 1 }
  return {
    ...aggregation,
    spec: spec.kind === 'terms' ? { ...spec, ...all, order: [{ by: '_key', ascending: true }] } : spec,
    aggs: aggregation.aggs.map(wide),
  }
}

/** `asked` is widened. `first`: what was answered to the first search, where it was asked. */
export const askJoined = async (asked: ClusterAggregating, first?: ClusterFound): Promise<ToldAggregations> => {
  const found = first ?? (await asked.ask(asked.request, firstAggregations(asked), wantsScores(asked)))
  const related = new Map<number, Answered>()
  for (const [place, aggregation] of asked.aggregations.aggs.entries()) {
    const one = await askRelated(asked, aggregation)
    if (one) related.set(place, { ...readAnswer(one.found.aggregations ?? '{}'), doc_count: one.found.total })
  }
  return { own: readAnswer(found.aggregations ?? '{}'), related }
}

/** What aggregations find there, as states of what computes them. */
export const statesOf = (inner: Inner, { own, related }: ToldAggregations, check: () => void): State[] =>
  inner.map((computed, place) => gather(computed, [related.get(place) ?? objectIn(own, nameOf(place))], check))
