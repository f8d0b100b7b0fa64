import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Json } from './json.ts'
import type { Asked } from './use-ask.ts'
import type { Hit, SearchAnswer } from './wire.ts'

/**
 * The hits of a first answer, of which more are asked for as they come into sight. `page` is how many hits a full page has; `askAfter` asks
 * for those behind the sort values of the last hit, and is undefined where nothing can be asked.
 */
export const useMore = (
  first: Asked<SearchAnswer>,
  page: number,
  askAfter: ((after: Json[], signal: AbortSignal) => Promise<SearchAnswer>) | undefined,
) => {
  const [more, setMore] = useState<{ hits: Hit[]; done: boolean; error?: unknown }>({ hits: [], done: false })
  const asking = useRef<AbortController>(undefined)

  useEffect(() => {
    setMore({ hits: [], done: false })
    return () => {
      asking.current?.abort()
      asking.current = undefined
    }
  }, [first.data])

  const begun = first.data?.hits.hits ?? NONE
  const hits = useMemo(() => (more.hits.length === 0 ? begun : [...begun, ...more.hits]), [begun, more.hits])
  const isWhole = more.done || begun.length < page

  const askMore = async () => {
    const after = hits.at(-1)?.sort
    if (isWhole || asking.current || first.busy || !askAfter || !after) return
    const controller = new AbortController()
    asking.current = controller
    try {
      const answer = await askAfter(after, controller.signal)
      const next = answer.hits.hits
      setMore(({ hits }) => ({ hits: [...hits, ...next], done: next.length < page }))
    } catch (error) {
      if (!controller.signal.aborted) setMore(({ hits }) => ({ hits, done: true, error }))
    } finally {
      if (asking.current === controller) asking.current = undefined
    }
  }
  return { ...first, hits, isWhole, askMore: () => void askMore(), moreError: more.error }
}

const NONE: readonly Hit[] = []
