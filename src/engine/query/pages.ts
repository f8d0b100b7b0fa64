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

/** Documents that are read, and sent, in one go. */
const HITS_PAGE = 500

/** How far an answer has come. */
export interface HitCursor {
  /** Its last hit; undefined where it has none yet. */
  last: SearchMatch | undefined
  /** How many it has. */
  hits: number
  /** What it is of; absent where documents are remote. */
  snapshot?: Snapshot
  /** Blocks before this one, in the direction of the answer, have nothing more to show. Absent: that of the last hit, where these come block by block. */
  edge?: number | undefined
  /** The cursor of each network, where several are searched. */
  each?: readonly HitCursor[]
}

/** Whether two answers have come to the same hit. */
export const isSamePlace = (a: HitCursor | undefined, b: HitCursor | undefined): boolean =>
  a?.last?.kind === b?.last?.kind && a?.last?.position === b?.last?.position

/** How far an answer has come. Who sets it goes on elsewhere. */
interface StreamProgress {
  at: HitCursor & { snapshot: Snapshot }
  /** Told the last hit of a page before the page is written, where others may go on behind it at the same time. */
  reached?: ((at: HitCursor) => void) | undefined
}

/** All hits of a request, or those behind a cursor, page by page. */
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
  /** Where no other keys refine the chain's order, a page can be made without those before it. */
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
      // Another order than the chain's has to be known whole before the first hit.
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
 * All hits in chain order, taken page by page: it yields how many a page has. Between two pages the store may change, segments may be merged and blocks replaced: what comes behind the last
 * hit is then looked up anew.
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
  /** Behind which hit `found` goes on. */
  let walked = last
  const spent = { finding: 0, writing: 0 }
  let version: number | undefined
  let parts: SearchPart[] = []
  let segments: Segment[] = []
  let found: Iterator<SearchMatch> = [].values()
  let skip = last ? 0 : request.from
  let { edge } = progress.at

  /** Refuses to go on where what is still to be read is not what it was. */
  const checkSnapshot = () => {
    const begin = edge ?? (last && !keys.compare ? blockOf(last.position) : undefined)
    const isToCome = ({ from, to }: Range) => begin === undefined || (keys.descending ? from <= begin : to >= begin)
    const found = alteredSince(progress.at.snapshot, request, reader).find(isToCome)
    if (found) throw altered(found)
  }

  /** The next hits, of as many segments as it takes. */
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
      // Hits that another thread has passed are found again.
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
      // A helping thread finds all hits again: that pays only where most of the time goes into writing.
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
    // Who set it meanwhile has more to read.
    if (isLast && progress.at === here) break
  }
  checkHits(progress.at.hits, progress.at.snapshot.hits)
}

/** Whether all that a segment holds comes before a hit. */
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

/** Whether all that a segment holds comes before what is asked for. */
const isBefore = ({ first, last }: Segment, { behind }: SortKeys): boolean =>
  behind?.blocks !== undefined &&
  [behind.blocks.here, behind.blocks.beyond].every(([from, to]) => last < from || first > to)

/** The matches of neighbouring segments in the order that is asked for. Of one kind they are ordered as they are. */
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

/** Hits that are all known, page by page. */
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
    /** The version of the store in which they were found. */
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
