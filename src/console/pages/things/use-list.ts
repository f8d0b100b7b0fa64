import { search } from '../../api/index.ts'
import { type JsonObject, toJson } from '../../api/json.ts'
import { useAsk } from '../../api/use-ask.ts'
import { useMore } from '../../api/use-more.ts'
import type { Kind } from '../../api/wire.ts'

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
