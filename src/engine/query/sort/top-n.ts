import type { Kind } from '../../../mapping/index.ts'
import type { SearchRequest, SortSpec } from '../../../query/request.ts'
import type { Segment } from '../../reader.ts'
import { INEXACT } from '../fields/field-values.ts'
import { numberedAs, positionOfOrdinal } from '../fields/ordinals.ts'
import { scan } from '../match/column-scan.ts'
import { and, complement, listed, type OrdinalSet, run, takeOrdinals, toArray } from '../match/ordinal-set.ts'
import { segmentsOf } from '../match/segment-matcher.ts'
import type { SearchScoring } from '../scores/scoring.ts'
import { matchMaker, type SearchMatch, type SearchPart } from '../search-match.ts'
import type { FindContext } from './first-page.ts'
import { bySortKeys, type SortKeys } from './sort.ts'
import type { KeyColumn } from './sort-keys.ts'
import { createScale } from './sort-memory.ts'

/** Matches collected beyond the wanted number before the best are selected again. */
const SPARE_MATCHES = 250
/** Matches whose keys are read in one batch. */
const TOP_CHUNK = 125
/** Documents scanned with the same bound before the worst match so far updates it. */
const TOP_STRETCH = 2 ** 13

/**
 * The best matches by keys that do not follow the chain. With a numeric column as first key,
 * a match worse than all wanted ones costs one comparison, and a segment of such costs none.
 */
export const findByKeys = (
  wanted: number,
  keys: SortKeys,
  parts: readonly SearchPart[],
  finding: FindContext,
): SearchMatch[] => {
  const { reader } = finding
  const best = createTopMatches(wanted, keys, finding)
  // Ties keep this order of segments and documents.
  const isOrdered = keys.single && parts.length === 1
  const goodOf = (column: KeyColumn) => stillGood(best.worst(), keys.first!, column, isOrdered)
  const segments = segmentsOf(parts, reader)
  for (const segment of keys.descending ? segments.toReversed() : segments)
    for (const { kind, evaluation } of parts) {
      reader.check()
      const column = keys.first?.missing === '_last' ? keys.column(kind) : undefined
      if (column && isWorse(column, segment, goodOf(column))) continue
      const toFound = matchMaker(kind, reader.header(segment))
      const take = (ordinals: Uint32Array) => {
        for (let at = 0; at < ordinals.length; at += TOP_CHUNK) {
          reader.check()
          const here = Array.from(ordinals.subarray(at, at + TOP_CHUNK), toFound)
          keys.fill(here, segment)
          best.add(keys.behind ? here.filter(keys.behind.has) : here)
        }
      }
      const all = evaluation.matches(segment)
      const passed = column && passedBy(keys, kind, column)
      const matches = column && passed ? notPassed(column, segment, all, passed, reader.check) : all
      for (const some of column ? stretchesOf(matches, keys.descending) : [matches])
        take(toArray(column ? stillPromising(column, segment, some, goodOf(column), reader.check) : some))
    }
  return best.take()
}

/** Keys in a closed range. */
interface KeyRange {
  low: number
  high: number
}

/** Keys that may still be among the best; undefined: all. Missing keys precede only others. */
const stillGood = (
  worst: SearchMatch | undefined,
  { order }: SortSpec,
  { greatest, fractions }: KeyColumn,
  isOrdered: boolean,
): KeyRange | undefined => {
  const key = worst?.keys[0]
  if (typeof key !== 'number') return undefined
  const step = !isOrdered ? 0 : fractions ? key * Number.EPSILON : key < INEXACT ? 1 : 0
  return order === 'asc' ? { low: 0, high: key - step } : { low: key + step, high: greatest }
}

/** Keys that precede the cursor's first key. */
const passedBy = (
  { behind, first }: SortKeys,
  kind: Kind,
  { greatest, fractions }: KeyColumn,
): KeyRange | undefined => {
  const key = behind?.keyOf(kind)
  // Any value precedes a missing key.
  if (typeof key !== 'number' || key >= INEXACT) return undefined
  const step = fractions ? 2 * key * Number.EPSILON : 1
  // The greatest number may be a key or not.
  return first!.order === 'asc' ? { low: 0, high: key - step } : { low: key + step, high: nextBelow(greatest) }
}

/** The next smaller double. */
const nextBelow = (number: number): number => (Number.isFinite(number) ? number * (1 - Number.EPSILON) : number)

/** Matches that do not precede the cursor. */
const notPassed = (
  column: KeyColumn,
  segment: Segment,
  matches: OrdinalSet,
  passed: KeyRange,
  check: () => void,
): OrdinalSet => {
  const data = column.data(segment)
  if (!data?.values) return matches
  const { found } = scan(data, passed, matches, check)
  const size = data.values.length
  return and(matches, complement(found, size), size)
}

/** Whether all of a segment sorts after the worst wanted match. */
const isWorse = (column: KeyColumn, segment: Segment, good: KeyRange | undefined): boolean => {
  if (!good) return false
  const bounds = column.bounds(segment)
  return !bounds || bounds.least > good.high || bounds.greatest < good.low
}

/** Matches that may still be among the best. */
const stillPromising = (
  column: KeyColumn,
  segment: Segment,
  some: OrdinalSet,
  good: KeyRange | undefined,
  check: () => void,
): OrdinalSet => {
  const data = good && column.data(segment)
  return good && data ? scan(data, good, some, check).found : some
}

/** Parts of a set, in either order. */
function* stretchesOf(set: OrdinalSet, descending: boolean): Generator<OrdinalSet> {
  const list = set.form === 'run' ? undefined : toArray(set)
  const [start, end] = set.form === 'run' ? [set.from, set.to] : [0, list!.length]
  const stretches = Math.ceil((end - start) / TOP_STRETCH)
  for (let i = 0; i < stretches; i++) {
    const from = start + (descending ? stretches - 1 - i : i) * TOP_STRETCH
    const to = Math.min(from + TOP_STRETCH, end)
    yield list ? listed(list.subarray(from, to)) : run(from, to)
  }
}

export const createTopMatches = (wanted: number, keys: SortKeys, { limits }: FindContext) => {
  const order = bySortKeys(keys)
  const scale = createScale(limits)
  let best: SearchMatch[] = []
  let worst: SearchMatch | undefined
  return {
    add(found: readonly SearchMatch[]) {
      for (const one of found) best.push(one)
      if (best.length <= 4 * wanted + SPARE_MATCHES) return scale.add(found)
      best = best.sort(order).slice(0, wanted)
      worst = best.at(-1)
      scale.clear()
      scale.add(best)
    },
    /** The worst wanted match, once enough were found. */
    worst: () => worst,
    take: () => best.sort(order).slice(0, wanted),
  }
}

/** Whether hits sort by score descending, then newest first. */
export const isByScore = (
  { sort: [first, ...others] }: Pick<SearchRequest, 'sort'>,
  { uniform }: SearchScoring,
): boolean => uniform === undefined && first?.by === '_score' && first.order === 'desc' && others.length === 0
/** First hits from score groups: takes as many of each group's newest as may be among them. */
export const findByScore = (
  wanted: number,
  keys: SortKeys,
  { greatest, groups }: SearchScoring,
  parts: readonly SearchPart[],
  finding: FindContext,
): SearchMatch[] => {
  const { reader } = finding
  const best = createTopMatches(wanted, keys, finding)
  /** Number of matches so far, by score. */
  const counts = new Map<number, number>()
  const notWorse = (score: number): number => {
    let sum = 0
    for (const [other, count] of counts) if (other >= score) sum += count
    return sum
  }
  for (const segment of segmentsOf(parts, reader).toReversed()) {
    const header = reader.header(segment)
    const here: SearchMatch[] = []
    for (const { kind } of parts) {
      reader.check()
      for (const { score: exactly, set } of groups!(kind, segment)) {
        // Single precision as in hits and sort keys, so scores that are shown equal are ties.
        const score = Math.fround(exactly)
        for (const ordinal of takeOrdinals(set, wanted - notWorse(score), true))
          here.push({ kind, position: positionOfOrdinal(header, numberedAs(kind), ordinal), keys: [score], score })
      }
    }
    // Matches of one segment may interleave, so they count only from the next segment on.
    for (const { score } of here) counts.set(score!, (counts.get(score!) ?? 0) + 1)
    best.add(here)
    if (notWorse(Math.fround(greatest)) >= wanted) break
  }
  return best.take()
}
