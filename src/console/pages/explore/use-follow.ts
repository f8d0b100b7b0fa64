import { useEffect, useRef, useState } from 'preact/hooks'
import { search } from '../../api/index.ts'
import { at, type Json } from '../../api/json.ts'
import { useAsk } from '../../api/use-ask.ts'
import type { Hit, SearchAnswer } from '../../api/wire.ts'
import { type Asked, NEW, resumeBody } from './body.ts'

interface News {
  /** Newest first. */
  hits: readonly Hit[]
  /** Hits of this block and above that came before are no longer in the chain. */
  gone: number | undefined
  error?: unknown
}

const NONE: News = { hits: [], gone: undefined }
const EVERY_MS = 1_000
/** Beyond, the oldest of them are left to the search: it finds them once it is asked again. */
const MOST = 20_000

/**
 * What the chain brings while it is followed. `ready` is told once nothing can be missed any more: what is asked for from then on may hold a
 * hit that is also here.
 */
export const useFollow = (
  network: string,
  kinds: readonly string[],
  asked: Asked | undefined,
  follows: boolean,
  ready: () => void,
): News => {
  const body = follows && asked ? resumeBody(asked, 'now') : undefined
  const key = body === undefined ? undefined : `${network} ${kinds.join()} ${body}`
  const latest = useRef({ asked, ready })
  latest.current = { asked, ready }
  const start = useAsk(key, signal => search(network, kinds, body!, signal))
  const [news, setNews] = useState(NONE)

  useEffect(() => {
    if (key === undefined || !start.data) return
    setNews(NONE)
    latest.current.ready()
    const controller = new AbortController()
    const { signal } = controller
    const follow = async () => {
      for (let token = tokenOf(start.data!); !signal.aborted; ) {
        const answer = await search(network, kinds, resumeBody(latest.current.asked!, token), signal)
        token = tokenOf(answer)
        const from = at(answer as unknown as Json, 'resume.reorganised_from')
        const next = answer.hits.hits.toReversed()
        if (next.length > 0 || from !== undefined) setNews(news => add(news, next, from))
        if (next.length < NEW) await new Promise(resolve => setTimeout(resolve, EVERY_MS))
      }
    }
    follow().catch(error => !signal.aborted && setNews(news => ({ ...news, error })))
    return () => controller.abort()
  }, [key, start.data])

  // What came is shown on, by the search.
  useEffect(() => (follows ? () => latest.current.ready() : undefined), [follows])

  return key === undefined ? NONE : { ...news, error: news.error ?? start.error }
}

const tokenOf = (answer: SearchAnswer): string => String(at(answer as unknown as Json, 'resume.token'))

const add = ({ hits, gone }: News, next: readonly Hit[], from: Json | undefined): News => {
  const height = typeof from === 'number' ? from : undefined
  const kept = height === undefined ? hits : hits.filter(hit => heightOf(hit) < height)
  return { hits: [...next, ...kept].slice(0, MOST), gone: least(gone, height) }
}

const least = (a: number | undefined, b: number | undefined) =>
  a === undefined ? b : b === undefined ? a : Math.min(a, b)

/** The block in which it lies. */
export const heightOf = ({ _source }: Hit): number =>
  Number(at(_source, 'number.num') ?? at(_source, 'blockNumber.num') ?? at(_source, 'firstSeen.num'))

/** Hits that were found, under those that came since; each once. */
export const withNews = (found: readonly Hit[], { hits, gone }: News): readonly Hit[] => {
  if (hits.length === 0 && gone === undefined) return found
  const fresh = new Set(hits.map(({ _type, _id }) => `${_type} ${_id}`))
  return [
    ...hits,
    ...found.filter(hit => !fresh.has(`${hit._type} ${hit._id}`) && (gone === undefined || heightOf(hit) < gone)),
  ]
}
