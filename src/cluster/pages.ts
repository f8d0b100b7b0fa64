import { setTimeout } from 'node:timers/promises'
import { checkHits } from '../engine/query/snapshot.ts'
import type { Visible } from '../engine/shipping/shipped-ranges.ts'
import { ChainsieveError } from '../lib/errors.ts'
import type { Kind } from '../mapping/index.ts'
import type { SearchRequest } from '../query/request.ts'
import { LACKS_REQUEST, UNAVAILABLE } from './connection/faults.ts'
import type { ClusterHit } from './hits/cluster-hit.ts'
import { type AskOptions, KEEP_ALIVE, type Page, type QueryClient } from './query-client.ts'
import { bothVisible, type ConsistentRead } from './visibility.ts'

/**
 * All hits of a search, page by page, from one point in time, which uses certain shard copies. If
 * those are lost, other copies supply the rest, limited to what was visible at first.
 */
export interface ClusterPages {
  total: number
  maxScore?: number
  /** Resolves when the next page is available. */
  ready(): Promise<void>
  /** Returns the page and starts to fetch the next one; undefined after the last page. */
  take(): Page | undefined
  close(): void
}

/** Hits on the first page. The length of documents determines the size of later pages. */
const FIRST_PAGE_HITS = 500
/** Most hits in one answer of a cluster. */
const MAX_PAGE_HITS = 10_000
/** Target size of a page: one is sent while the next one is fetched. */
const PAGE_BYTES = 2 << 20

/** Pauses before retries on other shard copies: a cluster needs time to detect a dead node. */
const PAUSES_MS = [0, 500, 2_000]

interface OpenPages {
  asker: QueryClient
  /** Returns new options for each page. */
  options(): AskOptions
  visible(): Visible
  settle: ConsistentRead
  pauses?: readonly number[]
}

export const openPages = async (
  request: SearchRequest,
  { asker, options, visible, settle, pauses = PAUSES_MS }: OpenPages,
): Promise<ClusterPages> => {
  // Before the first documents there is no index, and no point in time of one.
  const parts = visible().ranges.length === 0 ? [] : request.parts
  const kinds = parts.map(({ kind }) => kind)
  if (kinds.length === 0) {
    const none = await asker.page({ ...request, parts }, options(), visible())
    return { total: none.total, ready: async () => {}, take: () => undefined, close() {} }
  }
  const opened: PointInTime[] = []
  const open = async (): Promise<string> => {
    const point = await openPoint(asker, kinds, options())
    opened.push(point)
    return point.id
  }
  const ending = new AbortController()
  const close = () => {
    if (ending.signal.aborted) return
    ending.abort()
    for (const point of opened) closePoint(asker, point)
  }
  /** The open point in time, and what was visible when it and its predecessors were opened. */
  let state = await settle(async taken => ({ pit: await open(), taken }), options())
  const openAnew = async (asking: AskOptions) => {
    const { pit, taken } = await settle(async taken => ({ pit: await open(), taken }), asking)
    state = { pit, taken: bothVisible(state.taken, taken) }
  }
  let size = FIRST_PAGE_HITS
  let isLast = false
  let last: ClusterHit | undefined
  let isOrdered = false
  let hits = 0
  let expected: number | undefined
  const ask = async (after: string | undefined, asking: AskOptions): Promise<Page> => {
    const asked = { ...request, trackTotal: after === undefined }
    // Hides batches that were in progress at opening, and blocks reorganised away since.
    const both = bothVisible(state.taken, visible())
    return asker.page(asked, asking, both, { pit: state.pit, after, size })
  }
  const fetch = async (after: string | undefined): Promise<Page> => {
    const { deadline, signal } = options()
    const asking = { deadline, signal: AbortSignal.any(signal ? [signal, ending.signal] : [ending.signal]) }
    const page = await ask(after, asking).catch(async error => {
      let latest = error
      for (const pause of isOrdered ? pauses : []) {
        if (!isUnavailable(latest) || performance.now() + pause >= deadline) break
        await setTimeout(pause, undefined, { signal: asking.signal })
        try {
          await openAnew(asking)
          return await ask(after, asking)
        } catch (another) {
          latest = another
        }
      }
      throw latest
    })
    // Other shard copies may score differently, which invalidates cursors by score.
    isOrdered = page.uniform !== undefined || !request.sort.some(({ by }) => by === '_score')
    last = page.hits.at(-1)
    isLast = page.hits.length < size
    hits += page.hits.length
    // Blocks reorganised away or pruned since are hidden, and count as missing.
    expected ??= page.total
    if (isLast && !request.after) checkHits(hits, expected)
    size = sizeBehind(page.hits)
    return page
  }

  try {
    let skip = request.from
    const first = await fetch(undefined)
    const shown = (page: Page): Page => {
      const hits = page.hits.slice(skip)
      skip -= page.hits.length - hits.length
      return { ...page, hits }
    }
    let next: Promise<Page> | undefined = Promise.resolve(shown(first))
    let taken: Page | undefined
    const more = async (): Promise<Page> => shown(await fetch(last!.sort))
    return {
      total: totalOf(first.total, request),
      ...(first.maxScore !== undefined && { maxScore: first.maxScore }),
      async ready() {
        taken ??= await next
        // Skips pages that `from` excludes entirely.
        while (taken?.hits.length === 0 && !isLast) taken = await more()
        next = undefined
      },
      take() {
        if (!taken && next !== undefined) throw new Error('the next page is not there yet')
        const page = taken
        taken = undefined
        if (isLast) close()
        else {
          next = more()
          next.catch(() => {})
        }
        return page?.hits.length ? page : undefined
      },
      close,
    }
  } catch (error) {
    close()
    throw error
  }
}

/** Total as the request wants it. */
const totalOf = (total: number, { trackTotal }: SearchRequest): number =>
  trackTotal === false ? -1 : trackTotal === true ? total : Math.min(total, trackTotal)

const sizeBehind = (hits: readonly ClusterHit[]): number => {
  const bytes = hits.reduce((sum, hit) => sum + hit.bytes.length, 0)
  return Math.min(MAX_PAGE_HITS, Math.ceil((PAGE_BYTES * hits.length) / Math.max(1, bytes)) || FIRST_PAGE_HITS)
}

const isUnavailable = (error: unknown): boolean => error instanceof ChainsieveError && error.code === UNAVAILABLE

/** Point in time that the pages of a long answer read. */
export interface PointInTime {
  id: string
  /** Request that closes it. */
  closing: { path: string; body: object }
}

/** Elasticsearch and OpenSearch have different requests for this. */
export const openPoint = async (
  asker: Pick<QueryClient, 'send' | 'target'>,
  kinds: readonly Kind[],
  options: AskOptions,
): Promise<PointInTime> => {
  const query = { keep_alive: KEEP_ALIVE, ignore_unavailable: true }
  const open = async (path: string) =>
    JSON.parse(await asker.send({ method: 'POST', path: `/${asker.target(kinds)}/${path}`, query }, options)) as object
  try {
    const { pit_id: id } = (await open('_search/point_in_time')) as { pit_id: string }
    return { id, closing: { path: '/_search/point_in_time', body: { pit_id: [id] } } }
  } catch (error) {
    if ((error as { code?: unknown }).code !== LACKS_REQUEST) throw error
    const { id } = (await open('_pit')) as { id: string }
    return { id, closing: { path: '/_pit', body: { id } } }
  }
}

/** If closing fails, the point in time expires by itself. */
export const closePoint = (asker: Pick<QueryClient, 'send'>, { closing }: PointInTime): void => {
  asker.send({ method: 'DELETE', ...closing }, { deadline: Number.POSITIVE_INFINITY }).catch(() => {})
}
