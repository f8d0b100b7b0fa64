import type { Sort } from '../../query/request.ts'
import { MISSING } from '../index/column-codec.ts'
import type { Segment } from '../reader.ts'
import type { Finding, Part } from './best.ts'
import { createScale } from './held.ts'
import { numberedAs, positionOfOrdinal } from './places.ts'
import { each } from './sets.ts'
import { bySortKeys, type Found, type SortKeys } from './sort.ts'
import type { KeyColumn } from './sort-keys.ts'

/** Matches beyond those that are wanted, after which the best are chosen anew. */
const SPARE = 500
/** Matches whose keys are read in one go. */
const CHUNK = 250

/**
 * The best matches by keys that do not follow the chain. Where the first key is a number of a column, a match that is worse than all that are
 * wanted costs one look at it, and a segment that holds only such costs nothing.
 */
export const findByKeys = (wanted: number, keys: SortKeys, parts: readonly Part[], finding: Finding): Found[] => {
  const { reader } = finding
  const best = createBest(wanted, keys, finding)
  for (const segment of reader.segments())
    for (const { kind, evaluation } of parts) {
      reader.check()
      const column = keys.column(kind)
      const score = column && scoreOf(keys.first!)
      if (column && score && leastScore(column, segment, keys.first!, score) > best.limit(score)) continue
      const header = reader.header(segment)
      const numbered = numberedAs(kind)
      const numberAt = column?.in(segment)
      let limit = score ? best.limit(score) : 0
      let here: Found[] = []
      const flush = () => {
        reader.check()
        keys.fill(here, segment)
        best.add(here)
        here = []
        if (score) limit = best.limit(score)
      }
      let seen = 0
      each(evaluation.matches(segment), ordinal => {
        if ((++seen & 0x3fff) === 0) reader.check()
        // Not less is what the column does not tell, too.
        if (numberAt && score!(numberAt(ordinal)) > limit) return
        here.push({ kind, position: positionOfOrdinal(header, numbered, ordinal), keys: [] })
        if (here.length === CHUNK) flush()
      })
      flush()
    }
  return best.take()
}

/** A number that is the less the better a value is. */
type Score = (number: number) => number

const scoreOf = ({ order, missing }: Sort): Score => {
  const ofMissing = missing === '_first' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  return number => (number === MISSING ? ofMissing : order === 'asc' ? number : -number)
}

/** What no match of a segment can be better than. */
const leastScore = (column: KeyColumn, segment: Segment, { order, missing }: Sort, score: Score): number => {
  if (missing === '_first') return Number.NEGATIVE_INFINITY
  const bounds = column.bounds(segment)
  return bounds ? score(order === 'asc' ? bounds.least : bounds.greatest) : Number.POSITIVE_INFINITY
}

const createBest = (wanted: number, keys: SortKeys, { limits }: Finding) => {
  const order = bySortKeys(keys)
  const scale = createScale(limits)
  let best: Found[] = []
  /** The first key of the worst match that is still wanted. */
  let worst: Found | undefined
  return {
    add(found: readonly Found[]) {
      for (const one of found) best.push(one)
      scale.add(found)
      if (best.length <= 4 * wanted + SPARE) return
      best = best.sort(order).slice(0, wanted)
      worst = best.at(-1)
      scale.clear()
      scale.add(best)
    },
    /** A match with a greater score is not wanted. */
    limit(score: Score): number {
      if (!worst) return Number.POSITIVE_INFINITY
      const [key] = worst.keys
      return score(key === null ? MISSING : (key as number))
    },
    take: () => best.sort(order).slice(0, wanted),
  }
}
