import { asBigint } from '../../documents/show.ts'
import { inGroup, type Related } from '../../engine/query/inner-hits.ts'
import type { Visible } from '../../engine/shipping/shipped-ranges.ts'
import { indexedValuesOf } from '../../query/predicate.ts'
import type { Collapse, InnerHits, SearchRequest } from '../../query/request.ts'
import { andNode, idsNode } from '../../query/simplify.ts'
import type { AskOptions, Paging, QueryClient } from '../query-client.ts'
import { type ClusterHit, clusterDocument } from './cluster-hit.ts'

/** Maximum concurrent searches. */
const AT_ONCE = 8
/** Parents per request. */
const PARENTS_PER_REQUEST = 1_000

/** Adds `inner_hits`: one search per hit for children and groups, one per many hits for parents. */
export const withInnerHits = (asker: QueryClient): QueryClient => {
  const page: QueryClient['page'] = async (request, options, visible, paging) => {
    const found = await asker.page(request, options, visible, paging)
    if (found.hits.length > 0) await relate(request, found.hits, { page, options, visible })
    return found
  }
  return { ...asker, page }
}

interface RelatedAsking {
  page: QueryClient['page']
  options: AskOptions
  visible: Visible
}

const relate = async (request: SearchRequest, hits: readonly ClusterHit[], asking: RelatedAsking): Promise<void> => {
  const { collapse, parts } = request
  const joined = parts.flatMap(({ kind, innerHits = [] }) =>
    innerHits.flatMap(inner => (inner.by === 'nested' ? [] : [{ kind, inner }])),
  )
  const groups = collapse?.innerHits ?? []
  if (joined.length === 0 && groups.length === 0) return
  const related = new Map(
    hits.map(hit => [hit, new Map<InnerHits | SearchRequest, Related & { found: ClusterHit[] }>()]),
  )
  for (const { kind, inner } of joined) {
    const own = hits.filter(hit => hit.kind === kind)
    if (inner.by === 'parent') {
      const parents = await findParents(own, inner.request, asking)
      for (const hit of own) related.get(hit)!.set(inner, only(parents.get(hit.parent ?? ''), inner.request))
    } else
      await eachOf(own, async hit =>
        related.get(hit)!.set(inner, await asked(inner.request, asking, { under: hit.id })),
      )
  }
  for (const { request: inner } of groups)
    await eachOf(hits, async hit =>
      related.get(hit)!.set(inner, await asked(inGroupOf(hit, collapse!, request, inner), asking)),
    )
  for (const [hit, found] of related) hit.related = found
}

const asked = async (request: SearchRequest, { page, options, visible }: RelatedAsking, paging?: Paging) => {
  const { total, hits, sortOf } = await page(request, options, visible, paging)
  for (const hit of hits) hit.shownSort = sortOf?.(hit)
  return { total, found: hits }
}

const findParents = async (
  hits: readonly ClusterHit[],
  request: SearchRequest,
  asking: RelatedAsking,
): Promise<ReadonlyMap<string, ClusterHit>> => {
  const [part] = request.parts
  const wanted = [...new Set(hits.flatMap(({ parent }) => (parent === undefined ? [] : [parent])))]
  const found = new Map<string, ClusterHit>()
  for (let at = 0; at < wanted.length; at += PARENTS_PER_REQUEST) {
    const some = wanted.slice(at, at + PARENTS_PER_REQUEST)
    const parts = [{ ...part!, query: andNode([part!.query, idsNode(some)]) }]
    for (const hit of (await asked({ ...request, parts, from: 0, size: some.length }, asking)).found)
      found.set(hit.id, hit)
  }
  return found
}

/** A hit has at most one parent. */
const only = (parent: ClusterHit | undefined, { from, size }: SearchRequest) => {
  const all = parent ? [parent] : []
  return { total: all.length, found: all.slice(from, from + size) }
}

const inGroupOf = (
  hit: ClusterHit,
  { fields }: Collapse,
  { parts, within, slice }: SearchRequest,
  inner: SearchRequest,
): SearchRequest => {
  const field = fields[hit.kind]
  const value = field && indexedValuesOf(field, clusterDocument(hit, asBigint)._source)[0]
  return {
    ...{ ...inner, within, slice },
    parts: parts.map(({ kind, query, postFilter }) => ({
      kind,
      query: andNode([query, ...(postFilter ? [postFilter] : []), inGroup(fields[kind], value)]),
    })),
  }
}

const eachOf = async <T>(all: readonly T[], work: (one: T) => Promise<unknown>): Promise<void> => {
  for (let at = 0; at < all.length; at += AT_ONCE) await Promise.all(all.slice(at, at + AT_ONCE).map(work))
}
