import type { Writing } from '../engine/query/execute.ts'
import { BEST_FIRST } from '../engine/query/score/scoring.ts'
import type { Limits } from '../limits/index.ts'
import type { Kind } from '../mapping/index.ts'
import type { Aggregations } from '../query/aggs/ast.ts'
import { ALL } from '../query/ast.ts'
import type { SearchRequest } from '../query/request.ts'
import { answerAggregations, type ClusterAggregating, firstAggregations, wantsScores } from './aggs/aggregations.ts'
import type { HitsInBuckets } from './aggs/kind.ts'
import type { Most } from './aggs/most.ts'
import { queriesIn } from './aggs/queries.ts'
import type { Asker, AskOptions, Page, Paging } from './asker.ts'
import { type AskCluster, resolveJoins } from './query/joins.ts'
import { compileNode, type Joins } from './query/node.ts'
import { compileSearch, needsScores } from './query/search.ts'
import { planSort } from './query/sort.ts'
import type { Visible } from './visible.ts'

export interface Aggregated {
  request: SearchRequest & { aggregations: Aggregations }
  writing: Pick<Writing, 'typedKeys' | 'totals'>
  /** Writes hits in buckets; `text` is a list of them. */
  write: HitsInBuckets['write']
  limits: Limits
  most?: Most | undefined
  /** Whether what is told is added to what other networks tell. */
  isJoined?: boolean
  check(): void
}

export interface AskingAggregated {
  asker: Asker
  options: AskOptions
  visible: Visible
  paging?: Paging
}

/** Part of an answer is none, and there may be no index yet. */
const WHOLE = { allow_partial_search_results: false, ignore_unavailable: true }

/** What a cluster is asked aggregations with. */
export const prepareAggregating = async (
  { request, writing, write, limits, most, isJoined = false, check }: Aggregated,
  { asker, options, visible }: AskingAggregated,
): Promise<ClusterAggregating> => {
  const { aggregations, within } = request
  const ask: AskCluster = async (kinds: readonly Kind[], body) =>
    JSON.parse(
      await asker.send(
        { method: 'POST', path: `/${asker.target(kinds)}/_search`, query: WHOLE, body: JSON.stringify(body) },
        options,
      ),
    )
  const joins = await resolveJoins(queriesIn(aggregations.aggs), { ask, visible, within })
  const { minScore: _m, terminateAfter: _t, collapse: _c, ...plain } = request
  const all = { ...plain, parts: request.parts.map(({ kind }) => ({ kind, query: ALL })), sort: [], after: undefined }
  return {
    ...{ request, aggregations, limits, most, isJoined, check, typedKeys: writing.typedKeys ?? false },
    hits: {
      ...hitsBy(joins),
      write,
      total: count => totalText(count, writing),
    },
    compileNode: (node, kind) => compileNode(node, kind, joins),
    everything: compileSearch(all, visible, { ends: new Map(), joins, frequencies: NONE, relatives: NO_RELATIVES }).body
      .query as object,
    async ask(asked, aggs, scored) {
      // With hits, scores would be shown.
      const shown = scored ? { size: 1, sort: [] } : { size: 0 }
      const { after: _, collapse: _c, ...plain } = asked
      return asker.page({ ...plain, ...shown, trackTotal: true }, options, visible, { size: 0, aggs })
    },
  }
}

/** The hits, and what was answered to aggregations where these could be asked with them. */
export const firstPage = async (
  request: SearchRequest,
  aggregating: ClusterAggregating,
  { asker, options, visible, paging }: AskingAggregated,
): Promise<{ page: Page; first: Page | undefined }> => {
  // What comes behind a hit has all matches aggregated, too.
  const isFirst = !request.after && (!wantsScores(aggregating) || needsScores(request))
  const page = await asker.page(request, options, visible, {
    ...paging,
    ...(isFirst && { aggs: firstAggregations(aggregating) }),
  })
  return { page, first: isFirst ? page : undefined }
}

/** A page with what stands under `aggregations` in our answer. Where the cluster has told too little, it is asked once more. */
export const aggregatedPage = async (aggregated: Aggregated, asking: AskingAggregated): Promise<Page> => {
  const aggregating = await prepareAggregating(aggregated, asking)
  const { page, first } = await firstPage(aggregated.request, aggregating, asking)
  return { ...page, aggregations: await answerAggregations(aggregating, first) }
}

const hitsBy = (joins: Joins): Pick<HitsInBuckets, 'ask' | 'sorted'> => {
  const planOf = (request: SearchRequest, uniform: number | undefined) => {
    const isByScore = uniform === undefined && request.sort.length === 0
    return planSort(isByScore ? { ...request, sort: BEST_FIRST } : request, uniform, joins)
  }
  return {
    ask: (request, uniform) => ({
      sort: planOf(request, uniform).sort,
      ...(uniform === undefined && { track_scores: true }),
    }),
    sorted: (request, sort, uniform) => planOf(request, uniform).read(sort).shown,
  }
}

const totalText = (count: number, { totals }: Pick<Writing, 'totals'>): string =>
  totals === 'object' ? `{"value":${count},"relation":"eq"}` : `${count}`

const none = (): never => {
  throw new Error('what finds all has no scores')
}
const NONE = { documents: none, frequency: none, averageLength: none, isPlain: none, valuesOf: none }
const NO_RELATIVES = { scoreOf: none, valueOf: none, ids: new Map() }
