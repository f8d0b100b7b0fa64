import { asBigint } from '../documents/show.ts'
import type { Decodings } from '../engine/query/decodings.ts'
import type { Visible } from '../engine/shipping/shipped-ranges.ts'
import { ALL_NODE, NONE_NODE, type Node } from '../query/ast.ts'
import { compilePredicate } from '../query/predicate.ts'
import type { RequestPart, SearchRequest } from '../query/request.ts'
import * as make from '../query/simplify.ts'
import { innerNodes } from '../query/simplify.ts'
import { notInCluster } from './deviations.ts'
import { type ClusterHit, clusterDocument } from './hits/cluster-hit.ts'
import type { AskOptions, Page, Paging, QueryClient } from './query-client.ts'

/** Runs a wider search for conditions of rules that no index can answer, and tests its hits. */
export const withPostFilter = (asker: QueryClient, decodingsOf: Decodings['of']): QueryClient => ({
  ...asker,
  async page(asked, options, visible, paging) {
    const { request, test } = relaxed(asked, decodingsOf)
    if (!test) return asker.page(request, options, visible, paging)
    return testedPage({ request, test }, { asker, options, visible, paging })
  },
})

type Test = (hit: ClusterHit) => boolean

/** `test` decides whether a hit matches; undefined if all do. */
const relaxed = (
  request: SearchRequest,
  decodingsOf: Decodings['of'],
): { request: SearchRequest; test: Test | undefined } => {
  if (!request.parts.some(({ query }) => comparesIn(query))) return { request, test: undefined }
  const supersets = request.parts.map(({ query }) => supersetOf(query))
  const parts = request.parts.map((part, i): RequestPart => ({ ...part, query: supersets[i]!.node }))
  const tests = new Map(
    request.parts.flatMap(({ kind, query }, i) =>
      supersets[i]!.exact ? [] : [[kind, compilePredicate(kind, query)] as const],
    ),
  )
  const test: Test = hit => {
    const holds = tests.get(hit.kind)
    if (!holds) return true
    const document = clusterDocument(hit, asBigint)
    const [first, ...others] = decodingsOf(hit.kind, document._source)
    const found = holds({ ...document, ...(first && { decoding: first }) })
    if (others.every(decoding => holds({ ...document, decoding }) === found)) return found
    throw notInCluster(
      `A condition of a rule on ${hit.id}, whose declaration is one of several that look the same`,
      'name the contract whose events are meant',
    )
  }
  return { request: { ...request, parts }, test: tests.size > 0 ? test : undefined }
}

const comparesIn = (node: Node): boolean =>
  node.op === 'compare' || node.op === 'element' || innerNodes(node).some(comparesIn)

/** Hits that are fetched and tested at once. */
const HITS_PER_PAGE = 1_000
/** Most hits to aggregate, which a query lists by position: the limit of a list of values. */
const MAX_FILTERED_HITS = 65_536

const testedPage = async (
  { request, test }: { request: SearchRequest; test: Test },
  {
    asker,
    options,
    visible,
    paging = {},
  }: { asker: QueryClient; options: AskOptions; visible: Visible; paging?: Paging | undefined },
): Promise<Page> => {
  const { aggs, size = request.size, ...among } = paging
  if (request.minScore !== undefined || request.collapse)
    throw notInCluster('[min_score] or [collapse] of conditions of rules', 'leave them out')
  const all = { ...request, from: 0, size: HITS_PER_PAGE, trackTotal: false, aggregations: undefined }
  const wanted = request.from + size
  const countsAll = request.trackTotal === true || aggs !== undefined
  const most = countsAll ? Number.POSITIVE_INFINITY : Math.max(wanted, Number(request.trackTotal))
  const hits: ClusterHit[] = []
  const places: number[] = []
  let total = 0
  let after = among.after
  let sortOf: Page['sortOf']
  for (let isLast = false; !isLast && total < most; ) {
    const page = await asker.page(all, options, visible, { ...among, after, size: HITS_PER_PAGE })
    for (const hit of page.hits) {
      if (!test(hit)) continue
      if (total >= request.from && total < wanted) hits.push(hit)
      if (aggs) places.push(hit.position)
      total++
    }
    isLast = page.hits.length < HITS_PER_PAGE
    after = page.hits.at(-1)?.sort
    sortOf = page.sortOf
  }
  const counted =
    request.trackTotal === false ? -1 : request.trackTotal === true ? total : Math.min(total, request.trackTotal)
  const aggregations = aggs && (await aggregationsOf(places))
  return { total: counted, hits, sort: request.sort, sortOf, aggregations, uniform: 1 }

  async function aggregationsOf(at: readonly number[]): Promise<string | undefined> {
    if (at.length > MAX_FILTERED_HITS)
      throw notInCluster(`A series of more than ${MAX_FILTERED_HITS} matches of a rule`, 'ask for fewer blocks')
    return (await asker.page({ ...all, size: 0 }, options, visible, { ...among, at, size: 0, aggs })).aggregations
  }
}

/** A query that matches at least what another one does. */
interface Superset {
  /** Without conditions of rules. */
  node: Node
  /** Whether both match the same. If not, the predicate tests each hit. */
  exact: boolean
}
/**
 * Removes conditions of rules that no index can answer. Rules write the part of such a condition
 * that indexes can answer next to it.
 */
export const supersetOf = (node: Node): Superset => {
  let exact = true
  /** Widens if `isAbove` (an even number of negations), else narrows. */
  const relax = (node: Node, isAbove: boolean): Node => {
    switch (node.op) {
      case 'not':
        return make.notNode(relax(node.of, !isAbove))
      case 'child':
      case 'parent': {
        const own = supersetOf(node.of)
        if (own.exact) return node
        exact = false
        if (!isAbove) return NONE_NODE
        // More children may match than those that count.
        return node.op === 'parent'
          ? make.parentNode(node.kind, own.node)
          : make.childNode(node.kind, own.node, node.min)
      }
      case 'compare':
      case 'element':
        exact = false
        return isAbove ? ALL_NODE : NONE_NODE
      default:
        return make.mapChildren(node, inner => relax(inner, isAbove))
    }
  }
  return { node: relax(node, true), exact }
}
