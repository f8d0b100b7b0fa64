import { type Limits, overLimit } from '../../limits/index.ts'
import type { Kind } from '../../mapping/index.ts'
import type { Aggregations } from '../../query/aggs/ast.ts'
import { runPipelines } from '../../query/aggs/pipelines/tree.ts'
import { divideRates } from '../../query/aggs/rates.ts'
import { type AggregationResults, bytesOfResult, renderResults } from '../../query/aggs/result.ts'
import { ALL_NODE, type Node } from '../../query/ast.ts'
import type { SearchRequest } from '../../query/request.ts'
import { numberedAs, viewOf } from '../query/fields/ordinals.ts'
import { type Evaluation, evaluatePlan } from '../query/match/evaluate.ts'
import type { AskDocuments } from '../query/match/segment-matcher.ts'
import { among, isEverywhere } from '../query/plan/plan.ts'
import { planQuery } from '../query/plan/planner.ts'
import { type SearchScoring, withScores } from '../query/scores/scoring.ts'
import type { Hits, HitsWriting } from '../show/hits.ts'
import { createAnswers, createStateCache, NO_CACHE, type StateCache } from './aggregation-cache.ts'
import { type AggregationContext, finishAll, type InnerAggregators, resultsOf } from './aggregator.ts'
import { type Batch, type BatchView, batchOf } from './batch.ts'
import { type AggregatedPart, collectParts, conditionText } from './collect.ts'
import { createMatching } from './masks.ts'
import { createInner } from './tree.ts'
import type { ValueStores } from './value-source.ts'

interface AggregatingOptions extends ValueStores {
  ask: AskDocuments
  limits: Limits
  hits: Hits
}

interface AggregateRequest extends HitsWriting {
  request: SearchRequest
  /** Evaluations of the request's parts, if they match the aggregated documents. */
  evaluations: readonly (Evaluation | undefined)[]
  aggregations: Aggregations
  /** The network's name in `_index`. */
  index: string
  typedKeys: boolean
}

export type JoinedAggregating = (shared: AggregationContext['shared']) => Begun

interface Begun {
  inner: InnerAggregators
  /** Merges into other aggregators, by default into its own. */
  collect(into?: InnerAggregators): void
  results(): AggregationResults
  text(typedKeys: boolean): string
}

/** Computes aggregations as JSON text, in a reader's transaction. */
export const createAggregating = (options: AggregatingOptions) => {
  const { reader, exact, ask, limits, hits } = options
  const partOf = (
    kind: Kind,
    node: Node,
    within: Parameters<typeof isEverywhere>[0],
    known?: Evaluation,
  ): AggregatedPart => ({
    ...{ kind, query: node, isEverywhere: isEverywhere(within) },
    evaluation: known ?? evaluatePlan({ kind, plan: among(within, planQuery(kind, node, reader)), reader, ask }),
  })

  function* documentsOf(parts: readonly AggregatedPart[]): Generator<{ at: BatchView; batch: Batch }> {
    for (const { kind, evaluation } of parts)
      for (const segment of reader.segments()) {
        reader.check()
        const at: BatchView = { ...viewOf(segment, numberedAs(kind), reader), kind, elements: undefined }
        yield { at, batch: batchOf(evaluation.matches(segment)) }
      }
  }

  const cache = createStateCache(reader)
  const answers = createAnswers(reader)

  const begin = (
    { request, evaluations, aggregations, index, totals, parents }: AggregateRequest,
    { kept, isJoined = false }: { kept: StateCache; isJoined?: boolean },
  ): Begun => {
    const matching = createMatching({ reader, exact, ask })
    const everything = (kinds = request.parts.map(({ kind }) => kind)) =>
      kinds.map(kind => partOf(kind, ALL_NODE, request))
    const parts = request.parts.map(({ kind, query }, i) => partOf(kind, query, request, evaluations[i]))
    let scored: { scoring: SearchScoring | undefined } | undefined
    let left = limits.buckets
    let held = 0
    const hold = (bytes: number) => {
      held += bytes
      if (held > limits.aggregationMemory) throw overLimit('aggregationMemory', limits)
    }
    const refuseOver = (buckets: number) => {
      // NaN, if steps are below the precision of the numbers, is refused too.
      if (!(buckets <= left)) throw overLimit('buckets', limits)
    }
    const context: AggregationContext = {
      ...{ reader, exact, limits, hits, matching, index, isJoined },
      writing: { totals, parents },
      request,
      kept,
      shared: kept.shared,
      scoring() {
        scored ??= { scoring: withScores(request, parts, { reader, ask, exact })[0]?.scoring }
        return scored.scoring
      },
      count(buckets) {
        refuseOver(buckets)
        left -= buckets
      },
      room: refuseOver,
      hold,
      found: parts,
      ask,
      everywhere: () => documentsOf(everything()),
      of: kind => ({
        ...context,
        request: { ...request, parts: [{ kind, query: ALL_NODE }] },
        scoring: () => undefined,
        everywhere: () => documentsOf(everything([kind])),
      }),
    }
    const inner = createInner(aggregations.aggs, context)
    const begun: Begun = {
      inner,
      collect: (into = inner) => collectParts({ inner, into }, { parts, everything: everything() }, context),
      results() {
        finishAll(inner, 1)
        const results = resultsOf(inner, 0)
        divideRates(results, aggregations.aggs)
        runPipelines(results, aggregations.aggs, aggregations.pipelines, {
          check: reader.check,
          hold: metric => hold(bytesOfResult(metric)),
        })
        return results
      },
      text: typedKeys => renderResults(begun.results(), { typedKeys, limits, check: reader.check }),
    }
    return begun
  }

  const compute = (asked: AggregateRequest): string => {
    const { request, typedKeys } = asked
    const begun = begin(asked, {
      kept: cache.of(request.aggregated && `${stateKeyOf(request)} ${request.aggregated.found}`),
    })
    begun.collect()
    return begun.text(typedKeys)
  }

  return {
    text(asked: AggregateRequest): string {
      const { request, typedKeys, totals, parents } = asked
      const queries = () => request.parts.map(({ kind, query }) => `${kind} ${conditionText(query)}`)
      const question =
        request.aggregated &&
        `${typedKeys} ${totals} ${parents} ${stateKeyOf(request)} ${queries()} ${request.aggregated.whole}`
      return answers.of(question, () => compute(asked))
    },
    /** For a search over several stores. */
    joined:
      (asked: AggregateRequest): JoinedAggregating =>
      shared =>
        begin(asked, { kept: { ...NO_CACHE, shared }, isJoined: true }),
  }
}

/** Cache key of segment states, in addition to query and aggregations. */
const stateKeyOf = ({ parts, within, slice }: SearchRequest): string => {
  const blocks = isEverywhere({ within, slice }) ? '' : JSON.stringify([within, slice])
  return `${parts.map(({ kind }) => kind)} ${blocks}`
}

/** Aggregates over several stores: all states are merged into the first one's aggregators. */
export const renderJoined = (each: readonly JoinedAggregating[], typedKeys: boolean): string => {
  const made: unknown[] = []
  const [first, ...others] = each.map(begin => {
    // All stores ask in the same order.
    let asked = 0
    return begin(<T>(make: () => T): T => {
      const place = asked++
      made[place] ??= make()
      return made[place] as T
    })
  })
  first!.collect()
  for (const other of others) other.collect(first!.inner)
  return first!.text(typedKeys)
}
