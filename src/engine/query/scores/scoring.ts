import type { Kind } from '../../../mapping/index.ts'
import type { HitOptions, RequestPart, SearchRequest, SortSpec } from '../../../query/request.ts'
import { asFloat } from '../../../query/statistics.ts'
import type { Segment, StoreReader } from '../../reader.ts'
import { numberedAs, ordinalCount, ordinalOfPosition, segmentAt, viewOf } from '../fields/ordinals.ts'
import type { Evaluation } from '../match/evaluate.ts'
import { count, EMPTY_SET, listed, or, toArray } from '../match/ordinal-set.ts'
import { segmentsOf } from '../match/segment-matcher.ts'
import type { SearchMatch, SearchPart } from '../search-match.ts'
import { type ScoreGroup, type Scorer, spread } from './fold.ts'
import { createExplainer, createScorer, type Explain, type ScorerOptions } from './scorer.ts'
/** Scores of all matches of a search. */
export type SearchScoring = ReturnType<typeof createScoring>

/** Adds scores to the parts of a search unless all are 1, and drops matches below `minScore`. */
export const withScores = (
  { parts: asked, minScore, within }: SearchRequest,
  parts: SearchPart[],
  given: Omit<ScorerOptions, 'kind' | 'within'>,
): SearchPart[] => {
  // Statistics of the first page's blocks: later blocks must not shift scores between pages.
  const options = { ...given, ...(within && { within }) }
  if (asked.every(({ score }) => score === undefined) && minScore === undefined) return parts
  const scorers = new Map(asked.map(({ kind, score = SCORE_ONE }) => [kind, createScorer(score, { ...options, kind })]))
  const explain = explainerOf(asked, options)
  const scoring = createScoring({ scorers, explain }, parts, minScore, options.reader)
  return parts.map(part => ({
    ...{ kind: part.kind, scoring },
    evaluation: minScore === undefined ? part.evaluation : atLeastScore(part, minScore, scoring, options.reader),
  }))
}

const SCORE_ONE = { by: 'same', value: 1 } as const

/** Created only for kinds with a hit to explain. */
const explainerOf = (asked: readonly RequestPart[], options: Omit<ScorerOptions, 'kind'>) => {
  const made = new Map<Kind, Explain>()
  return (kind: Kind): Explain => {
    let explain = made.get(kind)
    if (!explain) {
      const { query: node, score = SCORE_ONE } = asked.find(part => part.kind === kind)!
      explain = createExplainer({ node, score }, { ...options, kind })
      made.set(kind, explain)
    }
    return explain
  }
}

const createScoring = (
  { scorers, explain }: { scorers: ReadonlyMap<Kind, Scorer>; explain(kind: Kind): Explain },
  parts: readonly SearchPart[],
  least: number | undefined,
  reader: StoreReader,
) => {
  const [first, ...others] = [...scorers.values()].map(({ uniform }) => uniform)
  const uniform = others.every(other => other === first) ? first : undefined
  const evaluations = new Map(parts.map(({ kind, evaluation }) => [kind, evaluation]))
  /** Scores of each kind in the last segment that was read. */
  const last = new Map<Kind, { segment: number; scores: Float64Array }>()

  const scoresOf = (kind: Kind, segment: Segment): Float64Array => {
    const scorer = scorers.get(kind)!
    const size = ordinalCount({ segment, header: reader.header(segment) }, numberedAs(kind))
    const matches = evaluations.get(kind)!.matches(segment)
    if (scorer.groups) return spread(scorer.groups(segment, matches), size)
    const all = new Float64Array(size)
    const ordinals = toArray(matches)
    const scores = scorer.scores(segment, ordinals)
    // Single precision, as shown: the next page continues after the shown score.
    for (let i = 0; i < ordinals.length; i++) all[ordinals[i]!] = Math.fround(scores[i]!)
    return all
  }
  const groups = (kind: Kind, segment: Segment): readonly ScoreGroup[] => {
    const found = scorers.get(kind)!.groups!(segment, evaluations.get(kind)!.matches(segment))
    return least === undefined ? found : found.filter(({ score }) => Math.fround(score) >= least)
  }

  return {
    /** The score of all hits, if they are equal. */
    uniform,
    /** Upper bound of all scores, where there are groups. */
    greatest: Math.max(...Array.from(scorers.values(), ({ greatest }) => greatest)),
    /** A segment's matches of one kind, grouped by score, without those below the minimum. */
    groups: [...scorers.values()].every(({ groups }) => groups) ? groups : undefined,
    /** Scores of one kind's matches in a segment, by ordinal. */
    in(kind: Kind, segment: Segment): Float64Array {
      const known = last.get(kind)
      if (known?.segment === segment.id) return known.scores
      const scores = scoresOf(kind, segment)
      last.set(kind, { segment: segment.id, scores })
      return scores
    },
    /** Sets the scores of hits, and on request their explanations. */
    mark(found: readonly SearchMatch[], shown?: Pick<HitOptions, 'explain'>): void {
      const isExplained = shown?.explain === true
      if (uniform !== undefined) {
        for (const one of found) one.score = uniform
        if (!isExplained) return
      }
      const unknown = found.filter(({ score }) => score === undefined || isExplained)
      for (const { kind, segment, ones } of bySegment(unknown, reader)) {
        const header = reader.header(segment)
        const placed = ones
          .map(one => ({ one, ordinal: ordinalOfPosition(header, numberedAs(kind), one.position) }))
          .sort((a, b) => a.ordinal - b.ordinal)
        const ordinals = Uint32Array.from(placed, ({ ordinal }) => ordinal)
        const scores = scorers.get(kind)!.scores(segment, ordinals)
        for (const [i, { one, ordinal }] of placed.entries()) {
          one.score ??= scores[i]!
          if (isExplained) one.explanation = { ...explain(kind)(segment, ordinal), value: asFloat(one.score) }
        }
      }
    },
  }
}

interface SegmentHits {
  kind: Kind
  segment: Segment
  ones: SearchMatch[]
}

/** Hits of one kind in one segment, except those removed in between. */
const bySegment = (found: readonly SearchMatch[], reader: StoreReader): Iterable<SegmentHits> => {
  const groups = new Map<string, SegmentHits>()
  for (const one of found) {
    const segment = segmentAt(one.position, reader)
    if (!segment) continue
    const key = `${one.kind} ${segment.id}`
    const group = groups.get(key)
    if (group) group.ones.push(one)
    else groups.set(key, { kind: one.kind, segment, ones: [one] })
  }
  return groups.values()
}

const atLeastScore = (
  { kind, evaluation }: SearchPart,
  least: number,
  scoring: SearchScoring,
  reader: StoreReader,
): Evaluation => {
  const { uniform } = scoring
  if (uniform !== undefined) return uniform >= least ? evaluation : { matches: () => EMPTY_SET, count: () => 0 }
  const matches = (segment: Segment) => {
    if (scoring.groups) {
      const { size } = viewOf(segment, numberedAs(kind), reader)
      const sets = scoring.groups(kind, segment).map(({ set }) => set)
      return or(sets, size)
    }
    const scores = scoring.in(kind, segment)
    return listed(toArray(evaluation.matches(segment)).filter(ordinal => Math.fround(scores[ordinal]!) >= least))
  }
  return { matches, count: segment => count(matches(segment)), where: evaluation.where }
}

/** Without a sort order, hits of differing scores are sorted by score, others newest first. */
export const bestFirst = (request: SearchRequest, parts: readonly SearchPart[]): SearchRequest => {
  const scoring = parts[0]?.scoring
  const isOrdered = request.sort.length > 0 || !scoring || scoring.uniform !== undefined
  // A scroll whose pages so far had equal scores.
  const isBegun = request.after?.values.length === 0
  return isOrdered || isBegun ? request : { ...request, sort: BEST_FIRST }
}

export const BEST_FIRST: SortSpec[] = [{ by: '_score', fields: {}, order: 'desc', missing: '_last' }]

/** Greatest score of all matches, if shown and not all 1. `found`: the first hits, if available. */
export const maxScore = (
  { sort, trackScores }: SearchRequest,
  parts: readonly SearchPart[],
  found: readonly SearchMatch[] | undefined,
  reader: StoreReader,
): { maxScore?: number } => {
  const scoring = parts[0]?.scoring
  if (!scoring || found?.length === 0) return {}
  if (sort.length > 0 && !trackScores && !sort.some(({ by }) => by === '_score')) return {}
  if (scoring.uniform !== undefined) return { maxScore: scoring.uniform }
  const best = found?.[0]?.keys[0]
  if (sort.length === 0 && typeof best === 'number') return { maxScore: best }
  let greatest = 0
  for (const segment of segmentsOf(parts, reader))
    for (const { kind, evaluation } of parts) {
      reader.check()
      if (count(evaluation.matches(segment)) === 0) continue
      const scores = scoring.groups?.(kind, segment).map(({ score }) => score) ?? scoring.in(kind, segment)
      for (const score of scores) if (score > greatest) greatest = score
    }
  return { maxScore: greatest }
}
