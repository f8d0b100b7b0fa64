import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { hitPage, useAsk, usePages } from '../../api/ask.ts'
import { messageOf, searchDocuments } from '../../api/client.ts'
import { type Json, listAt, stringifyJson, valueAt } from '../../api/json.ts'
import { type Kind, OFFERED_KINDS, type SearchAnswer, type SearchHit } from '../../api/wire.ts'
import { setQuery, useAddress } from '../../browser/router.tsx'
import type { Layer, Series } from '../../parts/chart.tsx'
import { dateOf } from '../../parts/format.ts'
import { type Catalogue, sortPath } from './fields.ts'
import {
  type BoxQuestion,
  CHAIN_ORDER,
  EXPLORE_PAGE_SIZE,
  type ExploreQuery,
  firstBody,
  NEW,
  nextBody,
  readQuestion,
  resumeBody,
  type Sort,
} from './query.ts'
import { layOut } from './tree.ts'

const DEFAULT_KINDS = 'tx,event'

/** `@` marks computed columns; others are `_source` fields. */
export const DEFAULT_COLUMNS = '@time,@kind,@what,@amount,@block,@thing'

/** Search state in the address. */
export interface Search {
  network: string
  text: string
  kinds: readonly Kind[]
  columns: readonly string[]
  /** Sort field, or `@block` for chain order. */
  sort: Sort | undefined
  /** Seconds before the newest block; empty with `from` and `to`, which are epoch milliseconds. */
  range: string
  from: string
  to: string
  follows: boolean
  open: string
  view: string
  split: Split
}

/** What the chart is split by: the field for each kind that has it. */
export const SPLITS: Readonly<Record<Split, (kinds: readonly Kind[]) => string | undefined>> = {
  kind: () => '_type',
  event: kinds => (kinds.includes('event') ? 'event.raw' : undefined),
  method: kinds => (kinds.includes('call') ? 'method.raw' : kinds.includes('tx') ? 'method' : undefined),
  sender: kinds => (kinds.includes('call') || kinds.includes('tx') ? 'from.raw' : undefined),
  contract: kinds => (kinds.includes('event') || kinds.includes('log') ? 'address.raw' : undefined),
}

export type Split = 'kind' | 'event' | 'method' | 'sender' | 'contract'

export const splitsOf = (kinds: readonly Kind[]): Split[] =>
  (Object.keys(SPLITS) as Split[]).filter(split => SPLITS[split](kinds) !== undefined)

/** Where a hit has what the chart is split by. */
const SPLIT_PATHS = { event: 'event', method: 'method', sender: 'from', contract: 'address' } as const

export const useSearch = (network: string): Search => {
  const query = new URLSearchParams(useAddress().query)
  const get = (name: string, fallback = '') => query.get(name) ?? fallback
  const kinds = get('kinds', DEFAULT_KINDS).split(',')
  const chosen = OFFERED_KINDS.filter(kind => kinds.includes(kind))
  const [, field, order] = /^(.*):(asc|desc)$/s.exec(get('sort')) ?? []
  return {
    ...{ network, text: get('q'), from: get('from'), to: get('to'), range: get('range') },
    ...{ open: get('open'), view: get('view'), follows: get('follow') === '1' },
    kinds: chosen,
    split: splitsOf(chosen).find(it => it === get('split')) ?? 'kind',
    columns: [...new Set(get('columns', DEFAULT_COLUMNS).split(',').filter(Boolean))],
    sort: field === undefined ? undefined : { field, order: order as Sort['order'] },
  }
}

/** Whether the search is empty. */
export const isFirstSight = (search: Search): boolean =>
  search.text === '' && search.kinds.join() === DEFAULT_KINDS && search.sort === undefined && !isCut(search)

/** Whether it is between two times. */
export const isCut = ({ from, to }: Search): boolean => from !== '' || to !== ''

export const setKinds = (kinds: readonly Kind[]) => {
  const names = OFFERED_KINDS.filter(kind => kinds.includes(kind)).join() || 'none'
  setQuery({ kinds: names === DEFAULT_KINDS ? '' : names })
}

export const setColumns = (columns: readonly string[]) => {
  const names = columns.join()
  setQuery({ columns: names === DEFAULT_COLUMNS ? '' : names }, { replace: true })
}

/** Clicks cycle: sorted, reversed, chain order. */
export const sortBy = (field: string, { sort }: Search) => {
  const order = sort?.field !== field ? 'desc' : sort.order === 'desc' ? 'asc' : undefined
  setQuery({ sort: order && `${field}:${order}`, follow: '' })
}

interface Understood {
  question?: BoxQuestion
  asked?: ExploreQuery
  error?: unknown
}

/** Query of the address; a sort waits for the field's type. `newest` is the time of the newest block. */
export const useAsked = (
  search: Search,
  catalogue: Catalogue | undefined,
  newest: number | undefined,
  round: number,
): Understood => {
  const { text, kinds, sort, range, from, to, columns, split } = search
  const key = JSON.stringify([text, kinds, sort, range, from, to, columns, split, round, newest === undefined])
  return useMemo(() => {
    try {
      const question = readQuestion(text, kinds)
      const by = sort && (sort.field === '@block' ? CHAIN_ORDER : catalogue && sortPath(catalogue, sort.field))
      if (sort && catalogue && by === undefined)
        return { question, error: new Error(`Hits cannot be sorted by "${sort.field}".`) }
      if (kinds.length === 0 || (sort && by === undefined)) return { question }
      const asked: ExploreQuery = {
        ...{ query: question.query, to: millis(to), split: SPLITS[split](kinds) },
        from: millis(from) ?? (range === '' || newest === undefined ? undefined : newest - Number(range) * 1_000),
        sort: sort && { field: by!, order: sort.order },
        shown: columns.filter(name => !name.startsWith('@')),
      }
      return { question, asked }
    } catch (error) {
      return { error }
    }
  }, [key, catalogue])
}

export const millis = (text: string): number | undefined => (/^\d{1,16}$/.test(text) ? Number(text) : undefined)

type View = 'box' | 'conditions' | 'json'

/** The query being edited: box, conditions and JSON show one text. */
export interface Draft {
  text: string
  /** Its clause: empty for everything, undefined if invalid. */
  clause: string | undefined
  error: string | undefined
  json: string
  /** `by`: view that the user edited. */
  set(text: string, by: View): void
  submit(): void
}

/** `refresh`: searches for the same again. */
export const useDraft = (text: string, kinds: readonly Kind[], refresh: () => void): Draft => {
  const [draft, setDraft] = useState<{ text: string; by: View }>({ text, by: 'box' })
  useEffect(() => setDraft(draft => (draft.text.trim() === text ? draft : { text, by: 'box' })), [text])
  const kindText = kinds.join()
  const read = useMemo(() => {
    try {
      const clause = readQuestion(draft.text, kinds).query ?? ''
      return { clause, laidOut: clause === '' ? '' : layOut(clause) }
    } catch (error) {
      return { error: messageOf(error) }
    }
  }, [draft.text, kindText])
  return {
    text: draft.text,
    clause: read.clause,
    error: read.error,
    json: draft.by === 'json' ? draft.text : (read.laidOut ?? draft.text),
    set: (text, by) => setDraft({ text, by }),
    submit() {
      setQuery({ q: draft.text.trim(), open: '' })
      if (draft.text.trim() === text) refresh()
    },
  }
}

/** Hits of a query, paged while scrolling. */
export const useHits = (network: string | undefined, kinds: readonly string[], asked: ExploreQuery | undefined) => {
  const body = asked && firstBody(asked)
  const key = network !== undefined && body !== undefined ? `${network} ${kinds.join()} ${body}` : undefined
  return usePages(key, async (after: Json[] | undefined, signal) => {
    const text = after ? nextBody(asked!, stringifyJson(after)) : body
    return hitPage(await searchDocuments(network!, kinds, text, signal), EXPLORE_PAGE_SIZE)
  })
}

interface News {
  hits: readonly SearchHit[]
  /** Earlier hits from this block on were reorganised away. */
  gone: number | undefined
  error?: unknown
}

const NO_NEWS: News = { hits: [], gone: undefined }
const FOLLOW_INTERVAL_MS = 1_000
/** Limit of kept new hits; a new search finds the rest. */
const MOST_NEWS = 20_000

/** New hits while following. Once `ready`, later searches may overlap with these hits. */
export const useFollow = (
  network: string,
  kinds: readonly string[],
  asked: ExploreQuery | undefined,
  follows: boolean,
  ready: () => void,
): News => {
  const body = follows && asked ? resumeBody(asked, 'now') : undefined
  const key = body === undefined ? undefined : `${network} ${kinds.join()} ${body}`
  const latest = useRef({ asked, ready })
  latest.current = { asked, ready }
  const start = useAsk(key, signal => searchDocuments(network, kinds, body!, signal))
  const [news, setNews] = useState(NO_NEWS)

  useEffect(() => {
    if (key === undefined || !start.data) return
    setNews(NO_NEWS)
    latest.current.ready()
    const controller = new AbortController()
    const { signal } = controller
    const follow = async () => {
      for (let token = tokenOf(start.data!); !signal.aborted; ) {
        const answer = await searchDocuments(network, kinds, resumeBody(latest.current.asked!, token), signal)
        token = tokenOf(answer)
        const from = valueAt(answer as unknown as Json, 'resume.reorganised_from')
        const next = answer.hits.hits.toReversed()
        if (next.length > 0 || from !== undefined) setNews(news => addNews(news, next, from))
        if (next.length < NEW) await new Promise(resolve => setTimeout(resolve, FOLLOW_INTERVAL_MS))
      }
    }
    follow().catch(error => !signal.aborted && setNews(news => ({ ...news, error })))
    return () => controller.abort()
  }, [key, start.data])

  // The search shows these hits from now on.
  useEffect(() => (follows ? () => latest.current.ready() : undefined), [follows])

  return key === undefined ? NO_NEWS : { ...news, error: news.error ?? start.error }
}

const tokenOf = (answer: SearchAnswer): string => String(valueAt(answer as unknown as Json, 'resume.token'))

const addNews = ({ hits, gone }: News, next: readonly SearchHit[], from: Json | undefined): News => {
  const height = typeof from === 'number' ? from : undefined
  const kept = height === undefined ? hits : hits.filter(hit => blockHeight(hit) < height)
  return { hits: [...next, ...kept].slice(0, MOST_NEWS), gone: lowest(gone, height) }
}

const lowest = (a: number | undefined, b: number | undefined) =>
  a === undefined ? b : b === undefined ? a : Math.min(a, b)

const blockHeight = ({ _source }: SearchHit): number =>
  Number(valueAt(_source, 'number.num') ?? valueAt(_source, 'blockNumber.num') ?? valueAt(_source, 'firstSeen.num'))

/** New hits, then found ones, each once. */
export const withNews = (found: readonly SearchHit[], { hits, gone }: News): readonly SearchHit[] => {
  if (hits.length === 0 && gone === undefined) return found
  const fresh = new Set(hits.map(({ _type, _id }) => `${_type} ${_id}`))
  return [
    ...hits,
    ...found.filter(hit => !fresh.has(`${hit._type} ${hit._id}`) && (gone === undefined || blockHeight(hit) < gone)),
  ]
}

/** Counts over time of found and new hits, by what they are split by. */
export const seriesOf = (
  answer: SearchAnswer | undefined,
  news: readonly SearchHit[],
  split: Split,
): Series | undefined => {
  const buckets = listAt(answer?.aggregations, 'counts.buckets')
  if (buckets.length === 0) return undefined
  const times = buckets.map(bucket => Number(valueAt(bucket, 'key')) / 1000)
  const counts = buckets.map(bucket => Number(valueAt(bucket, 'doc_count')))
  const layers = new Map<string, number[]>()
  const add = (name: Json | undefined, bucket: number, count: number) => {
    const layer = layers.get(String(name)) ?? []
    layers.set(String(name), layer)
    layer[bucket] = (layer[bucket] ?? 0) + count
  }
  for (const [i, bucket] of buckets.entries())
    for (const part of listAt(bucket, 'split.buckets')) add(valueAt(part, 'key'), i, Number(valueAt(part, 'doc_count')))
  // A span tells its most frequent names alone, so that their sums may lack some.
  const totals = new Map(
    listAt(answer?.aggregations, 'split.buckets').map(part => [
      String(valueAt(part, 'key')),
      Number(valueAt(part, 'doc_count')),
    ]),
  )
  const step = times.length > 1 ? times[1]! - times[0]! : Number.POSITIVE_INFINITY
  for (const { _type, _source } of news.toReversed()) {
    const written = valueAt(_source, 'timestamp')
    if (typeof written !== 'number' && typeof written !== 'string') continue
    const time = dateOf(written).getTime() / 1000
    // A long pause of the chain becomes a gap, not thousands of bars.
    while (time >= times.at(-1)! + step && times.length < MOST_BARS) {
      times.push(times.at(-1)! + step)
      counts.push(0)
    }
    const bucket = times.findLastIndex(it => it <= time)
    if (bucket < 0) continue
    counts[bucket]!++
    const name = split === 'kind' ? _type : valueAt(_source, SPLIT_PATHS[split])
    if (typeof name !== 'string') continue
    add(name, bucket, 1)
    totals.set(name, (totals.get(name) ?? 0) + 1)
  }
  return { times, counts, split: largest(layers, counts, totals) }
}

const MOST_BARS = 400
const MOST_LAYERS = 6

/** The largest layers, and one of all others. */
const largest = (
  layers: ReadonlyMap<string, readonly number[]>,
  counts: readonly number[],
  totals: ReadonlyMap<string, number>,
): Layer[] => {
  const sum = (values: readonly number[]) => values.reduce((total, it) => total + it, 0)
  const named = [...totals]
    .sort(([, a], [, b]) => b - a)
    .slice(0, MOST_LAYERS)
    .map(([name, total]) => ({ name, total, values: counts.map((_, i) => layers.get(name)?.[i] ?? 0) }))
  const rest = counts.map((count, i) => count - sum(named.map(({ values }) => values[i]!)))
  const total = sum(counts) - sum(named.map(({ total }) => total))
  return sum(rest) > 0 ? [...named, { name: 'others', values: rest, total, isRest: true }] : named
}
