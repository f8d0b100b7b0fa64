import { type Limits, overLimit } from '../../limits/index.ts'
import type { Kind } from '../../mapping/index.ts'
import type { Aggregations } from '../../query/aggs/ast.ts'
import { runPipelines } from '../../query/aggs/pipelines/tree.ts'
import { type AggregationResults, bytesOfResult, renderResults } from '../../query/aggs/result.ts'
import { ALL_NODE, type Node } from '../../query/ast.ts'
import type { SearchRequest } from '../../query/request.ts'
import { numberedAs, viewOf } from '../query/fields/ordinals.ts'
import { type Evaluation, evaluatePlan } from '../query/match/evaluate.ts'
import type { AskDocuments } from '../query/match/segment-matcher.ts'
import { among, isEverywhere } from '../query/plan/plan.ts'
import { planQuery } from '../query/plan/planner.ts'
import { type SearchScoring, withScores } from '../query/scores/scoring.ts'
import type { Hits } from '../show/hits.ts'
import { type AggregationContext, finishAll, type InnerAggregators, resultsOf } from './aggregator.ts'
import { type Batch, type BatchView, batchOf } from './batch.ts'
import { createAnswers, createStateCache, NO_CACHE, type StateCache } from './cache.ts'
import { type AggregatedPart, collectParts, conditionText } from './collect.ts'
import { createMatching } from './masks.ts'
import { createInner } from './tree.ts'
import type { ValueStores } from './value-source.ts'

interface AggregatingOptions extends ValueStores {
  ask: AskDocuments
  limits: Limits
  hits: Hits
}

interface AggregateRequest {
  request: SearchRequest
  /** Of its parts, as far as what they find is what is aggregated. */
  evaluations: readonly (Evaluation | undefined)[]
  aggregations: Aggregations
  /** The network's name as it stands in `_index`. */
  index: string
  /** How a number of hits is written. */
  total(count: number): string
  /** Whether names of aggregations stand behind their types. */
  typedKeys: boolean
}

/** `shared`: what all stores give numbers by. */
export type JoinedAggregating = (shared: AggregationContext['shared']) => Begun

/** Aggregations that are to be collected. */
interface Begun {
  inner: InnerAggregators
  /** Adds what is found here to what these aggregators have, by default those of its own. */
  collect(into?: InnerAggregators): void
  results(): AggregationResults
  /** The same as JSON. */
  text(typedKeys: boolean): string
}

/** Computes aggregations as JSON text, within a reader's transaction. */
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
    { request, evaluations, aggregations, index, total }: AggregateRequest,
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
      // Of steps that are too small for their numbers nobody knows how many there are.
      if (!(buckets <= left)) throw overLimit('buckets', limits)
    }
    const context: AggregationContext = {
      ...{ reader, exact, limits, hits, matching, index, total, isJoined },
      // Hits inside of buckets are of the same kinds.
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
      const { request, typedKeys } = asked
      const queries = () => request.parts.map(({ kind, query }) => `${kind} ${conditionText(query)}`)
      const question =
        request.aggregated && `${typedKeys} ${stateKeyOf(request)} ${queries()} ${request.aggregated.whole}`
      return answers.of(question, () => compute(asked))
    },
    /** Their part of what is computed over several stores. */
    joined:
      (asked: AggregateRequest): JoinedAggregating =>
      shared =>
        begin(asked, { kept: { ...NO_CACHE, shared }, isJoined: true }),
  }
}

/** What of the request the results in a segment follow from, beside its query and its aggregations. */
const stateKeyOf = ({ parts, within, slice }: SearchRequest): string => {
  const blocks = isEverywhere({ within, slice }) ? '' : JSON.stringify([within, slice])
  return `${parts.map(({ kind }) => kind)} ${blocks}`
}

/** Aggregations over several stores as JSON text: what is found in each is added to what the first one's aggregators have. */
export const renderJoined = (each: readonly JoinedAggregating[], typedKeys: boolean): string => {
  const made: unknown[] = []
  const [first, ...others] = each.map(begin => {
    // All ask for the same, in the same order.
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
