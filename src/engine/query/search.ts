import { asBigint, asJson } from '../../documents/show.ts'
import { retry } from '../../lib/errors.ts'
import type { Limits } from '../../limits/index.ts'
import type { ResumePoint, SearchRequest } from '../../query/request.ts'
import { andNode } from '../../query/simplify.ts'
import { createAggregating } from '../aggs/aggregations.ts'
import { reading, type StoreReader } from '../reader.ts'
import { createHits } from '../show/hits.ts'
import { createDocuments } from './documents.ts'
import { type Ranking, ranker, type TakeHits } from './hits.ts'
import { countAll, createEvaluator, documentTester, terminated } from './match/evaluate.ts'
import type { HitCursor } from './pages.ts'
import { bestFirst, maxScore, withScores } from './scores/scoring.ts'
import type { SearchMatch, SearchPart } from './search-match.ts'
import type { Writing, Written } from './searcher.ts'
import { inSnapshot, reached, resumeFrom, type Snapshot, seenNow, stillThere } from './snapshot.ts'
import { findCollapsed } from './sort/collapse.ts'
import { findBest, matchesIn } from './sort/first-page.ts'
import { sortKeysOf } from './sort/sort.ts'
import { cursorAfter } from './sort/sort-values.ts'

/** Finds and takes the first hits of a request, and its aggregations where it has any. */
export const searchOnce = (
  context: SearchContext,
  asked: SearchRequest,
  options: SearchControl,
  taking: (request: SearchRequest) => TakeHits,
  writing?: Writing,
): Written =>
  reading(
    context.reader,
    () => {
      const { reader } = context
      const request = amongSeen(asked, reader)
      if (typeof request.resume === 'object')
        return searchResumed(context, request, request.resume.point, taking(request))
      const { parts, isEarly } = prepareFirst(context, request)
      const total = countAll(request, parts, reader)
      const ordered = bestFirst(request, parts)
      const found = (request.collapse ? findCollapsed : findBest)(ordered, parts, context)
      const hits = found.slice(request.from)
      parts[0]?.scoring?.mark(hits, request.shown)
      return {
        ...{ total, hits: taking(request)(hits) },
        ...maxScore(request, parts, found, reader),
        ...(isEarly !== undefined && { isEarly }),
        ...(request.aggregations &&
          writing && { aggregations: context.aggregating.text(aggregateOf(request, parts, writing)) }),
        ...(request.seen && cursorAt(context, ordered, hits.at(-1))),
      }
    },
    () => checkDeadline(options),
  )

/** The total counts only hits after the token. */
const searchResumed = (
  context: SearchContext,
  asked: SearchRequest,
  point: ResumePoint | 'now',
  take: TakeHits,
): Written => {
  const { reader, exact } = context
  const { request, reorganisedFrom } = resumeFrom(asked, point, reader)
  const parts = prepareParts(context, request)
  const counted = countAll({ ...request, trackTotal: request.trackTotal !== false }, parts, reader)
  const { behind } = sortKeysOf(request, reader, exact)
  const passed = matchesIn(behind!.blocks!.here, parts, { reader }).filter(match => !behind!.has(match)).length
  const found = findBest(request, parts, context)
  parts[0]?.scoring?.mark(found, request.shown)
  return {
    ...{ total: counted < 0 ? -1 : counted - passed, hits: take(found) },
    ...maxScore(request, parts, found, reader),
    resumed: { point: reached(found, request, reader), reorganisedFrom },
  }
}

const cursorAt = (
  { exact, reader }: SearchContext,
  request: SearchRequest,
  last: SearchMatch | undefined,
): Pick<Written, 'seen' | 'end'> => ({
  end: last && cursorAfter(request, last, { documents: exact, reader }),
  seen: request.seen === 'now' ? seenNow(reader) : request.seen,
})

/** Reuses evaluations of the count. */
const aggregateOf = (
  request: SearchRequest,
  parts: readonly SearchPart[],
  { index, totals, parents, typedKeys = false }: Writing,
) => ({
  ...{ request, index, typedKeys, totals, parents, aggregations: request.aggregations! },
  evaluations: parts.map(({ evaluation }, i) => (request.parts[i]!.postFilter ? undefined : evaluation)),
})

/** The transaction stays open until the ranking closes, so all of it reads one state. */
export const rankOnce = (
  context: SearchContext,
  asked: SearchRequest,
  options: SearchControl,
  write: TakeHits,
  writing: Writing,
): Ranking => {
  const { reader, exact } = context
  reader.begin(() => checkDeadline(options))
  try {
    const { parts, isEarly } = prepareFirst(context, asked)
    const ordered = bestFirst(asked, parts)
    const found = findBest(ordered, parts, context)
    parts[0]?.scoring?.mark(found, asked.shown)
    return {
      total: countAll(asked, parts, reader),
      ranked: found.map(ranker(ordered, context)),
      sort: ordered.sort,
      descending: sortKeysOf(ordered, reader, exact, parts[0]?.scoring).descending,
      ...maxScore(asked, parts, found, reader),
      ...(isEarly !== undefined && { isEarly }),
      write,
      ...(asked.aggregations && { aggregating: context.aggregating.joined(aggregateOf(asked, parts, writing)) }),
      close: reader.end,
    }
  } catch (error) {
    reader.end()
    throw error
  }
}

/** Parts that all searches of one store share. */
export const createSearchContext = (reader: StoreReader, limits: Limits) => {
  const shown = createDocuments(reader, asJson)
  const exact = createDocuments(reader, asBigint)
  const ask = documentTester(exact)
  const evaluation = createEvaluator(reader, exact)
  const hits = createHits({ shown, exact, reader, evaluation, limits })
  const aggregating = createAggregating({ reader, exact, ask, limits, hits })
  return { reader, limits, shown, exact, ask, evaluation, hits, aggregating }
}

export type SearchContext = ReturnType<typeof createSearchContext>

/** The parts of a request, ready to be evaluated, with their scores. */
export const prepareParts = (context: SearchContext, asked: SearchRequest, snapshot?: Snapshot): SearchPart[] => {
  const { reader, evaluation } = context
  const seen = amongSeen(asked, reader)
  const request = snapshot ? inSnapshot(seen, snapshot, reader) : seen
  const parts = request.parts.map(({ kind, query, postFilter }) => ({
    kind,
    evaluation: evaluation(kind, postFilter ? andNode([query, postFilter]) : query, request),
  }))
  return withScores(request, parts, context)
}

/** Like `prepareParts`, for a request that may end early: only the first matches. */
export const prepareFirst = (
  context: SearchContext,
  asked: SearchRequest,
): { parts: SearchPart[]; isEarly?: boolean } => {
  const parts = prepareParts(context, asked)
  const { terminateAfter, minScore: _, ...rest } = asked
  if (terminateAfter === undefined) return { parts }
  const first = terminated(parts, terminateAfter, context.reader)
  // Omitted matches are not scored.
  return { ...first, parts: withScores(rest, first.parts, context) }
}

/** Limits a later page of a cursor to blocks that its first page saw and that still exist. */
export const amongSeen = (request: SearchRequest, reader: StoreReader): SearchRequest => {
  const { seen, within } = request
  return typeof seen !== 'object' || within ? request : { ...request, within: stillThere(seen, reader) }
}

export interface SearchControl {
  /** Time in ms (`performance.now`) after which the search is aborted. */
  deadline: number
  /** Polled; true aborts the search. */
  cancelled?(): boolean
  /** Polled; true aborts the search with `Yielded`, to be repeated later. */
  yields?(): boolean
  /** Called for some pages before they are written: others may continue after this hit. */
  reached?(at: HitCursor): void
}

/** A search gave way to others and must be repeated. */
export class Yielded extends Error {}

/** Throws if a search must be aborted. */
export const checkDeadline = ({ deadline, cancelled, yields }: SearchControl) => {
  if (yields?.()) throw new Yielded('a search made room for others')
  if ((deadline !== Number.POSITIVE_INFINITY && performance.now() > deadline) || cancelled?.())
    throw retry('search_timeout_exception', 'the search passed its deadline: narrow it, or raise query-deadline')
}
