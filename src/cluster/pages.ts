import type { SearchRequest } from '../query/request.ts'
import type { Asker, AskOptions, Page } from './asker.ts'
import type { ClusterHit } from './hits/found.ts'
import { closePoint, openPoint, type PointInTime } from './point-in-time.ts'
import { bothVisible, type Settle } from './settled.ts'
import type { Visible } from './visible.ts'

/** All hits of a search, page by page, of one state of the cluster's indices. */
export interface ClusterPages {
  total: number
  maxScore?: number
  /** Resolves when the next page is there. */
  ready(): Promise<void>
  /** Begins to fetch the page behind it; undefined behind the last one. */
  take(): Page | undefined
  close(): void
}

/** Hits of the first page. How many the others have follows from how long documents are. */
const FIRST = 500
/** Most hits that a cluster tells at once. */
const MOST = 10_000
/** Of a page: one is sent while the next one comes. */
const PAGE_BYTES = 2 << 20

/** `options` gives those of each page anew. */
export const openPages = async (
  request: SearchRequest,
  { asker, options, visible, settle }: { asker: Asker; options(): AskOptions; visible(): Visible; settle: Settle },
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
  const { pit, taken: before } = await settle(async taken => ({ pit: await open(), taken }), options())
  let size = FIRST
  let isLast = false
  let last: ClusterHit | undefined
  const fetch = async (after: string | undefined): Promise<Page> => {
    const { deadline, signal } = options()
    const signals = signal ? [signal, ending.signal] : [ending.signal]
    const asked = after === undefined ? request : { ...request, trackTotal: false }
    // Of a batch that was under way the indices may have had a part. What a reorganisation took back meanwhile is hidden, too.
    const both = bothVisible(before, visible())
    const timed = { deadline, signal: AbortSignal.any(signals) }
    const page = await asker.page(asked, timed, both, { pit, after, size })
    last = page.hits.at(-1)
    isLast = page.hits.length < size
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
      total: first.total,
      ...(first.maxScore !== undefined && { maxScore: first.maxScore }),
      async ready() {
        taken ??= await next
        // Pages of which all is left out are none.
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

const sizeBehind = (hits: readonly ClusterHit[]): number => {
  const bytes = hits.reduce((sum, hit) => sum + hit.bytes.length, 0)
  return Math.min(MOST, Math.ceil((PAGE_BYTES * hits.length) / Math.max(1, bytes)) || FIRST)
}
