import type { Kind } from '../../mapping/index.ts'
import type { Place, ResumePoint, SearchRequest } from '../../query/request.ts'
import type { Reader } from '../reader.ts'
import { blockOf, positionOf } from '../schema.ts'
import { marksOf, newestSame } from './chain-snapshot.ts'
import type { Found } from './found.ts'

/** Where a reader goes on that has read all up to a point. */
export interface Resumed {
  /** The request for what comes behind, in the order of the chain. */
  request: SearchRequest
  /** The first block that is another one than the reader has seen; undefined where all are the same. */
  reorganisedFrom: number | undefined
}

/** The request is sorted in the order of the chain. `newest`: the newest block whose documents are found. */
export const resumeFrom = (
  asked: SearchRequest,
  point: ResumePoint | 'now',
  reader: Reader,
  newest = newestOf(reader),
): Resumed => {
  const kind = asked.parts.at(-1)!.kind
  const end = (block: number): Place => ({ kind, position: positionOf(block + 1, 0) - 1 })
  const at = point === 'now' ? { place: end(newest), top: newest } : { place: point.place, top: topOf(point, reader) }
  const isSame = blockOf(at.place.position) <= at.top
  const place = isSame ? at.place : end(at.top)
  return {
    request: {
      ...asked,
      after: { values: [BigInt(place.position)], place },
      within: [[Math.max(0, blockOf(place.position)), Number.POSITIVE_INFINITY]],
    },
    reorganisedFrom: isSame ? undefined : at.top + 1,
  }
}

/** The newest block up to which all is as it was when the point was told. */
const topOf = ({ place, marks }: ResumePoint, reader: Reader): number => {
  const block = blockOf(place.position)
  // Before the first block nothing can change.
  return marks.length === 0 ? Math.min(block, -1) : newestSame(marks, reader)
}

/** How far a reader has come with these hits: behind the last of them, or with all that is stored where there are no more. */
export const reached = (
  found: readonly Found[],
  { size, parts, after }: SearchRequest,
  reader: Reader,
  newest = newestOf(reader),
): ResumePoint => {
  const last = found.length === size ? (found.at(-1) ?? after!.place!) : undefined
  const kind: Kind = parts.at(-1)!.kind
  const place: Place = last
    ? { kind: last.kind, position: last.position }
    : { kind, position: positionOf(newest + 1, 0) - 1 }
  return { place, marks: marksOf(blockOf(place.position), reader) }
}

const newestOf = (reader: Reader): number => reader.segments().at(-1)?.last ?? -1
