import type { Document } from '../../documents/document.ts'
import { asBigint, asJson } from '../../documents/show.ts'
import { logsBloomOf } from '../../lib/bloom.ts'
import type { ByteWriter } from '../../lib/bytes.ts'
import { DEFAULT_LIMITS, type Limits } from '../../limits/index.ts'
import type { Kind } from '../../mapping/index.ts'
import type { Node } from '../../query/ast.ts'
import { compile } from '../../query/predicate.ts'
import type { After, ResumePoint, SearchRequest, Seen, Slice } from '../../query/request.ts'
import type { SegmentHeader } from '../index/segment.ts'
import type { DocumentReader, Pages, Result, SimilarDocument } from '../port.ts'
import type { Reader } from '../reader.ts'
import { createHits } from '../show/hits.ts'
import { findBest, matchesIn, type Part } from './best.ts'
import { createDocuments, type Documents } from './documents.ts'
import { evaluate } from './evaluate.ts'
import { hold } from './held.ts'
import { type Hit, type Loading, loadInto, type Take } from './hits.ts'
import { positionsOfIds } from './lookup.ts'
import { check, type SearchOptions } from './options.ts'
import { type Cursor, type Progress, pagesOf, walk } from './pages.ts'
import { type Plan, planQuery } from './plan.ts'
import { reached, resumeFrom } from './resume.ts'
import { seenNow, stillThere } from './seen.ts'
import type { Ask } from './segment-matcher.ts'
import { type SimilarRequest, similarContracts } from './similar.ts'
import { isChainOrder, sortKeysOf } from './sort.ts'
import { endOf } from './sort-values.ts'

/** Searches one network's store, without leaving the thread. */
export interface Searcher extends Pick<DocumentReader, 'search' | 'pages' | 'get' | 'similar'> {
  search(request: SearchRequest, options: SearchOptions): Result
  pages(request: SearchRequest, options: SearchOptions, after?: Cursor): Pages & { pages: Iterable<Hit[]> }
  get(kind: Kind, id: string): Document | undefined
  similar(request: SimilarRequest): SimilarDocument[] | undefined
  /** As `search`: appends the hits as JSON, with a comma between two, and tells how many they are. */
  write(request: SearchRequest, options: SearchOptions, writing: Writing): Written
  /** The stored blocks of this moment. */
  seen(): Seen
  /** As `pages`: a page is the number of its hits, which are appended as it is taken. */
  writePages(request: SearchRequest, options: SearchOptions, writing: Writing, after?: Cursor): WrittenPages
  /** Appends what is answered to who asks for one document; false where there is none. */
  writeDocument(kind: Kind, id: string, writing: Writing): boolean
}

export interface Written {
  total: number
  hits: number
  /** Of a request that is one page of a cursor: what its first one saw. */
  seen?: Seen | undefined
  /** Of the same: where the next one begins. Undefined where this one is empty. */
  end?: After | undefined
  /** Of a request behind a reader's token: how far it is now, and from which block on what it had is no longer so. */
  resumed?: { point: ResumePoint; reorganisedFrom: number | undefined } | undefined
}

export interface Writing {
  /** The network's name as it stands in `_index`. */
  index: string
  out: ByteWriter
  /** What stands between two hits; a comma by default. */
  between?: number
}

export type WrittenPages = Omit<Pages, 'pages'> & { pages: Iterable<number> }

export const createSearcher = (reader: Reader, limits: Limits = DEFAULT_LIMITS): Searcher => {
  const shown = createDocuments({ reader, big: asJson, bloom: logsBloomOf })
  const exact = createDocuments({ reader, big: asBigint, bloom: logsBloomOf })
  const loading: Loading = { shown, exact, reader }
  const written = createHits(loading)

  const prepare = (asked: SearchRequest): Part[] => {
    const request = amongSeen(asked)
    return request.parts.map(({ kind, query }) => ({
      kind,
      evaluation: evaluate({
        kind,
        plan: within(request, planQuery(kind, query, reader)),
        reader,
        ask: asking(exact),
      }),
    }))
  }

  /** What was reorganised away since, and what came since, is left out. */
  const amongSeen = (request: SearchRequest): SearchRequest => {
    const { seen } = request
    return seen === undefined || seen === 'now' ? request : { ...request, within: stillThere(seen, reader) }
  }

  const find = (request: SearchRequest, options: SearchOptions, take: Take): Written => {
    reader.begin(() => check(options))
    try {
      if (typeof request.resume === 'object') return findResumed(request, request.resume.point, take)
      const parts = prepare(request)
      const total = countAll(request, parts, reader)
      const found = findBest(request, parts, { exact, reader, limits })
      const hits = take(found.slice(request.from))
      if (request.seen === undefined) return { total, hits }
      const last = found.at(-1)
      const end = last && endOf(request, last, { documents: exact, reader })
      return { total, hits, end, seen: request.seen === 'now' ? seenNow(reader) : request.seen }
    } finally {
      reader.end()
    }
  }

  /** The total is that of the hits behind the token. */
  const findResumed = (asked: SearchRequest, point: ResumePoint | 'now', take: Take): Written => {
    const { request, reorganisedFrom } = resumeFrom(asked, point, reader)
    const parts = prepare(request)
    const counted = countAll({ ...request, trackTotal: request.trackTotal !== false }, parts, reader)
    const { behind } = sortKeysOf(request, reader, exact)
    const passed = matchesIn(behind!.blocks!.here, parts, { reader }).filter(match => !behind!.has(match)).length
    const found = findBest(request, parts, { exact, reader, limits })
    return {
      total: counted < 0 ? -1 : counted - passed,
      hits: take(found),
      resumed: { point: reached(found, request, reader), reorganisedFrom },
    }
  }

  const findAll = (
    request: SearchRequest,
    options: SearchOptions,
    take: Take,
    after: Cursor | undefined,
  ): WrittenPages => {
    const progress: Progress = { at: after }
    const at = () => progress.at
    const walked = () => walk(request, options, { prepare, loading, limits, take }, progress)
    if (after && isChainOrder(request)) return { total: -1, pages: walked(), at }
    reader.begin(() => check(options))
    try {
      const parts = prepare(request)
      const total = after ? -1 : countAll(request, parts, reader)
      if (isChainOrder(request)) return { total, pages: walked(), at }
      // Another order than the chain's has to be known whole before the first hit.
      const all = { ...request, from: 0, size: Number.POSITIVE_INFINITY }
      const held = hold(findBest(all, parts, { exact, reader, limits }))
      const from = after ? held.behind(after) : request.from
      return { total, pages: pagesOf(held, from, { reader, take, progress }), at }
    } finally {
      reader.end()
    }
  }

  const takeInto = (request: SearchRequest, { index, out, between }: Writing): Take => {
    const write = written.writer(request, index, between)
    return found => write(found, out)
  }

  const seen = (): Seen => read(() => seenNow(reader))

  const positionOf = (kind: Kind, id: string) => positionsOfIds(kind, [id.toLowerCase()], reader).slice(-1)

  const read = <T>(work: () => T): T => {
    reader.begin()
    try {
      return work()
    } finally {
      reader.end()
    }
  }

  return {
    search(request, options) {
      const hits: Hit[] = []
      const { total } = find(request, options, loadInto(hits, request, loading))
      return { total, hits }
    },
    pages(request, options, after) {
      const hits: Hit[] = []
      const all = findAll(request, options, loadInto(hits, request, loading), after)
      return { ...all, pages: drained(all.pages, hits) }
    },
    seen,
    write: (request, options, writing) => find(request, options, takeInto(request, writing)),
    writePages: (request, options, writing, after) => findAll(request, options, takeInto(request, writing), after),
    writeDocument: (kind, id, { index, out }) =>
      read(() => positionOf(kind, id).some(position => written.document(kind, position, index, out))),
    similar: request =>
      read(() =>
        similarContracts(reader, request)?.map(({ position, similarity }) => ({
          document: shown.load('contract', [position])[0]!,
          similarity,
        })),
      ),
    get: (kind, id) => read(() => shown.load(kind, positionOf(kind, id))[0]),
  }
}

/** What a plan finds in the blocks, and in the slice, that are asked for. */
const within = ({ within: runs, slice }: SearchRequest, plan: Plan): Plan => {
  const of: Plan[] = [
    ...(runs ? [{ by: 'blocks' as const, runs: runs.map(([from, to]): [number, number] => [from, to]) }] : []),
    ...(slice ? [{ by: 'headers' as const, test: inSlice(slice) }] : []),
    plan,
  ]
  return of.length === 1 ? plan : { by: 'and', of }
}

/** Neighbouring blocks are in slices that have nothing to do with each other. */
const inSlice =
  ({ id, max }: Slice) =>
  ({ first }: SegmentHeader, index: number): boolean => {
    const mixed = Math.imul(first + index, 0x9e3779b1)
    return ((mixed ^ (mixed >>> 15)) >>> 0) % max === id
  }

/** What a page has put into a list, each time. */
function* drained<T>(pages: Iterable<unknown>, list: T[]): Generator<T[]> {
  for (const _ of pages) yield list.splice(0)
}

const asking = (documents: Documents): Ask => {
  const tests = new Map<Node, ReturnType<typeof compile>>()
  return (kind, node, positions) => {
    const test = tests.get(node) ?? compile(kind, node)
    tests.set(node, test)
    return documents.load(kind, positions).map(document => document !== undefined && test(document))
  }
}

const countAll = ({ trackTotal }: SearchRequest, parts: Part[], reader: Reader): number => {
  if (trackTotal === false) return -1
  const most = trackTotal === true ? Number.POSITIVE_INFINITY : trackTotal
  let total = 0
  for (const segment of reader.segments()) {
    reader.check()
    for (const { evaluation } of parts) total += evaluation.count(segment)
    if (total >= most) return most
  }
  return total
}
