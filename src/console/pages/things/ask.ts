import { useContext } from 'preact/hooks'
import { hitPage, useAsk, usePages } from '../../api/ask.ts'
import { ApiError, callApi, searchDocuments } from '../../api/client.ts'
import { type Json, type JsonObject, stringifyJson, textAt } from '../../api/json.ts'
import type { Kind, SearchAnswer, SearchHit } from '../../api/wire.ts'
import { NetworkContext } from '../../parts/text.tsx'

export interface MultiSearchItem {
  kinds: readonly Kind[]
  body: JsonObject
}

const searchAll = async (
  network: string,
  searches: readonly MultiSearchItem[],
  signal: AbortSignal,
): Promise<SearchAnswer[]> => {
  const lines = searches.flatMap(({ kinds, body }) => [stringifyJson({ index: kinds.join() }), stringifyJson(body), ''])
  const { responses } = await callApi<{ responses: SearchAnswer[] }>(
    `${network}/es/_msearch?rest_total_hits_as_int=true`,
    {
      body: lines.join('\n').replaceAll('\n\n', '\n'),
      signal,
    },
  )
  for (const response of responses as unknown as JsonObject[]) {
    const reason = textAt(response, 'error.reason')
    if (reason !== undefined) throw new ApiError(Number(response.status), textAt(response, 'error.type') ?? '', reason)
  }
  return responses
}

/** Runs several searches in one request; undefined asks nothing. */
export const useSearches = (searches: readonly MultiSearchItem[] | undefined) => {
  const network = useContext(NetworkContext)
  return useAsk(searches && `${network} ${stringifyJson(searches)}`, signal => searchAll(network, searches!, signal))
}

export const byId = (kinds: readonly Kind[], id: string, more: JsonObject = {}): MultiSearchItem => ({
  kinds,
  body: { query: { ids: { values: [id] } }, ...more },
})

export const term = (field: string, value: string | number | boolean): JsonObject => ({ term: { [field]: value } })
export const allOf = (...filter: JsonObject[]): JsonObject => ({ bool: { filter } })
export const anyOfThese = (...should: JsonObject[]): JsonObject => ({ bool: { should, minimum_should_match: 1 } })

/** Chain order. */
export const NEWEST = [{ _shard_doc: 'desc' }]
export const OLDEST = [{ _shard_doc: 'asc' }]

export const countOnly = (kinds: readonly Kind[], query: JsonObject): MultiSearchItem => ({
  kinds,
  body: { query, size: 0 },
})

/** Time and block of the first or last match, and the total. */
export const edge = (kinds: readonly Kind[], query: JsonObject, sort: JsonObject[]): MultiSearchItem => ({
  kinds,
  body: { query, sort, size: 1, _source: ['timestamp', 'blockNumber'] },
})

export const hitsOf = (answer: SearchAnswer | undefined): SearchHit[] => answer?.hits.hits ?? []

const ROWS_PER_PAGE = 50

/** Hits of one search, paged while scrolling. */
export const useList = ({ kinds, body }: MultiSearchItem) => {
  const network = useContext(NetworkContext)
  return usePages(`${network} ${kinds.join()} ${stringifyJson(body)}`, async (after: Json[] | undefined, signal) => {
    const whole = { ...body, size: ROWS_PER_PAGE, ...(after && { search_after: after }) }
    return hitPage(await searchDocuments(network, kinds, whole, signal), ROWS_PER_PAGE)
  })
}
