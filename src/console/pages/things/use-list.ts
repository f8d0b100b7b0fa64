import { useEffect, useRef, useState } from 'preact/hooks'
import { search } from '../../api/index.ts'
import { type JsonObject, toJson } from '../../api/json.ts'
import { useAsk } from '../../api/use-ask.ts'
import type { Hit, Kind } from '../../api/wire.ts'

const PAGE = 50

/** Hits of one search in the order of the chain, of which more are asked for as they come into sight. */
export const useList = (network: string, kinds: readonly Kind[], query: JsonObject, body: JsonObject) => {
  const first = useAsk(`${network} ${kinds.join()} ${toJson([query, body])}`, signal =>
    search(network, kinds, { ...body, query, size: PAGE }, signal),
  )
  const [more, setMore] = useState<{ hits: Hit[]; done: boolean; error?: unknown }>({ hits: [], done: false })
  const asking = useRef<AbortController>(undefined)
  useEffect(() => {
    setMore({ hits: [], done: false })
    return () => {
      asking.current?.abort()
      asking.current = undefined
    }
  }, [first.data])

  const begun = first.data?.hits.hits ?? []
  const hits = [...begun, ...more.hits]
  const askMore = async () => {
    const search_after = hits.at(-1)?.sort
    if (more.done || begun.length < PAGE || asking.current || first.busy || !search_after) return
    const controller = new AbortController()
    asking.current = controller
    try {
      const answer = await search(network, kinds, { ...body, query, size: PAGE, search_after }, controller.signal)
      const next = answer.hits.hits
      setMore(({ hits }) => ({ hits: [...hits, ...next], done: next.length < PAGE }))
    } catch (error) {
      if (!controller.signal.aborted) setMore(({ hits }) => ({ hits, done: true, error }))
    } finally {
      if (asking.current === controller) asking.current = undefined
    }
  }
  return { ...first, hits, total: first.data?.hits.total, askMore: () => void askMore(), moreError: more.error }
}
