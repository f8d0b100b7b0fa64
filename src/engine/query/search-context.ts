import { asBigint, asJson } from '../../documents/show.ts'
import type { Limits } from '../../limits/index.ts'
import type { SearchRequest } from '../../query/request.ts'
import { and } from '../../query/simplify.ts'
import { createAggregating } from '../aggs/aggregations.ts'
import type { Reader } from '../reader.ts'
import { createHits } from '../show/hits.ts'
import { stillThere } from './chain-snapshot.ts'
import { createDocuments } from './documents.ts'
import type { Part } from './found.ts'
import { terminated } from './match/counting.ts'
import { asking, createEvaluator } from './match/evaluate.ts'
import { withScores } from './scores/scoring.ts'
import { inSnapshot, type Snapshot } from './snapshot.ts'

/** What the searches of one store share. */
export const createSearchContext = (reader: Reader, limits: Limits) => {
  const shown = createDocuments(reader, asJson)
  const exact = createDocuments(reader, asBigint)
  const ask = asking(exact)
  const evaluation = createEvaluator(reader, exact)
  const hits = createHits({ shown, exact, reader, evaluation, limits })
  const aggregating = createAggregating({ reader, exact, ask, limits, hits })
  return { reader, limits, shown, exact, ask, evaluation, hits, aggregating }
}

export type SearchContext = ReturnType<typeof createSearchContext>

/** The parts of a request, ready to be evaluated, with their scores. */
export const prepareParts = (context: SearchContext, asked: SearchRequest, snapshot?: Snapshot): Part[] => {
  const { reader, evaluation } = context
  const seen = amongSeen(asked, reader)
  const request = snapshot ? inSnapshot(seen, snapshot, reader) : seen
  const parts = request.parts.map(({ kind, query, postFilter }) => ({
    kind,
    evaluation: evaluation(kind, postFilter ? and([query, postFilter]) : query, request),
  }))
  return withScores(request, parts, context)
}

/** The same of a request that may end early: the first matches alone. */
export const prepareFirst = (context: SearchContext, asked: SearchRequest): { parts: Part[]; isEarly?: boolean } => {
  const parts = prepareParts(context, asked)
  const { terminateAfter, minScore: _, ...rest } = asked
  if (terminateAfter === undefined) return { parts }
  const first = terminated(parts, terminateAfter, context.reader)
  // Scores of what is left out are not looked at.
  return { ...first, parts: withScores(rest, first.parts, context) }
}

/** What was reorganised away since, and what came since, is left out. */
export const amongSeen = (request: SearchRequest, reader: Reader): SearchRequest => {
  const { seen, within } = request
  return typeof seen !== 'object' || within ? request : { ...request, within: stillThere(seen, reader) }
}
