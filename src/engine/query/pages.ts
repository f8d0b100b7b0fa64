import type { Range } from '../../lib/ranges.ts'
import type { SearchRequest } from '../../query/request.ts'
import { reading, type Segment, type StoreReader } from '../reader.ts'
import { blockOf } from '../schema.ts'
import { numberedAs, positionOfOrdinal } from './fields/ordinals.ts'
import type { TakeHits } from './hits.ts'
import { countAll } from './match/evaluate.ts'
import { eachOrdinal, takeOrdinals } from './match/ordinal-set.ts'
import { segmentsOf } from './match/segment-matcher.ts'
import { maxScore } from './scores/scoring.ts'
import { checkDeadline, prepareParts, type SearchContext, type SearchControl } from './search.ts'
import { matchMaker, type SearchMatch, type SearchPart } from './search-match.ts'
import type { WrittenPages } from './searcher.ts'
import { altered, alteredSince, checkHits, type Snapshot, takeSnapshot } from './snapshot.ts'
import { type FindContext, findBest, sharesTime } from './sort/first-page.ts'
import { bySortKeys, isChainOrder, type SortKeys, sortKeysOf } from './sort/sort.ts'
import { createScale, type HeldHits, hold } from './sort/sort-memory.ts'

/** Documents read and sent in one batch. */
const HITS_PAGE = 500

/** Progress of an answer. */
export interface HitCursor {
  /** Last hit so far; undefined before the first. */
  last: SearchMatch | undefined
  /** Number of hits so far. */
  hits: number
  /** The state that the answer reads; absent for remote documents. */
  snapshot?: Snapshot
  /** Blocks before this, in answer order, are done. Default: block of `last`, in chain order. */
  edge?: number | undefined
  /** The cursor of each network, where several are searched. */
  each?: readonly HitCursor[]
}

/** Whether two answers have reached the same hit. */
export const isSamePlace = (a: HitCursor | undefined, b: HitCursor | undefined): boolean =>
  a?.last?.kind === b?.last?.kind && a?.last?.position === b?.last?.position

/** Progress of a stream; setting `at` moves the stream there. */
interface StreamProgress {
  at: HitCursor & { snapshot: Snapshot }
  /** Called with a page's last hit before the page is written: others may continue after it. */
  reached?: ((at: HitCursor) => void) | undefined
}

/** All hits of a request, or those after a cursor, page by page. */
export const streamHits = (
  context: SearchContext,
  request: SearchRequest,
  options: SearchControl,
  take: TakeHits,
  after: HitCursor | undefined,
): WrittenPages => {
  const { reader, exact } = context
  const walked = (progress: StreamProgress) => ({
    pages: walk(request, options, context, take, progress),
    at: () => progress.at,
    ...apart(progress),
  })
  /** A page depends on those before it only where keys other than chain order decide. */
  const apart = (progress: StreamProgress) => {
    if (sortKeysOf(request, reader, exact).compare) return {}
    progress.reached = options.reached && (cursor => options.reached!(cursor))
    return {
      goTo(cursor: HitCursor) {
        if (!isSamePlace(cursor, progress.at)) progress.at = cursor as StreamProgress['at']
      },
    }
  }
  const begun = after as StreamProgress['at'] | undefined
  if (begun && isChainOrder(request)) return { total: -1, ...walked({ at: begun }) }
  return reading(
    reader,
    () => {
      const parts = prepareParts(context, request, begun?.snapshot)
      const total = begun ? -1 : countAll(request, parts, reader)
      const isCounted = request.trackTotal === true && !request.after
      const snapshot =
        begun?.snapshot ?? takeSnapshot(reader, isCounted ? Math.max(0, total - request.from) : undefined)
      const progress: StreamProgress = { at: begun ?? { last: undefined, hits: 0, snapshot } }
      const max = maxScore(request, parts, undefined, reader)
      if (isChainOrder(request)) return { total, ...walked(progress), ...max }
      const [gone] = alteredSince(snapshot, request, reader)
      if (gone) throw altered(gone)
      // An order other than the chain's needs all hits before it yields the first.
      const all = { ...request, from: 0, size: Number.POSITIVE_INFINITY }
      const held = hold(findBest(all, parts, context))
      const from = begun?.last ? held.behind(begun.last) : request.from
      const scoring = parts[0]?.scoring
      const marking: TakeHits = found => {
        scoring?.mark(found, request.shown)
        return take(found)
      }
      const pages = pagesOf(held, from, { request, reader, take: marking, progress, version: reader.version() })
      return { total, pages, at: () => progress.at, ...max }
    },
    () => checkDeadline(options),
  )
}

/**
 * Yields the number of hits per page, in chain order. Since the store may change between pages,
 * each page then searches again after the last hit.
 */
function* walk(
  request: SearchRequest,
  options: SearchControl,
  context: SearchContext,
  take: TakeHits,
  progress: StreamProgress,
): Generator<number> {
  const { reader, exact } = context
  const keys = sortKeysOf(request, reader, exact)
  const order = bySortKeys(keys)
  let { last } = progress.at
  /** Hit after which `found` continues. */
  let walked = last
  const spent = { finding: 0, writing: 0 }
  let version: number | undefined
  let parts: SearchPart[] = []
  let segments: Segment[] = []
  let found: Iterator<SearchMatch> = [].values()
  let skip = last ? 0 : request.from
  let { edge } = progress.at

  /** Throws if documents that are still to be read were altered. */
  const checkSnapshot = () => {
    const begin = edge ?? (last && !keys.compare ? blockOf(last.position) : undefined)
    const isToCome = ({ from, to }: Range) => begin === undefined || (keys.descending ? from <= begin : to >= begin)
    const found = alteredSince(progress.at.snapshot, request, reader).find(isToCome)
    if (found) throw altered(found)
  }

  /** The next hits, from as many segments as needed. */
  const next = (): SearchMatch[] => {
    const page: SearchMatch[] = []
    while (page.length < HITS_PAGE) {
      const { value: one, done } = found.next()
      if (!done) {
        if (last ? order(one, last) <= 0 : keys.behind && !keys.behind.has(one)) continue
        if (skip > 0) skip--
        else page.push(one)
        continue
      }
      reader.check()
      const segment = segments.pop()
      if (!segment) break
      if (last ? isPassed(segment, last, keys, reader) : isBefore(segment, keys)) continue
      const together = [segment]
      for (let more = segments.at(-1); more && keys.byTime; more = segments.at(-1)) {
        if (!sharesTime(reader.header(together.at(-1)!), reader.header(more), keys)) break
        together.push(more)
        segments.pop()
      }
      if (keys.compare) edge = further(edge, together)
      found = matchesInOrder(parts, together, keys, context)
    }
    return page
  }

  const further = (before: number | undefined, together: readonly Segment[]): number => {
    const outermost = keys.descending
      ? Math.max(...together.map(({ last }) => last))
      : Math.min(...together.map(({ first }) => first))
    return before === undefined
      ? outermost
      : keys.descending
        ? Math.min(before, outermost)
        : Math.max(before, outermost)
  }

  for (;;) {
    reader.begin(() => checkDeadline(options))
    let hits: number
    let here: StreamProgress['at']
    let isLast: boolean
    try {
      const started = performance.now()
      ;({ last, edge } = progress.at)
      // Another thread may have moved the stream back before hits that this one has passed.
      const isBehind = last !== undefined && walked !== undefined && order(last, walked) < 0
      if (reader.version() !== version || isBehind) {
        version = reader.version()
        checkSnapshot()
        parts = prepareParts(context, request, progress.at.snapshot)
        segments = keys.descending ? [...segmentsOf(parts, reader)] : segmentsOf(parts, reader).toReversed()
        found = [].values()
      }
      const some = next()
      isLast = some.length < HITS_PAGE
      last = some.at(-1) ?? last
      walked = last
      parts[0]?.scoring?.mark(some, request.shown)
      const foundAt = performance.now()
      spent.finding += foundAt - started
      // Another thread repeats the search, which pays only where writing takes most of the time.
      const { at } = progress
      const reached = { ...at, last, hits: at.hits + some.length, edge }
      if (!isLast && spent.writing > 2 * spent.finding) progress.reached?.(reached)
      hits = take(some)
      here = { ...reached, hits: at.hits + hits }
      progress.at = here
      spent.writing += performance.now() - foundAt
    } finally {
      reader.end()
    }
    if (hits > 0) yield hits
    // If another thread set `at` during the page, more is left to read.
    if (isLast && progress.at === here) break
  }
  checkHits(progress.at.hits, progress.at.snapshot.hits)
}

/** Whether all documents of a segment precede a hit. */
const isPassed = (
  segment: Segment,
  { position, keys }: SearchMatch,
  { byTime, descending }: SortKeys,
  reader: StoreReader,
) => {
  if (!byTime) return descending ? segment.first > blockOf(position) : segment.last < blockOf(position)
  const time = keys[0] as number
  const { times } = reader.header(segment)
  return descending ? times[0]! > time : times.at(-1)! < time
}

/** Whether all documents of a segment precede the requested page. */
const isBefore = ({ first, last }: Segment, { behind }: SortKeys): boolean =>
  behind?.blocks !== undefined &&
  [behind.blocks.here, behind.blocks.beyond].every(([from, to]) => last < from || first > to)

/** Matches of neighbouring segments in request order; those of a single kind have it already. */
function* matchesInOrder(
  parts: SearchPart[],
  segments: readonly Segment[],
  keys: SortKeys,
  { reader, limits }: Pick<FindContext, 'reader' | 'limits'>,
): Generator<SearchMatch> {
  const [only, ...others] = parts
  if (only && others.length === 0 && !keys.compare) {
    const segment = segments[0]!
    const header = reader.header(segment)
    const { kind, evaluation } = only
    for (const ordinal of takeOrdinals(evaluation.matches(segment), Number.POSITIVE_INFINITY, keys.descending))
      yield { kind, position: positionOfOrdinal(header, numberedAs(kind), ordinal), keys: NO_SORT_KEYS }
    return
  }
  const found: SearchMatch[] = []
  for (const segment of segments) {
    const header = reader.header(segment)
    for (const { kind, evaluation } of parts) {
      const toFound = matchMaker(kind, header)
      eachOrdinal(evaluation.matches(segment), ordinal => void found.push(toFound(ordinal)))
    }
  }
  if (keys.compare) {
    keys.fill(found)
    createScale(limits).add(found)
  }
  yield* found.sort(bySortKeys(keys))
}

const NO_SORT_KEYS: SearchMatch['keys'] = []

/** Pages of a complete list of hits. */
function* pagesOf(
  held: HeldHits,
  from: number,
  {
    request,
    reader,
    take,
    progress,
    version,
  }: {
    request: SearchRequest
    reader: StoreReader
    take: TakeHits
    progress: StreamProgress
    /** Version of the store that the hits come from. */
    version: number
  },
): Generator<number> {
  let known = version
  for (let at = from; at < held.length; at += HITS_PAGE) {
    const found = held.slice(at, at + HITS_PAGE)
    reader.begin()
    let hits: number
    try {
      if (reader.version() !== known) {
        known = reader.version()
        const gone = alteredSince(progress.at.snapshot, request, reader).find(range => held.isIn(range, at))
        if (gone) throw altered(gone)
      }
      hits = take(found)
    } finally {
      reader.end()
    }
    progress.at = { ...progress.at, last: found.at(-1), hits: progress.at.hits + hits }
    if (hits > 0) yield hits
  }
  checkHits(progress.at.hits, progress.at.snapshot.hits)
}
