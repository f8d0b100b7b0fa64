import type { Inner, State } from '../../engine/aggs/aggregator.ts'
import type { Aggregation, Aggregations } from '../../query/aggs/ast.ts'
import { askRelated, type ClusterAggregating, type ClusterFound, compiledBy, wantsScores } from './aggregations.ts'
import { type Answered, objectIn, readAnswer } from './answer.ts'
import { type Gatherable, type Gathered, gather } from './gather/index.ts'
import { MOST, type Most } from './most.ts'
import { type Known, nameOf } from './tree.ts'

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
  const own = await askOften(asked, first)
  const related = new Map<number, Answered>()
  for (const [place, aggregation] of asked.aggregations.aggs.entries()) {
    const one = await askRelated(asked, aggregation)
    if (one) related.set(place, { ...(await askOften(one.inner, one.found)), doc_count: one.found.total })
  }
  return { own, related }
}

/** Asks until enough is told: each answer tells what is to be asked next. */
const askOften = async (asked: ClusterAggregating, first?: ClusterFound): Promise<Answered> => {
  const { request, aggregations, ask, check } = asked
  const mayBeAgain = aggregations.aggs.some(takesTwo)
  let known: Known = new Map()
  for (let found = first; ; found = undefined) {
    found ??= await ask(request, compiledBy(asked, known), wantsScores(asked))
    const own = readAnswer(found.aggregations ?? '{}')
    const learnt = new Map(known)
    let isEnough = true
    const again = (at: string, learn: (known: unknown) => unknown) => {
      learnt.set(at, learn(learnt.get(at)))
      isEnough = false
    }
    if (mayBeAgain) gatherAll(aggregations.aggs.map(uncomputed), own, { check, again })
    if (isEnough) return own
    known = learnt
  }
}

const takesTwo = ({ spec, aggs }: Aggregation): boolean => spec.kind === 'auto_date_histogram' || aggs.some(takesTwo)

/** To see whether enough is told: which numbers values have in all networks does not matter then. */
const uncomputed = (aggregation: Aggregation): Gatherable => ({
  aggregation,
  aggregator: { keyOf: () => 0 },
  inner: aggregation.aggs.map(uncomputed),
})

/** What aggregations find there, as states of what computes them. */
export const statesOf = (inner: Inner, { own, related }: ToldAggregations, check: () => void): State[] =>
  gatherAll(inner, own, { related, check, again: notAgain })

const gatherAll = (
  inner: readonly Gatherable[],
  own: Answered,
  { related, check, again }: Pick<Gathered, 'check' | 'again'> & Partial<Pick<ToldAggregations, 'related'>>,
): State[] =>
  inner.map((one, place) => {
    const told = [related?.get(place) ?? objectIn(own, nameOf(place))]
    return gather(one, { told, at: nameOf(place), check, again })
  })

const notAgain = () => {
  throw new Error('the cluster was asked until it told enough')
}
