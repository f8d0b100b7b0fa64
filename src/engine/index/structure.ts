import type { CountedKind } from '../../mapping/index.ts'
import type { Db } from '../../sqlite/database.ts'
import type { SegmentBatch } from '../documents/batch.ts'
import { createColumnStructure } from './columns-structure.ts'
import { createPointStructure } from './points-structure.ts'
import { createPostingStructure, type PostingStructure } from './postings-structure.ts'
import type { Revision } from './redecode-patch.ts'
import type { SegmentRow } from './segments.ts'

/** How many documents of each kind. */
export type Ordinals = Record<CountedKind, number>

/** One of the segments that are merged, in chain order; `offset` is what its ordinals grow by. */
export interface SegmentPart extends SegmentRow {
  offset: Ordinals
}

/**
 * A structure of the index as the writer sees it. It keeps something of each segment under the segment's number, and whatever is
 * to be done with segments is done with all structures in turn. Nobody reads what is kept under a number that is not listed in
 * `segment`: so it may be written and removed bit by bit.
 */
export interface IndexStructure {
  /** Sorts and encodes a batch, outside any transaction. The function that it returns writes the outcome within one. */
  build(batch: SegmentBatch): (segment: number) => void
  /** The same for what decoding anew changes in the revision's segment. */
  patch(revision: Revision): () => void
  /** Joins neighbouring segments under a new number. A step takes a few milliseconds, and is a transaction of its own. */
  merge(segment: number, run: readonly SegmentPart[]): Generator<void, void>
  /** Keeps of a segment, under a new number, the first documents of each kind. The old one is removed afterwards. */
  truncate(from: number, to: number, kept: Ordinals): void
  /** Removes some of what is kept under a number; whether there may be more. */
  remove(segment: number): boolean
}

export interface Structures {
  /** In the order in which they are written. */
  all: readonly IndexStructure[]
  postings: PostingStructure
}

export const createStructures = (db: Db): Structures => {
  const postings = createPostingStructure(db)
  return { all: [postings, createPointStructure(db), createColumnStructure(db)], postings }
}
