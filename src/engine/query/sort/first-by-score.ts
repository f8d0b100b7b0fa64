import type { SearchRequest } from '../../../query/request.ts'
import { numberedAs, positionOfOrdinal } from '../fields/ordinals.ts'
import type { Found, Part } from '../found.ts'
import { some } from '../match/ordinal-set.ts'
import { segmentsOf } from '../match/segment-pruning.ts'
import type { Scoring } from '../scores/scoring.ts'
import type { Finding } from './first-page.ts'
import type { SortKeys } from './sort.ts'
import { createBest } from './top-n.ts'

/** Whether the best come first, and of equal ones the newest. */
export const isByScore = ({ sort: [first, ...others] }: Pick<SearchRequest, 'sort'>, { uniform }: Scoring): boolean =>
  uniform === undefined && first?.by === '_score' && first.order === 'desc' && others.length === 0

/** The first hits where matches are known by their scores: of each group so many of the newest as may be among them. */
export const findByScore = (
  wanted: number,
  keys: SortKeys,
  { greatest, groups }: Scoring,
  parts: readonly Part[],
  finding: Finding,
): Found[] => {
  const { reader } = finding
  const best = createBest(wanted, keys, finding)
  /** How many were found so far, by score. */
  const counts = new Map<number, number>()
  const notWorse = (score: number): number => {
    let sum = 0
    for (const [other, count] of counts) if (other >= score) sum += count
    return sum
  }
  for (const segment of segmentsOf(parts, reader).toReversed()) {
    const header = reader.header(segment)
    const here: Found[] = []
    for (const { kind } of parts) {
      reader.check()
      for (const { score: exactly, set } of groups!(kind, segment)) {
        // As hits show it, and as sort keys have it: scores that look the same tie.
        const score = Math.fround(exactly)
        for (const ordinal of some(set, wanted - notWorse(score), true))
          here.push({ kind, position: positionOfOrdinal(header, numberedAs(kind), ordinal), keys: [score], score })
      }
    }
    // Those of the same segment may lie between one another: they count from the next one on.
    for (const { score } of here) counts.set(score!, (counts.get(score!) ?? 0) + 1)
    best.add(here)
    if (notWorse(Math.fround(greatest)) >= wanted) break
  }
  return best.take()
}
