import { asJson } from '../documents/show.ts'
import { cursorKeyOf } from '../engine/cursor-key.ts'
import type { Searcher, Writing, Written, WrittenPages } from '../engine/query/execute.ts'
import { check, type SearchOptions } from '../engine/query/options.ts'
import { endOf } from '../engine/query/sort-values.ts'
import type { Reader } from '../engine/reader.ts'
import { hidesScores } from '../engine/show/envelope.ts'
import { createByteWriter } from '../lib/bytes.ts'
import type { Limits } from '../limits/index.ts'
import type { Kind } from '../mapping/index.ts'
import type { ResumePoint, SearchRequest } from '../query/request.ts'
import { aggregatedPage } from './aggs/aggregations.ts'
import type { Asker, AskOptions, ClusterNetwork, Page } from './asker.ts'
import type { ById } from './by-id.ts'
import { ClusterHit, createFoundHits, documentOf } from './hits/found.ts'
import { loadPage } from './hits/load.ts'
import { scanList } from './hits/scan.ts'
import { createClusterHits } from './hits/write.ts'
import type { Lookups } from './lookups.ts'
import { memberOf } from './member.ts'
import { type ClusterPages, openPages } from './pages.ts'
import type { Need } from './replay.ts'
import type { Settle } from './settled.ts'

/** What work with a searcher is done with. */
export interface Working {
  need: Need
  signal: AbortSignal | undefined
  /** For a request that begins now. */
  anew(): AskOptions
  /** Documents that are there. */
  byId: ReadonlyMap<Kind, ById>
  /** Told of a long answer. */
  opened(pages: ClusterPages): void
}

/** What a searcher works with that waits for nothing. */
export interface WorkOptions extends Working, Pick<ClusterNetwork, 'visible'> {
  asker: Asker
  lookups: Lookups
  settle: Settle
  reader: Reader
  limits: Limits
}

/** Searches as if the cluster answered at once. */
export const searcherFor = (options: WorkOptions): Searcher => {
  const { asker, lookups, visible, settle, reader, limits, need, signal, anew, byId, opened } = options
  const found = createFoundHits()
  const hits = createClusterHits(found)
  const timed = ({ deadline }: SearchOptions): AskOptions => ({ deadline, signal })
  const from = { documents: found.exact, reader: undefined }

  const writerOf = (request: SearchRequest, { index, totals, between }: Writing, options: SearchOptions) => {
    const writing = { index, totals, between, check: () => check(options) }
    return (page: Pick<Page, 'hits' | 'sortOf'>, out: Writing['out']) => {
      found.add(page.hits)
      return hits.writer(request, { ...writing, sortOf: page.sortOf })(page.hits, out)
    }
  }

  /** With what stands under `aggregations`. */
  const aggregatedBy =
    (writing: Writing, options: SearchOptions): Asker['page'] =>
    (request, asking, visible, paging) => {
      const { aggregations } = request
      if (!aggregations) return asker.page(request, asking, visible, paging)
      const aggregated = {
        ...{ request: { ...request, aggregations }, limits, typedKeys: writing.typedKeys ?? false },
        check: () => check(options),
        total: (count: number) => (writing.totals === 'object' ? `{"value":${count},"relation":"eq"}` : `${count}`),
        write(inner: SearchRequest, text: string, uniform: number | undefined) {
          const hits = scanList(Buffer.from(text)).map(hit => new ClusterHit(hit, uniform))
          const out = createByteWriter()
          writerOf(inner, writing, options)({ hits }, out)
          return out.view().toString()
        },
      }
      return aggregatedPage(aggregated, { asker, options: asking, visible, paging })
    }

  const writeResumed = (
    request: SearchRequest,
    point: ResumePoint | 'now',
    options: SearchOptions,
    writing: Writing,
  ) => {
    const { page, resumed } = need(() => lookups.resumed(request, point, timed(options)))
    return { ...told(request, page), hits: writerOf(request, writing, options)(page, writing.out), resumed }
  }

  const openedPages = (request: SearchRequest): ClusterPages => {
    const pages = need(() => openPages(request, { asker, options: anew, visible, settle }))
    opened(pages)
    return pages
  }

  const documentAt = (kind: Kind, id: string): ClusterHit | undefined => {
    const here = byId.get(kind) ?? need(() => lookups.byIds(kind, [id], anew()))
    const hit = here.get(id.toLowerCase())
    if (hit) found.add([hit])
    return hit
  }

  function* paged<T>(pages: ClusterPages, take: (page: Page) => T): Generator<T> {
    for (let page = pages.take(); page; page = pages.take()) yield take(page)
  }

  return {
    write(request, options, writing): Written {
      if (typeof request.resume === 'object') return writeResumed(request, request.resume.point, options, writing)
      const page = need(() => lookups.page(request, timed(options), aggregatedBy(writing, options)))
      const count = writerOf(request, writing, options)(page, writing.out)
      const last = page.hits.at(-1)
      return {
        ...{ ...told(request, page), hits: count },
        ...(page.aggregations !== undefined && { aggregations: page.aggregations }),
        ...(request.seen && { seen: page.seen, end: last && endOf({ ...request, sort: page.sort }, last, from) }),
      }
    },
    writePages(request, options, writing): WrittenPages {
      const pages = openedPages(request)
      const write = writerOf(request, writing, options)
      return {
        ...{ total: pages.total, at: () => undefined, pages: paged(pages, page => write(page, writing.out)) },
        ...(pages.maxScore !== undefined && !hidesScores(request) && { maxScore: pages.maxScore }),
      }
    },
    search(request, options) {
      const page = need(() => lookups.page(request, timed(options), asker.page))
      return { total: page.total, hits: loadPage(request, page, found) }
    },
    pages(request) {
      const pages = openedPages(request)
      return { total: pages.total, at: () => undefined, pages: paged(pages, page => loadPage(request, page, found)) }
    },
    writeDocument(kind, id, { index, out }, how) {
      const hit = documentAt(kind, id)
      if (hit) hits.document(hit, index, out, how)
      return hit !== undefined
    },
    get(kind, id) {
      const hit = documentAt(kind, id)
      return hit && documentOf(hit, asJson)
    },
    seen: lookups.seen,
    cursorKey: cursorKeyOf(reader.db),
    similar: (request, options) => need(() => lookups.similar(request, timed(options))),
    ...memberOf({
      ...{ need, found, writerOf, settle, asker, openedPages },
      options: timed,
    }),
  }
}

const told = (request: SearchRequest, { total, hits, maxScore, isEarly }: Page) => ({
  total,
  ...(maxScore !== undefined && hits.length > 0 && !hidesScores(request) && { maxScore }),
  ...(isEarly !== undefined && { isEarly }),
})
