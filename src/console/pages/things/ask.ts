import { useAsk, useMore } from '../../api/ask.ts'
import { ApiError, ask } from '../../api/client.ts'
import { search } from '../../api/index.ts'
import { type JsonObject, textAt, toJson } from '../../api/json.ts'
import type { Hit, Kind, SearchAnswer } from '../../api/wire.ts'

/** One search of several that go into one request. */
export interface Search {
  kinds: readonly Kind[]
  body: JsonObject
}

export const searchAll = async (
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

/** Asks all of them at once, again when one of them changes; undefined asks nothing. */
export const useSearches = (network: string, searches: readonly Search[] | undefined) =>
  useAsk(searches && `${network} ${toJson(searches)}`, signal => searchAll(network, searches!, signal))

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

export const hitsOf = (answer: SearchAnswer | undefined): Hit[] => answer?.hits.hits ?? []

const PAGE = 50

/** Hits of one search in the order of the chain, of which more are asked for as they come into sight. */
export const useList = (network: string, kinds: readonly Kind[], query: JsonObject, body: JsonObject) => {
  const whole = { ...body, query, size: PAGE }
  const first = useAsk(`${network} ${kinds.join()} ${toJson([query, body])}`, signal =>
    search(network, kinds, whole, signal),
  )
  const found = useMore(first, PAGE, (search_after, signal) =>
    search(network, kinds, { ...whole, search_after }, signal),
  )
  return { ...found, total: first.data?.hits.total }
}
