import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { search } from '../../api/index.ts'
import { toJson } from '../../api/json.ts'
import { useAsk } from '../../api/use-ask.ts'
import type { Hit } from '../../api/wire.ts'
import { type Asked, firstBody, nextBody, PAGE } from './body.ts'

/** The hits of a query, of which more are asked for as they come into sight. */
export const useHits = (network: string | undefined, kinds: readonly string[], asked: Asked | undefined) => {
  const body = asked && firstBody(asked)
  const key = network !== undefined && body !== undefined ? `${network} ${kinds.join()} ${body}` : undefined
  const first = useAsk(key, signal => search(network!, kinds, body, signal))
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
  const isWhole = more.done || begun.length < PAGE

  const askMore = async () => {
    const after = hits.at(-1)?.sort
    if (isWhole || asking.current || first.busy || network === undefined || !asked || !after) return
    const controller = new AbortController()
    asking.current = controller
    try {
      const answer = await search(network, kinds, nextBody(asked, toJson(after)), controller.signal)
      const next = answer.hits.hits
      setMore(({ hits }) => ({ hits: [...hits, ...next], done: next.length < PAGE }))
    } catch (error) {
      if (!controller.signal.aborted) setMore(({ hits }) => ({ hits, done: true, error }))
    } finally {
      if (asking.current === controller) asking.current = undefined
    }
  }
  return { ...first, hits, isWhole, askMore: () => void askMore(), moreError: more.error }
}

const NONE: readonly Hit[] = []
