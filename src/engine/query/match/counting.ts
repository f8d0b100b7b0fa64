import type { SearchRequest } from '../../../query/request.ts'
import type { Segment, StoreReader } from '../../reader.ts'
import type { SearchPart } from '../search-match.ts'
import { count, EMPTY_SET, listed, type OrdinalSet, takeOrdinals } from './ordinal-set.ts'
import { segmentsOf } from './segment-matcher.ts'

/** The first matches of each part in chain order, and whether there are more. */
export const terminated = (
  parts: readonly SearchPart[],
  most: number,
  reader: StoreReader,
): { parts: SearchPart[]; isEarly: boolean } => {
  let isEarly = false
  const first = parts.map((part): SearchPart => {
    const { evaluation } = part
    const kept = new Map<number, OrdinalSet>()
    let left = most
    for (const segment of segmentsOf([part], reader)) {
      reader.check()
      const matches = evaluation.matches(segment)
      const found = count(matches)
      if (found > left) isEarly = true
      if (left > 0 && found > 0) kept.set(segment.id, found <= left ? matches : listed(firstOrdinals(matches, left)))
      left -= Math.min(left, found)
      if (isEarly && left === 0) break
    }
    const matches = (segment: Segment) => kept.get(segment.id) ?? EMPTY_SET
    return {
      kind: part.kind,
      evaluation: { matches, count: segment => count(matches(segment)), where: evaluation.where },
    }
  })
  return { parts: first, isEarly }
}

const firstOrdinals = (set: OrdinalSet, most: number): Uint32Array => Uint32Array.from(takeOrdinals(set, most, false))

/** How many documents match, as far as that is asked for; -1 where it is not. */
export const countAll = (
  { trackTotal }: Pick<SearchRequest, 'trackTotal'>,
  parts: SearchPart[],
  reader: StoreReader,
): number => {
  if (trackTotal === false) return -1
  const most = trackTotal === true ? Number.POSITIVE_INFINITY : trackTotal
  let total = 0
  for (const segment of segmentsOf(parts, reader)) {
    reader.check()
    for (const { evaluation } of parts) total += evaluation.count(segment)
    if (total >= most) return most
  }
  return total
}
