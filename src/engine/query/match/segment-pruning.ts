import type { Reader, Segment } from '../../reader.ts'
import { firstEndingFrom, segmentAt } from '../fields/ordinals.ts'

/**
 * The ids of segments outside of which nothing matches; undefined where that is not known without a look at each. A rare
 * term is in few of a hundred segments: the others need not be asked one by one.
 */
export type Where = () => ReadonlySet<number> | undefined

interface Somewhere {
  where?: Where | undefined
}

/** Of what has to match all of some parts. */
export const whereAll = (parts: readonly Somewhere[]): ReadonlySet<number> | undefined => {
  let all: ReadonlySet<number> | undefined
  for (const { where } of parts) {
    const own = where?.()
    if (own) all = all?.intersection(own) ?? own
    if (all?.size === 0) break
  }
  return all
}

/** Of what has to match one of some parts at least. */
export const whereAny = (parts: readonly Somewhere[]): ReadonlySet<number> | undefined => {
  let any: ReadonlySet<number> = NOWHERE
  for (const { where } of parts) {
    const own = where?.()
    if (!own) return undefined
    any = any.size === 0 ? own : any.union(own)
  }
  return any
}

export const NOWHERE: ReadonlySet<number> = new Set()

/** Of documents at certain positions. */
export const whereAt = (positions: readonly number[], reader: Reader): ReadonlySet<number> => {
  const ids = new Set<number>()
  for (const position of positions) {
    const segment = segmentAt(position, reader)
    if (segment) ids.add(segment.id)
  }
  return ids
}

/** Of documents of certain blocks; undefined where these are in most segments. */
export const whereIn = (
  runs: readonly (readonly [number, number])[],
  reader: Reader,
): ReadonlySet<number> | undefined => {
  const segments = reader.segments()
  const ids = new Set<number>()
  for (const [from, to] of runs)
    for (let i = firstEndingFrom(from, segments); i < segments.length && segments[i]!.first <= to; i++) {
      ids.add(segments[i]!.id)
      if (ids.size * FEW > segments.length) return undefined
    }
  return ids
}

/** One in so many segments is few. */
const FEW = 2

/** The segments in which one of some parts may match, in chain order. */
export const segmentsWith = (parts: readonly Somewhere[], reader: Reader): readonly Segment[] => {
  const all = reader.segments()
  const ids = whereAny(parts)
  if (!ids || ids.size * FEW > all.length) return all
  return Array.from(ids, id => reader.segment(id)).sort((a, b) => a.first - b.first)
}

/** The same of what a search finds of several kinds. */
export const segmentsOf = (parts: readonly { evaluation: Somewhere }[], reader: Reader): readonly Segment[] =>
  segmentsWith(
    parts.map(({ evaluation }) => evaluation),
    reader,
  )

/** Those of some segments that are few enough to be looked at one by one. */
export const ifFew = (where: Where | undefined, reader: Reader): ReadonlySet<number> | undefined => {
  const ids = where?.()
  return ids && ids.size * FEW <= reader.segments().length ? ids : undefined
}
