import { BEST_FIRST } from '../engine/query/score/scoring.ts'
import type { Kind } from '../mapping/index.ts'
import { NONE, type Node } from '../query/ast.ts'
import type { After, RequestPart, SearchRequest, Sort } from '../query/request.ts'
import { and, exists, not, or, range } from '../query/simplify.ts'
import type { Asker } from './asker.ts'
import { unsupported } from './query/unsupported.ts'

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
      query: and([part.query, behindGroup(sort, part.kind, after)]),
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

const behindGroup = ({ fields, order, missing, as }: Sort, kind: Kind, { values: [value] }: After): Node => {
  const field = fields[kind]
  if (typeof missing !== 'string' || as)
    throw unsupported(
      `collapse with search_after and ${as ? 'numbers of another type' : 'another value for missing ones'}`,
      'leave [numeric_type] and [missing] out, or use a composite aggregation',
    )
  const isLast = missing === '_last'
  // Without a field, all documents are in the group that has no value.
  if (!field) return NONE
  if (value === null || value === undefined) return isLast ? NONE : exists(field)
  const greater = range(field, order === 'asc' ? { gt: value } : { lt: value })
  return isLast ? or([greater, not(exists(field))]) : greater
}
