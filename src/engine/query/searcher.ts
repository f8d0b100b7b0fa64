import type { Document } from '../../documents/document.ts'
import type { ByteWriter } from '../../lib/bytes.ts'
import type { Eventually } from '../../lib/scheduling/event-loop.ts'
import { DEFAULT_LIMITS, type Limits } from '../../limits/index.ts'
import type { Kind } from '../../mapping/index.ts'
import { parseSearch } from '../../query/parse.ts'
import type { After, ResumePoint, SearchRequest, SeenBlocks } from '../../query/request.ts'
import { openReader, reading, type StoreReader } from '../reader.ts'
import type { DocumentShowing, HitsWriting } from '../show/hits.ts'
import { cursorKeyOf } from '../store-version.ts'
import { positionsOfIds } from './fields/find-by-id.ts'
import {
  type Hit,
  loadInto,
  type PiecePages,
  type Ranking,
  ranker,
  type TakeHits,
  takePieces,
  type WrittenHit,
} from './hits.ts'
import { type HitCursor, streamHits } from './pages.ts'
import { checkDeadline, createSearchContext, prepareParts, rankOnce, type SearchControl, searchOnce } from './search.ts'
import { findSimilar, type SimilarDocument, type SimilarOptions, type SimilarRequest } from './similar-contracts.ts'
import { seenNow } from './snapshot.ts'
import { findBest } from './sort/first-page.ts'

/** Searches one network's store on the calling thread. */
export type Searcher = ReturnType<typeof createSearcher>

/** A searcher of any store. An asynchronous one overlaps with others, so it has its own writer. */
export type StoreSearcher = Pick<Searcher, 'cursorKey' | 'seen'> & {
  [Name in Exclude<keyof Searcher, 'cursorKey' | 'seen'>]: (
    ...args: Parameters<Searcher[Name]>
  ) => Eventually<ReturnType<Searcher[Name]> & Awaiting<ReturnType<Searcher[Name]>>>
} & { out?: ByteWriter }

/** Adds asynchronous waiting to an answer that is fetched in pages. */
type Awaiting<T> = T extends { pages: unknown } ? AwaitedPages : unknown

export interface AwaitedPages {
  /** Resolves when the next page is ready. */
  ready?: (() => Promise<void>) | undefined
  /** Discards the remaining pages. */
  close?: (() => void) | undefined
}

export interface Written {
  total: number
  hits: number
  /** Present unless all scores are 1. */
  maxScore?: number
  /** Whether a search with `terminate_after` ended early. */
  isEarly?: boolean
  /** The JSON text under `aggregations`. */
  aggregations?: string
  /** The blocks that the first page of a cursor saw. */
  seen?: SeenBlocks | undefined
  /** Start of a cursor's next page; undefined if this page is empty. */
  end?: After | undefined
  /** New point of a reader's token, and the first block reorganised since the old one. */
  resumed?: { point: ResumePoint; reorganisedFrom: number | undefined } | undefined
}

export interface Writing extends HitsWriting {
  /** Network name as shown in `_index`. */
  index: string
  out: ByteWriter
  /** Whether to write aggregation names with a type prefix (`typed_keys`). */
  typedKeys?: boolean
}

/** Pages of a long answer; the caller defines the type of a page. */
export interface SearchPages<Page> {
  total: number
  maxScore?: number
  pages: Iterable<Page>
  /** Progress after the pages taken so far. */
  at(): HitCursor | undefined
  /** Moves the start of the next page; absent where pages depend on one another. */
  goTo?: ((at: HitCursor) => void) | undefined
}

/** A written page is its number of hits. */
export type WrittenPages = SearchPages<number>

export const createSearcher = (reader: StoreReader, limits: Limits = DEFAULT_LIMITS) => {
  const context = createSearchContext(reader, limits)
  const { shown, exact, hits: written } = context

  const takeInto = (request: SearchRequest, { index, out, ...how }: Writing): TakeHits => {
    const write = written.writer(request, index, how)
    return found => write(found, out)
  }

  const positionOf = (kind: Kind, id: string) => positionsOfIds(kind, [id.toLowerCase()], reader).slice(-1)

  const similarOptions: SimilarOptions = {
    reader,
    load: (kind, position) => shown.load(kind, [position])[0]!,
    newest(kind, values) {
      const filter = Object.entries(values).map(([field, value]) => ({ term: { [field]: value } }))
      const body = { size: 1, query: { bool: { filter } }, sort: { 'blockNumber.num': 'desc' } }
      const request = parseSearch(JSON.stringify(body), [kind], 0)
      return findBest(request, prepareParts(context, request), context)[0]?.position
    },
  }

  return {
    search(request: SearchRequest, options: SearchControl): { total: number; hits: Hit[] } {
      const hits: Hit[] = []
      const { total } = searchOnce(context, request, options, among => loadInto(hits, among, context))
      return { total, hits }
    },
    pages(request: SearchRequest, options: SearchControl, after?: HitCursor): SearchPages<Hit[]> {
      const hits: Hit[] = []
      const all = streamHits(context, request, options, loadInto(hits, request, context), after)
      return { ...all, pages: drained(all.pages, hits) }
    },
    /** The blocks stored now. */
    seen: (): SeenBlocks => reading(reader, () => seenNow(reader)),
    /** Signs cursor ids. */
    cursorKey: cursorKeyOf(reader.db),
    /** Like `search`, but appends hits as comma-separated JSON and returns their number. */
    write: (request: SearchRequest, options: SearchControl, writing: Writing): Written =>
      searchOnce(context, request, options, among => takeInto(among, writing), writing),
    /** Like `pages`, but each page appends its hits and yields their number. */
    writePages: (request: SearchRequest, options: SearchControl, writing: Writing, after?: HitCursor): WrittenPages =>
      streamHits(context, request, options, takeInto(request, writing), after),
    /** Like `write`, but merges with other searches and writes chosen hits only; needs `close`. */
    rank: (request: SearchRequest, options: SearchControl, writing: Writing): Ranking =>
      rankOnce(context, request, options, takeInto(request, writing), writing),
    /** Like `writePages`, but a page is a list of separate hits. */
    pieces(request: SearchRequest, options: SearchControl, writing: Writing, after?: HitCursor): PiecePages {
      const pieces: WrittenHit[] = []
      const take = takePieces(pieces, takeInto(request, writing), writing.out, ranker(request, { reader, exact }))
      const all = streamHits(context, request, options, take, after)
      return { ...all, pages: drained(all.pages, pieces) }
    },
    /** Appends the answer to a request for one document; false where there is none. */
    writeDocument: (kind: Kind, id: string, { index, out }: Writing, how?: DocumentShowing): boolean =>
      reading(reader, () => positionOf(kind, id).some(position => written.document(kind, position, index, out, how))),
    similar: (request: SimilarRequest, options: SearchControl): SimilarDocument[] | undefined =>
      reading(
        reader,
        () =>
          findSimilar(request, similarOptions)?.flatMap(({ position, similarity }) =>
            shown.load(request.kind, [position]).flatMap(document => (document ? { document, similarity } : [])),
          ),
        () => checkDeadline(options),
      ),
    get: (kind: Kind, id: string): Document | undefined =>
      reading(reader, () => shown.load(kind, positionOf(kind, id))[0]),
  }
}

/** Searches the store in a file; closing the searcher closes the store. */
export const openSearcher = (store: string, native?: string) => {
  const reader = openReader(store, native)
  return { ...createSearcher(reader), close: reader.close }
}

/** Yields the list's contents after each page. */
function* drained<T>(pages: Iterable<unknown>, list: T[]): Generator<T[]> {
  for (const _ of pages) yield list.splice(0)
}
