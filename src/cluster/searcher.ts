import { asJson } from '../documents/show.ts'
import { createDecodings } from '../engine/query/decodings.ts'
import type { Ranked, WrittenHit } from '../engine/query/hits.ts'
import { checkDeadline, type SearchControl } from '../engine/query/search.ts'
import type { SearchMatch } from '../engine/query/search-match.ts'
import type { Searcher, StoreSearcher, Writing } from '../engine/query/searcher.ts'
import { isNewestFirst } from '../engine/query/sort/sort.ts'
import { comparedValues, cursorAfter } from '../engine/query/sort/sort-values.ts'
import { readingIn, type StoreReader } from '../engine/reader.ts'
import { createIndexIdentities } from '../engine/shipping/index-identities.ts'
import { hidesScores } from '../engine/show/basic-hit.ts'
import { formatTotal } from '../engine/show/inner-hits.ts'
import { cursorKeyOf } from '../engine/store-version.ts'
import { createByteWriter } from '../lib/bytes.ts'
import type { Limits } from '../limits/index.ts'
import { type Kind, lookup } from '../mapping/index.ts'
import { indexedValuesOf } from '../query/predicate.ts'
import type { ResumePoint, SearchRequest } from '../query/request.ts'
import { aggregatedPage } from './aggs/aggregations.ts'
import { notInCluster } from './deviations.ts'
import { ClusterHit, clusterDocument, createFoundHits, loadPage } from './hits/cluster-hit.ts'
import { withInnerHits } from './hits/related.ts'
import { scanList } from './hits/scan.ts'
import { createClusterHits } from './hits/write.ts'
import { guardMissingIndices } from './indices/lost-indices.ts'
import { type ClusterLookups, createClusterLookups } from './lookups.ts'
import { type ClusterPages, openPages } from './pages.ts'
import { withPostFilter } from './post-filter.ts'
import { withCollapsedPages } from './query/collapse.ts'
import {
  type AskOptions,
  type ById,
  type ClusterNetwork,
  createQueryClient,
  type Page,
  type QueryClient,
} from './query-client.ts'
import { type ConsistentRead, createConsistentRead } from './visibility.ts'

export interface SearcherOptions {
  signal?: AbortSignal | undefined
  /** Time limit of each request for a page of a long answer. */
  deadlineMs: number
}

interface ClusterSearcherOptions extends ClusterNetwork {
  /** Reads the network's store, which has its blocks. */
  reader: StoreReader
  limits: Limits
}

/** Searches a network whose documents are in a cluster. */
export const createClusterSearcher = (options: ClusterSearcherOptions) => {
  const { reader, visible, limits } = options
  const settle = createConsistentRead(options)
  const decodings = createDecodings(reader)
  const inStore = readingIn(reader)
  const plain = createQueryClient({
    ...options,
    cluster: guardMissingIndices(options, createIndexIdentities(reader.db).of),
  })
  const asker = withPostFilter(withInnerHits(withCollapsedPages(plain)), (kind, source) =>
    inStore(() => decodings.of(kind, source)),
  )
  const lookups = createClusterLookups({ asker, reader, visible, settle })
  const { documents, seen } = lookups

  return {
    ...{ documents, seen, asker, settle },
    /** Serves one request, with its own writer: others are answered while it waits. */
    searcherOf: (asking: SearcherOptions) =>
      searcherFor({ asker, lookups, visible, settle, reader, limits, ...asking }),
    /** Writes documents that are there. */
    writerOf(byId: ReadonlyMap<Kind, ById>): Pick<Searcher, 'writeDocument'> {
      const found = createFoundHits()
      const hits = createClusterHits(found)
      return {
        writeDocument(kind, id, { index, out }, how) {
          const hit = byId.get(kind)?.get(id.toLowerCase())
          if (!hit) return false
          found.add([hit])
          hits.document(hit, index, out, how)
          return true
        },
      }
    },
  }
}

interface SearcherParts extends SearcherOptions, Pick<ClusterSearcherOptions, 'visible' | 'reader' | 'limits'> {
  asker: QueryClient
  lookups: ClusterLookups
  settle: ConsistentRead
}

type WritePage = (page: Pick<Page, 'hits' | 'sortOf'>, out: Writing['out']) => number

const searcherFor = ({
  asker,
  lookups,
  visible,
  settle,
  reader,
  limits,
  signal,
  deadlineMs,
}: SearcherParts): StoreSearcher => {
  const found = createFoundHits()
  const hits = createClusterHits(found)
  const timed = ({ deadline }: SearchControl): AskOptions => ({ deadline, signal })
  const anew = (): AskOptions => ({ signal, deadline: performance.now() + deadlineMs })
  const from = { documents: found.exact, reader: undefined }

  const writerOf = (
    request: SearchRequest,
    { index, totals, parents, between }: Writing,
    options: SearchControl,
  ): WritePage => {
    const writing = { index, totals, parents, between, check: () => checkDeadline(options) }
    return (page, out) => {
      found.add(page.hits)
      return hits.writer(request, { ...writing, sortOf: page.sortOf })(page.hits, out)
    }
  }

  /** Adds `aggregations` to a page. */
  const aggregatedBy =
    (writing: Writing, options: SearchControl): QueryClient['page'] =>
    (request, asking, visible, paging) => {
      const { aggregations } = request
      if (!aggregations) return asker.page(request, asking, visible, paging)
      const aggregated = {
        ...{ request: { ...request, aggregations }, limits, typedKeys: writing.typedKeys ?? false },
        check: () => checkDeadline(options),
        total: (count: number) => formatTotal(count, writing.totals),
        write(inner: SearchRequest, text: string, uniform: number | undefined) {
          const hits = scanList(Buffer.from(text)).map(hit => new ClusterHit(hit, uniform))
          const out = createByteWriter()
          writerOf(inner, writing, options)({ hits }, out)
          return out.view().toString()
        },
      }
      return aggregatedPage(aggregated, { asker, options: asking, visible, paging })
    }

  const writeResumed = async (
    request: SearchRequest,
    point: ResumePoint | 'now',
    options: SearchControl,
    writing: Writing,
  ) => {
    const { page, resumed } = await lookups.resumed(request, point, timed(options))
    return { ...pageHead(request, page), hits: writerOf(request, writing, options)(page, writing.out), resumed }
  }

  /** `take` receives each page when it is read. */
  const openedPages = async <T>(request: SearchRequest, take: (page: Page) => T) => {
    const pages = await openPages(request, { asker, options: anew, visible, settle })
    const { total, maxScore, ready, close } = pages
    return {
      ...{ total, ready, close, at: () => undefined, pages: paged(pages, take) },
      ...(maxScore !== undefined && !hidesScores(request) && { maxScore }),
    }
  }

  const documentAt = async (kind: Kind, id: string): Promise<ClusterHit | undefined> => {
    const hit = (await lookups.byIds(kind, [id], anew())).get(id.toLowerCase())
    if (hit) found.add([hit])
    return hit
  }

  /** Keys for merging hits of several networks. */
  const rankerOf = (request: SearchRequest): ((hit: ClusterHit) => Ranked) => {
    const valuesAt = comparedValues(request, from)
    return hit => {
      const [document] = found.exact.load(hit.kind, [hit.position])
      const [time] = indexedValuesOf(lookup(hit.kind, 'timestamp')!, document!._source)
      return { found: hit, values: valuesAt(hit), time: Number(time) / 1000 }
    }
  }

  return {
    out: createByteWriter(),
    async write(request, options, writing) {
      if (typeof request.resume === 'object') return writeResumed(request, request.resume.point, options, writing)
      const page = await lookups.page(request, timed(options), aggregatedBy(writing, options))
      const count = writerOf(request, writing, options)(page, writing.out)
      const last = page.hits.at(-1)
      return {
        ...{ ...pageHead(request, page), hits: count },
        ...(page.aggregations !== undefined && { aggregations: page.aggregations }),
        ...(request.seen && { seen: page.seen, end: last && cursorAfter({ ...request, sort: page.sort }, last, from) }),
      }
    },
    writePages(request, options, writing) {
      const write = writerOf(request, writing, options)
      return openedPages(request, page => write(page, writing.out))
    },
    async search(request, options) {
      const page = await lookups.page(request, timed(options), asker.page)
      return { total: page.total, hits: loadPage(request, page, found) }
    },
    pages: request => openedPages(request, page => loadPage(request, page, found)),
    async writeDocument(kind, id, { index, out }, how) {
      const hit = await documentAt(kind, id)
      if (hit) hits.document(hit, index, out, how)
      return hit !== undefined
    },
    async get(kind, id) {
      const hit = await documentAt(kind, id)
      return hit && clusterDocument(hit, asJson)
    },
    seen: lookups.seen,
    cursorKey: cursorKeyOf(reader.db),
    similar: (request, options) => lookups.similar(request, timed(options)),
    async rank(request, options, writing) {
      if (request.aggregations) throw notInCluster('Aggregations of several networks', 'ask each network')
      const page = await settle(visible => asker.page(request, timed(options), visible), timed(options))
      const { sort, sortOf } = page
      const ordered = { ...request, sort }
      found.add(page.hits)
      const write = writerOf(request, writing, options)
      return {
        ...{ ...pageHead(request, page), ranked: page.hits.map(rankerOf(ordered)) },
        ...{ sort, descending: isNewestFirst(ordered) },
        write: chosen => write({ hits: chosen as readonly SearchMatch[] as ClusterHit[], sortOf }, writing.out),
        close() {},
      }
    },
    pieces(request, options, writing) {
      const write = writerOf(request, writing, options)
      const out = createByteWriter()
      return openedPages(request, ({ hits, sort, ...about }) => {
        found.add(hits)
        return hits.map(rankerOf({ ...request, sort })).map((one): WrittenHit => {
          out.clear()
          write({ ...about, hits: [one.found as ClusterHit] }, out)
          return { ...one, bytes: out.take() }
        })
      })
    },
  }
}

function* paged<T>(pages: ClusterPages, take: (page: Page) => T): Generator<T> {
  for (let page = pages.take(); page; page = pages.take()) yield take(page)
}

const pageHead = (request: SearchRequest, { total, hits, maxScore, isEarly }: Page) => ({
  total,
  ...(maxScore !== undefined && hits.length > 0 && !hidesScores(request) && { maxScore }),
  ...(isEarly !== undefined && { isEarly }),
})
