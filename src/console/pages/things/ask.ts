import { useContext } from 'preact/hooks'
import { pageOf, useAsk, usePages } from '../../api/ask.ts'
import { ApiError, ask } from '../../api/client.ts'
import { search } from '../../api/index.ts'
import { type Json, type JsonObject, textAt, toJson } from '../../api/json.ts'
import type { Hit, Kind, SearchAnswer } from '../../api/wire.ts'
import { Network } from '../../parts/text.tsx'

/** One search of several that go into one request. */
export interface Search {
  kinds: readonly Kind[]
  body: JsonObject
}

const searchAll = async (
  network: string,
  searches: readonly Search[],
  signal: AbortSignal,
): Promise<SearchAnswer[]> => {
  const lines = searches.flatMap(({ kinds, body }) => [toJson({ index: kinds.join() }), toJson(body), ''])
  const { responses } = await ask<{ responses: SearchAnswer[] }>(`${network}/es/_msearch?rest_total_hits_as_int=true`, {
    body: lines.join('\n').replaceAll('\n\n', '\n'),
    signal,
  })
  for (const response of responses as unknown as JsonObject[]) {
    const reason = textAt(response, 'error.reason')
    if (reason !== undefined) throw new ApiError(Number(response.status), textAt(response, 'error.type') ?? '', reason)
  }
  return responses
}

/** Asks all of them of the page's network at once, again when one of them changes; undefined asks nothing. */
export const useSearches = (searches: readonly Search[] | undefined) => {
  const network = useContext(Network)
  return useAsk(searches && `${network} ${toJson(searches)}`, signal => searchAll(network, searches!, signal))
}

export const byId = (kinds: readonly Kind[], id: string, more: JsonObject = {}): Search => ({
  kinds,
  body: { query: { ids: { values: [id] } }, ...more },
})

export const term = (field: string, value: string | number | boolean): JsonObject => ({ term: { [field]: value } })
export const all = (...filter: JsonObject[]): JsonObject => ({ bool: { filter } })
export const any = (...should: JsonObject[]): JsonObject => ({ bool: { should, minimum_should_match: 1 } })

/** In the order of the chain. */
export const NEWEST = [{ _shard_doc: 'desc' }]
export const OLDEST = [{ _shard_doc: 'asc' }]

/** Only how many there are. */
export const count = (kinds: readonly Kind[], query: JsonObject): Search => ({ kinds, body: { query, size: 0 } })

/** When and where the first or the last of them happened, and how many there are. */
export const edge = (kinds: readonly Kind[], query: JsonObject, sort: JsonObject[]): Search => ({
  kinds,
  body: { query, sort, size: 1, _source: ['timestamp', 'blockNumber'] },
})

export const hitsOf = (answer: SearchAnswer | undefined): Hit[] => answer?.hits.hits ?? []

const PAGE = 50

/** Hits of one search of the page's network, of which more are asked for as they come into sight. */
export const useList = ({ kinds, body }: Search) => {
  const network = useContext(Network)
  return usePages(`${network} ${kinds.join()} ${toJson(body)}`, async (after: Json[] | undefined, signal) => {
    const whole = { ...body, size: PAGE, ...(after && { search_after: after }) }
    return pageOf(await search(network, kinds, whole, signal), PAGE)
  })
}
