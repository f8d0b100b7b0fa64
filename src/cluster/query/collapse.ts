import { BEST_FIRST } from '../../engine/query/scores/scoring.ts'
import type { Kind } from '../../mapping/index.ts'
import { compareValues, NONE_NODE, type Node, type QueryValue } from '../../query/ast.ts'
import { standInOf } from '../../query/hits/sort-value.ts'
import type { Collapse, RequestPart, SearchRequest, SortSpec } from '../../query/request.ts'
import { andNode, existsNode, GREATEST_LONG, LEAST_LONG, notNode, orNode, rangeNode } from '../../query/simplify.ts'
import { unsupported } from '../deviations.ts'
import type { QueryClient } from '../query-client.ts'
import type { Dsl } from './dsl.ts'
import { cellOf } from './sort-key.ts'

/** Groups hits by value; those without a value form one group. Inner hits need other searches. */
export const compileCollapse = ({ name, fields }: Collapse, { parts }: SearchRequest): Dsl => {
  const cells = new Set(parts.map(({ kind }) => (fields[kind] ? cellOf(fields[kind]) : undefined)))
  const [cell] = cells
  if (cells.size > 1 || cell === undefined)
    throw unsupported(`collapse by ${name} of several kinds`, 'not all of them have it: search those that do')
  return { field: cell }
}

/** Documents that sort after a value; null: after those without a value. */
export const behindValue = (sort: SortSpec, kind: Kind, value: QueryValue | null): Node => {
  const { fields, order, missing } = sort
  const field = fields[kind]
  // Without the field, all documents are in the group without a value.
  if (!field) return NONE_NODE
  const behind = (value: QueryValue) => rangeNode(field, boundsBehind(value, sort))
  if (typeof missing !== 'string') {
    if (value === null) return NONE_NODE
    const difference = compareValues(missing.value, value)
    const isBehind = order === 'asc' ? difference > 0 : difference < 0
    return isBehind ? orNode([behind(value), notNode(existsNode(field))]) : behind(value)
  }
  if (value !== null) return missing === '_last' ? orNode([behind(value), notNode(existsNode(field))]) : behind(value)
  if (missing === '_last') return NONE_NODE
  // A value at the end of all numbers sorts like a missing one.
  const standIn = standInOf(sort)
  return standIn === null || standIn === undefined ? existsNode(field) : behind(standIn)
}

/** Bounds of values that sort after one, which has the type `as`. */
const boundsBehind = (value: QueryValue, { order, as }: Pick<SortSpec, 'order' | 'as'>) => {
  const isAscending = order === 'asc'
  if (as === 'double') {
    const number = value as number
    return isAscending
      ? { gte: leastLong(long => Number(long) > number) }
      : { lte: leastLong(long => Number(long) >= number) - 1n }
  }
  if (as === 'long') {
    const whole = value as bigint
    // Values too large for a long sort as the greatest long.
    if (whole === (isAscending ? GREATEST_LONG : LEAST_LONG))
      return isAscending ? { gt: Number.POSITIVE_INFINITY } : { lt: Number.NEGATIVE_INFINITY }
    return isAscending ? boundsAbove(whole) : negated(boundsAbove(-whole))
  }
  return isAscending ? { gt: value } : { lt: value }
}

/** Least long from which on `holds` is true; one above the greatest long if it never is. */
const leastLong = (holds: (long: bigint) => boolean): bigint => {
  let [from, to] = [LEAST_LONG, GREATEST_LONG + 1n]
  while (from < to) {
    const middle = (from + to) >> 1n
    if (holds(middle)) to = middle
    else from = middle + 1n
  }
  return from
}

interface DoubleBounds {
  gt?: number
  gte?: number
}

/** Doubles that exceed an integer after truncation. */
const boundsAbove = (whole: bigint): DoubleBounds => {
  // Truncation increases negative numbers.
  const isBelow = whole < 0n
  const bound = isBelow ? whole : whole + 1n
  const nearest = Number(bound)
  const isIncluded = BigInt(nearest) > bound || (!isBelow && BigInt(nearest) === bound)
  return isIncluded ? { gte: nearest } : { gt: nearest }
}

const negated = ({ gt, gte }: DoubleBounds) => ({
  ...(gt !== undefined && { lt: -gt }),
  ...(gte !== undefined && { lte: -gte }),
})

/**
 * Skips the groups of previous pages by a condition on their value, which the search sorts by: the
 * cluster refuses `search_after` with `collapse`. Another search without the condition counts.
 */
export const withCollapsedPages = (asker: QueryClient): QueryClient => ({
  ...asker,
  async page(asked, options, visible, paging) {
    const { after, collapse, aggregations, ...request } = asked
    if (!after || !collapse) return asker.page(asked, options, visible, paging)
    const [sort] = request.sort as [SortSpec]
    const behind = (part: RequestPart): RequestPart => ({
      ...part,
      query: andNode([part.query, behindValue(sort, part.kind, after.values[0] ?? null)]),
    })
    const groups = { ...request, collapse, parts: request.parts.map(behind), trackTotal: false }
    const { aggs, ...place } = paging ?? {}
    const page = await asker.page(groups, options, visible, place)
    if (request.trackTotal === false && !aggs && !showsScores(request)) return page
    // The cluster reports the greatest score only with hits.
    const hits = showsScores(request) ? { sort: BEST_FIRST, size: 1 } : { size: 0 }
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

const showsScores = ({ trackScores, parts }: Omit<SearchRequest, 'aggregations'>): boolean =>
  trackScores === true && parts.some(({ score }) => score)
