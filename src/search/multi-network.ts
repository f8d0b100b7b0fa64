import { type JoinedSearcher, joinSearchers, type NetworkMember } from '../engine/query/multi-network.ts'
import type { Searcher, StoreSearcher } from '../engine/query/searcher.ts'
import { refuse } from '../lib/errors.ts'
import type { Aggregation, AggregationType } from '../query/aggs/ast.ts'
import type { SearchRequest } from '../query/request.ts'
import { networksIn } from './index-names.ts'
import type { AnswerFormat } from './service.ts'

/** Searches several networks at once; their names are comma-joined in paths and requests. */

/** Joins networks into one searcher. Single documents can only be read from one network. */
export const searchSeveral = ((members: readonly NetworkMember[]): StoreSearcher => {
  const [only, ...others] = members
  if (only && others.length === 0) return only.searcher
  const joined: JoinedSearcher = joinSearchers(members)
  const alone = (what: string) => () => {
    throw oneOnly(what)
  }
  return {
    ...joined,
    ...{ search: alone('A table'), pages: alone('A table'), seen: alone(CURSOR), cursorKey: alone(CURSOR) },
    ...{ get: alone('A document'), writeDocument: alone('A document'), similar: alone('Similarity') },
    ...{ rank: alone('A search within a search'), pieces: alone('A search within a search') },
  }
}) as SearchSeveral

/** Answers at once from stores that do. */
interface SearchSeveral {
  (members: readonly (NetworkMember & { searcher: Searcher })[]): Searcher
  (members: readonly NetworkMember[]): StoreSearcher
}

const CURSOR = 'A scroll or a point in time'

/** `index`: one or several; `read` reads the request as it is on one. */
export const readForEach = (
  index: string,
  read: (index: string) => SearchRequest,
  { format }: { format?: AnswerFormat | undefined },
): SearchRequest => {
  const [first, ...others] = networksIn(index)
  const request = read(first!)
  if (others.length === 0) return request
  checkSeveral(request, format)
  return { ...request, each: [request, ...others.map(read)] }
}

/** Refuses what several networks have no answer to together. */
const checkSeveral = (request: SearchRequest, format: AnswerFormat | undefined): void => {
  const { resume, collapse, after, sort, aggregations } = request
  if (format !== undefined && format !== 'ndjson')
    throw oneOnly('A table (CSV)', 'ask for lines of JSON (NDJSON), which name the network in _index')
  if (resume !== undefined) throw oneOnly('[resume]', 'sort by timestamp and page by search_after')
  if (collapse) throw oneOnly('[collapse]', 'use a terms aggregation')
  if (after && sort.some(({ by }) => by === '_doc' || by === '_shard_doc'))
    throw oneOnly(
      '[search_after] with a sort by [_doc] or [_shard_doc]',
      'sort by timestamp and a unique field such as _id',
    )
  for (const one of aggregations?.aggs ?? []) checkAggregation(one)
}

/** These show documents of one store; all others merge by values that stores have in common. */
const OF_ONE: ReadonlySet<AggregationType> = new Set(['top_hits', 'top_metrics'])

const checkAggregation = ({ name, spec, aggs }: Aggregation): void => {
  const what = `aggs.${name}: [${spec.kind}]`
  if (OF_ONE.has(spec.kind)) throw oneOnly(what, 'use the hits of the search, or ask each network')
  if (spec.kind === 'terms' && spec.minDocCount === 0) throw oneOnly(`${what} with [min_doc_count] 0`, 'leave it out')
  const values = 'values' in spec ? [spec.values] : spec.kind === 'composite' ? spec.sources.map(it => it.values) : []
  if (values.some(it => it?.meta === '_id')) throw oneOnly(`${what} on [_id]`, 'count hits by track_total_hits')
  for (const one of aggs) checkAggregation(one)
}

/** `remedy`: what to do instead. */
export const oneOnly = (what: string, remedy?: string) =>
  refuse(
    'illegal_argument_exception',
    `${what} works on one network at a time, not on several: name one in the path${remedy === undefined ? '' : `, or ${remedy}`}.`,
  )
