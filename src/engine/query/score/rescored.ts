import type { Rescore, RescoreMode, SearchRequest } from '../../../query/request.ts'
import { type Finding, findBest, type Part } from '../best.ts'
import { numberedAs, ordinalOfPosition, segmentAt } from '../places.ts'
import type { Ask } from '../segment-matcher.ts'
import { listed, toArray } from '../sets.ts'
import type { Found } from '../sort.ts'
import { comparePlaces } from '../sort-places.ts'
import { createScorer, matchesOf, type ScorerOptions } from './scorer.ts'

/** The first `from + size` hits, once the best ones are scored anew. As in Elasticsearch, scores are floats at each step. */
export const findRescored = (request: SearchRequest, parts: Part[], finding: Finding & { ask: Ask }): Found[] => {
  const wanted = request.from + request.size
  const rescores = request.rescores ?? []
  if (wanted === 0) return []
  const size = Math.max(wanted, ...rescores.map(({ window }) => window))
  const found = findBest({ ...request, from: 0, size }, parts, finding)
  parts[0]?.scoring?.mark(found)
  for (const one of found) one.score = Math.fround(one.score ?? 1)
  for (const rescore of rescores) {
    const anew = scoresOf(rescore, found.slice(0, rescore.window), request, finding)
    for (const one of found) one.score = combined(rescore, one.score!, anew.get(one))
    found.sort((a, b) => b.score! - a.score! || comparePlaces(a, b, true))
  }
  return found.slice(0, wanted)
}

/** Of those hits that match the second query. */
const scoresOf = (
  { query }: Rescore,
  found: readonly Found[],
  { within }: SearchRequest,
  { reader, ask, exact }: Finding & { ask: Ask },
): Map<Found, number> => {
  const scores = new Map<Found, number>()
  const bySegment = Map.groupBy(found, ({ kind, position }) => `${kind} ${segmentAt(position, reader)?.id}`)
  for (const [first, ...others] of bySegment.values()) {
    const { kind, position } = first!
    const segment = segmentAt(position, reader)
    const scored = query[kind]
    if (!segment || !scored) continue
    const options: ScorerOptions = { kind, reader, ask, exact, ...(within && { within }) }
    const header = reader.header(segment)
    const byOrdinal = new Map(
      [first!, ...others].map(one => [ordinalOfPosition(header, numberedAs(kind), one.position), one]),
    )
    const ordinals = Uint32Array.from(byOrdinal.keys()).sort()
    const matching = toArray(matchesOf(scored, options)(segment, listed(ordinals)))
    const values = scored.score ? createScorer(scored.score, options).scores(segment, matching) : undefined
    for (const [i, ordinal] of matching.entries()) scores.set(byOrdinal.get(ordinal)!, Math.fround(values?.[i] ?? 0))
  }
  return scores
}

/** A hit's score after a rescore. `anew`: by the second query, where that matches. */
export const combined = (
  { weights: [first, second], mode }: Rescore,
  before: number,
  anew: number | undefined,
): number => {
  const weighted = Math.fround(before * first)
  return anew === undefined ? weighted : Math.fround(COMBINE[mode](weighted, Math.fround(anew * second)))
}

const COMBINE: Record<RescoreMode, (a: number, b: number) => number> = {
  total: (a, b) => a + b,
  multiply: (a, b) => a * b,
  avg: (a, b) => Math.fround(a + b) / 2,
  max: Math.max,
  min: Math.min,
}
