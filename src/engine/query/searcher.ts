import type { Document } from '../../documents/document.ts'
import { asBigint, asJson } from '../../documents/show.ts'
import type { ByteWriter } from '../../lib/bytes.ts'
import type { Eventually } from '../../lib/eventually.ts'
import { DEFAULT_LIMITS, type Limits } from '../../limits/index.ts'
import type { Kind } from '../../mapping/index.ts'
import { parseSearch } from '../../query/parse.ts'
import type { After, ResumePoint, SearchRequest, Seen } from '../../query/request.ts'
import { and } from '../../query/simplify.ts'
import { createAggregating } from '../aggs/aggregations.ts'
import { cursorKeyOf } from '../cursor-key.ts'
import type { DocumentReader, Pages, Result, SimilarDocument } from '../port.ts'
import type { Reader } from '../reader.ts'
import { createHits, type DocumentShowing, type HitsWriting } from '../show/hits.ts'
import { seenNow, stillThere } from './chain-snapshot.ts'
import { createDocuments } from './documents.ts'
import { positionsOfIds } from './fields/find-by-id.ts'
import type { Found, Part } from './found.ts'
import { type Hit, type Loading, loadInto, type Take } from './hits.ts'
import { countAll } from './match/count.ts'
import { asking, createEvaluator } from './match/evaluator.ts'
import { terminated } from './match/terminate-after.ts'
import { check, type SearchOptions } from './options.ts'
import { type Cursor, isSamePlace, type Progress, pagesOf, walk } from './pages.ts'
import { type Piece, type PiecePages, type Ranking, ranker, takePieces } from './ranked-hit.ts'
import { reached, resumeFrom } from './resume.ts'
import { bestFirst, maxScore, withScores } from './scores/scoring.ts'
import { findSimilar, type SimilarOptions, type SimilarRequest } from './similar.ts'
import { altered, alteredSince, inSnapshot, type Snapshot, takeSnapshot } from './snapshot.ts'
import { findCollapsed } from './sort/collapse.ts'
import { findBest, matchesIn } from './sort/first-page.ts'
import { isChainOrder, sortKeysOf } from './sort/sort.ts'
import { hold } from './sort/sort-memory.ts'
import { endOf } from './sort/sort-values.ts'

/** Searches one network's store, without leaving the thread. */
export interface Searcher extends Pick<DocumentReader, 'search' | 'pages' | 'get' | 'similar'> {
  search(request: SearchRequest, options: SearchOptions): Result
  pages(request: SearchRequest, options: SearchOptions, after?: Cursor): Pages & { pages: Iterable<Hit[]> }
  get(kind: Kind, id: string): Document | undefined
  similar(request: SimilarRequest, options: SearchOptions): SimilarDocument[] | undefined
  /** As `search`: appends the hits as JSON, with a comma between two, and tells how many they are. */
  write(request: SearchRequest, options: SearchOptions, writing: Writing): Written
  /** What ids of cursors are signed by. */
  cursorKey(): Buffer
  /** The stored blocks of this moment. */
  seen(): Seen
  /** As `pages`: a page is the number of its hits, which are appended as it is taken. */
  writePages(request: SearchRequest, options: SearchOptions, writing: Writing, after?: Cursor): WrittenPages
  /** As `write`, but what is found is ranked beside what others find, and written where it is chosen. Ends with `close`. */
  rank(request: SearchRequest, options: SearchOptions, writing: Writing): Ranking
  /** As `writePages`: a page is its hits, each by itself. */
  pieces(request: SearchRequest, options: SearchOptions, writing: Writing, after?: Cursor): PiecePages
  /** Appends what is answered to who asks for one document; false where there is none. */
  writeDocument(kind: Kind, id: string, writing: Writing, how?: DocumentShowing): boolean
}

/** A searcher of any store: what is found may have to be waited for. Where it is, others are answered meanwhile, so that it has a writer of its own. */
export type StoreSearcher = Pick<Searcher, 'cursorKey' | 'seen'> & {
  [Name in Exclude<keyof Searcher, 'cursorKey' | 'seen'>]: (
    ...args: Parameters<Searcher[Name]>
  ) => Eventually<ReturnType<Searcher[Name]> & Awaiting<ReturnType<Searcher[Name]>>>
} & { out?: ByteWriter }

/** Of a long answer that is fetched page by page. */
type Awaiting<T> = T extends { pages: unknown } ? Waiting : unknown

export interface Waiting {
  /** Resolves when the next page can be taken. */
  ready?: (() => Promise<void>) | undefined
  /** Nobody wants the rest. */
  close?: (() => void) | undefined
}

export interface Written {
  total: number
  hits: number
  /** Where scores are not all 1. */
  maxScore?: number
  /** Of a search that may end before all is found: whether it did. */
  isEarly?: boolean
  /** What stands under `aggregations`, as JSON text. */
  aggregations?: string
  /** Of a request that is one page of a cursor: what its first one saw. */
  seen?: Seen | undefined
  /** Of the same: where the next one begins. Undefined where this one is empty. */
  end?: After | undefined
  /** Of a request behind a reader's token: how far it is now, and from which block on what it had is no longer so. */
  resumed?: { point: ResumePoint; reorganisedFrom: number | undefined } | undefined
}

export interface Writing extends HitsWriting {
  /** The network's name as it stands in `_index`. */
  index: string
  out: ByteWriter
  /** Whether names of aggregations stand behind their types. */
  typedKeys?: boolean
}

export type WrittenPages = Omit<Pages, 'pages'> & { pages: Iterable<number>; maxScore?: number }

export const createSearcher = (reader: Reader, limits: Limits = DEFAULT_LIMITS): Searcher => {
  const shown = createDocuments(reader, asJson)
  const exact = createDocuments(reader, asBigint)
  const loading: Loading = { shown, exact, reader }
  const evaluation = createEvaluator(reader, exact)
  const written = createHits({ ...loading, evaluation, limits })
  const aggregating = createAggregating({ reader, exact, ask: asking(exact), limits, hits: written })

  const prepare = (asked: SearchRequest, snapshot?: Snapshot): Part[] => {
    const among = amongSeen(asked)
    const request = snapshot ? inSnapshot(among, snapshot, reader) : among
    const parts = request.parts.map(({ kind, query, postFilter }) => ({
      kind,
      evaluation: evaluation(kind, postFilter ? and([query, postFilter]) : query, request),
    }))
    return withScores(request, parts, { reader, ask: asking(exact), exact })
  }

  /** Where it is to end early: what is found until then. */
  const ending = (request: SearchRequest, parts: Part[]): { parts: Part[]; isEarly?: boolean } => {
    const { terminateAfter, minScore: _, ...rest } = request
    if (terminateAfter === undefined) return { parts }
    const first = terminated(parts, terminateAfter, reader)
    // Scores of what is left out are not looked at.
    return { ...first, parts: withScores(rest, first.parts, { reader, ask: asking(exact), exact }) }
  }

  /** What was reorganised away since, and what came since, is left out. */
  const amongSeen = (request: SearchRequest): SearchRequest => {
    const { seen, within } = request
    return typeof seen !== 'object' || within ? request : { ...request, within: stillThere(seen, reader) }
  }

  const find = (
    asked: SearchRequest,
    options: SearchOptions,
    taking: (request: SearchRequest) => Take,
    writing?: Writing,
  ): Written => {
    reader.begin(() => check(options))
    try {
      const request = amongSeen(asked)
      if (typeof request.resume === 'object') return findResumed(request, request.resume.point, taking(request))
      const { parts, isEarly } = ending(request, prepare(request))
      const total = countAll(request, parts, reader)
      const ordered = bestFirst(request, parts)
      const finding = { exact, reader, limits, ask: asking(exact) }
      const found = (request.collapse ? findCollapsed : findBest)(ordered, parts, finding)
      const hits = found.slice(request.from)
      parts[0]?.scoring?.mark(hits, request.shown)
      return {
        ...{ total, hits: taking(request)(hits) },
        ...maxScore(request, parts, found, reader),
        ...(isEarly !== undefined && { isEarly }),
        ...(request.aggregations && writing && { aggregations: aggregated(request, parts, writing) }),
        ...(request.seen && cursorAt(ordered, hits.at(-1))),
      }
    } finally {
      reader.end()
    }
  }

  /** What stands open until the ranking is closed is the one state that it is of. */
  const rank = (asked: SearchRequest, options: SearchOptions, writing: Writing): Ranking => {
    reader.begin(() => check(options))
    try {
      const { parts, isEarly } = ending(asked, prepare(asked))
      const ordered = bestFirst(asked, parts)
      const finding = { exact, reader, limits, ask: asking(exact) }
      const found = findBest(ordered, parts, finding)
      parts[0]?.scoring?.mark(found, asked.shown)
      const evaluations = parts.map(({ evaluation }, i) => (asked.parts[i]!.postFilter ? undefined : evaluation))
      return {
        total: countAll(asked, parts, reader),
        ranked: found.map(ranker(ordered, { reader, exact })),
        sort: ordered.sort,
        descending: sortKeysOf(ordered, reader, exact, parts[0]?.scoring).descending,
        ...maxScore(asked, parts, found, reader),
        ...(isEarly !== undefined && { isEarly }),
        write: takeInto(asked, writing),
        ...(asked.aggregations && {
          aggregating: aggregating.joined({
            ...aggregateOf(asked, writing),
            evaluations,
            aggregations: asked.aggregations,
          }),
        }),
        close: reader.end,
      }
    } catch (error) {
      reader.end()
      throw error
    }
  }

  const cursorAt = (request: SearchRequest, last: Found | undefined): Pick<Written, 'seen' | 'end'> => ({
    end: last && endOf(request, last, { documents: exact, reader }),
    seen: request.seen === 'now' ? seenNow(reader) : request.seen,
  })

  const aggregated = (request: SearchRequest, parts: readonly Part[], writing: Writing): string => {
    // What was looked up to be counted is known.
    const evaluations = parts.map(({ evaluation }, i) => (request.parts[i]!.postFilter ? undefined : evaluation))
    return aggregating.text({ ...aggregateOf(request, writing), evaluations, aggregations: request.aggregations! })
  }

  /** The total is that of the hits behind the token. */
  const findResumed = (asked: SearchRequest, point: ResumePoint | 'now', take: Take): Written => {
    const { request, reorganisedFrom } = resumeFrom(asked, point, reader)
    const parts = prepare(request)
    const counted = countAll({ ...request, trackTotal: request.trackTotal !== false }, parts, reader)
    const { behind } = sortKeysOf(request, reader, exact)
    const passed = matchesIn(behind!.blocks!.here, parts, { reader }).filter(match => !behind!.has(match)).length
    const found = findBest(request, parts, { exact, reader, limits })
    parts[0]?.scoring?.mark(found, request.shown)
    return {
      ...{ total: counted < 0 ? -1 : counted - passed, hits: take(found) },
      ...maxScore(request, parts, found, reader),
      resumed: { point: reached(found, request, reader), reorganisedFrom },
    }
  }

  const findAll = (
    request: SearchRequest,
    options: SearchOptions,
    take: Take,
    after: Cursor | undefined,
  ): WrittenPages => {
    const walked = (progress: Progress) => ({
      pages: walk(request, options, { prepare, loading, limits, take }, progress),
      at: () => progress.at,
      ...apart(progress),
    })
    /** Where no other keys refine the chain's order, a page can be made without those before it. */
    const apart = (progress: Progress) => {
      if (sortKeysOf(request, reader, exact).compare) return {}
      progress.reached = options.reached && (cursor => options.reached!(cursor))
      return {
        goTo(cursor: Cursor) {
          if (!isSamePlace(cursor, progress.at)) progress.at = cursor as Progress['at']
        },
      }
    }
    const begun = after as Progress['at'] | undefined
    if (begun && isChainOrder(request)) return { total: -1, ...walked({ at: begun }) }
    reader.begin(() => check(options))
    try {
      const parts = prepare(request, begun?.snapshot)
      const total = begun ? -1 : countAll(request, parts, reader)
      const isCounted = request.trackTotal === true && !request.after
      const snapshot =
        begun?.snapshot ?? takeSnapshot(reader, isCounted ? Math.max(0, total - request.from) : undefined)
      const progress: Progress = { at: begun ?? { last: undefined, hits: 0, snapshot } }
      const max = maxScore(request, parts, undefined, reader)
      if (isChainOrder(request)) return { total, ...walked(progress), ...max }
      const [gone] = alteredSince(snapshot, request, reader)
      if (gone) throw altered(gone)
      // Another order than the chain's has to be known whole before the first hit.
      const all = { ...request, from: 0, size: Number.POSITIVE_INFINITY }
      const held = hold(findBest(all, parts, { exact, reader, limits }))
      const from = begun?.last ? held.behind(begun.last) : request.from
      const scoring = parts[0]?.scoring
      const marking: Take = found => {
        scoring?.mark(found, request.shown)
        return take(found)
      }
      const pages = pagesOf(held, from, { request, reader, take: marking, progress, version: reader.version() })
      return { total, pages, at: () => progress.at, ...max }
    } finally {
      reader.end()
    }
  }

  const takeInto = (request: SearchRequest, { index, out, totals, between }: Writing): Take => {
    const write = written.writer(request, index, { totals, between })
    return found => write(found, out)
  }

  const seen = (): Seen => read(() => seenNow(reader))

  const positionOf = (kind: Kind, id: string) => positionsOfIds(kind, [id.toLowerCase()], reader).slice(-1)

  const similarOptions: SimilarOptions = {
    reader,
    load: (kind, position) => shown.load(kind, [position])[0]!,
    newest(kind, values) {
      const filter = Object.entries(values).map(([field, value]) => ({ term: { [field]: value } }))
      const body = { size: 1, query: { bool: { filter } }, sort: { 'blockNumber.num': 'desc' } }
      const request = parseSearch(JSON.stringify(body), [kind], 0)
      return findBest(request, prepare(request), { exact, reader, limits })[0]?.position
    },
  }

  const read = <T>(work: () => T, checking?: () => void): T => {
    reader.begin(checking)
    try {
      return work()
    } finally {
      reader.end()
    }
  }

  return {
    search(request, options) {
      const hits: Hit[] = []
      const { total } = find(request, options, among => loadInto(hits, among, loading))
      return { total, hits }
    },
    pages(request, options, after) {
      const hits: Hit[] = []
      const all = findAll(request, options, loadInto(hits, request, loading), after)
      return { ...all, pages: drained(all.pages, hits) }
    },
    seen,
    cursorKey: cursorKeyOf(reader.db),
    write: (request, options, writing) => find(request, options, among => takeInto(among, writing), writing),
    writePages: (request, options, writing, after) => findAll(request, options, takeInto(request, writing), after),
    rank,
    pieces(request, options, writing, after) {
      const pieces: Piece[] = []
      const take = takePieces(pieces, takeInto(request, writing), writing.out, ranker(request, { reader, exact }))
      const all = findAll(request, options, take, after)
      return { ...all, pages: drained(all.pages, pieces) }
    },
    writeDocument: (kind, id, { index, out }, how) =>
      read(() => positionOf(kind, id).some(position => written.document(kind, position, index, out, how))),
    similar: (request, options) =>
      read(
        () =>
          findSimilar(request, similarOptions)?.flatMap(({ position, similarity }) =>
            shown.load(request.kind, [position]).flatMap(document => (document ? { document, similarity } : [])),
          ),
        () => check(options),
      ),
    get: (kind, id) => read(() => shown.load(kind, positionOf(kind, id))[0]),
  }
}

const aggregateOf = (request: SearchRequest, { index, totals, typedKeys = false }: Writing) => ({
  ...{ request, index, typedKeys },
  total: (count: number) => (totals === 'object' ? `{"value":${count},"relation":"eq"}` : `${count}`),
})

/** What a page has put into a list, each time. */
function* drained<T>(pages: Iterable<unknown>, list: T[]): Generator<T[]> {
  for (const _ of pages) yield list.splice(0)
}
