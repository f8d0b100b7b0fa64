import { BEST_FIRST } from '../engine/query/scores/scoring.ts'
import type { RequestPart, SearchRequest, Sort } from '../query/request.ts'
import { and } from '../query/simplify.ts'
import type { Asker } from './asker.ts'
import { behindValue } from './query/behind-group.ts'

/**
 * Groups behind those of the page before: the search is sorted by what it groups by, so that a condition on this value leaves them. The cluster
 * does not take both, and would not count what the condition leaves out, so that a search without it counts.
 */
export const grouping = (asker: Asker): Asker => ({
  ...asker,
  async page(asked, options, visible, paging) {
    const { after, collapse, aggregations, ...request } = asked
    if (!after || !collapse) return asker.page(asked, options, visible, paging)
    const [sort] = request.sort as [Sort]
    const behind = (part: RequestPart): RequestPart => ({
      ...part,
      query: and([part.query, behindValue(sort, part.kind, after.values[0] ?? null)]),
    })
    const groups = { ...request, collapse, parts: request.parts.map(behind), trackTotal: false }
    const { aggs, ...place } = paging ?? {}
    const page = await asker.page(groups, options, visible, place)
    if (request.trackTotal === false && !aggs && !isScored(request)) return page
    // The greatest score is told with hits.
    const hits = isScored(request) ? { sort: BEST_FIRST, size: 1 } : { size: 0 }
    const {
      total,
      maxScore,
      aggregations: found,
    } = await asker.page({ ...request, ...hits }, options, visible, {
      aggs,
    })
    return { ...page, total, aggregations: found, ...(maxScore !== undefined && { maxScore }) }
  },
})

const isScored = ({ trackScores, parts }: Omit<SearchRequest, 'aggregations'>): boolean =>
  trackScores === true && parts.some(({ score }) => score)
