import type { CountedKind } from '../../mapping/index.ts'
import type { Db } from '../../sqlite/database.ts'
import type { SegmentBatch } from '../documents/batch.ts'
import { createColumnStructure } from './columns-structure.ts'
import { createPointStructure } from './points-structure.ts'
import { createPostingStructure, type PostingStructure } from './postings-structure.ts'
import type { Revision } from './redecode-patch.ts'
import type { SegmentRow } from './segments.ts'

/** Number of documents by kind. */
export type Ordinals = Record<CountedKind, number>

/** A segment to merge, in chain order; `offset` is added to its ordinals. */
export interface SegmentPart extends SegmentRow {
  offset: Ordinals
}

/**
 * An index structure as the writer uses it: rows by segment number. Every change of segments is
 * applied to all structures. Rows of an unlisted segment are invisible, so they can be written and
 * deleted incrementally.
 */
export interface IndexStructure {
  /** Sorts and encodes a batch, outside any transaction. The result writes it within one. */
  build(batch: SegmentBatch): (segment: number) => void
  /** The same for the changes of a revision. */
  patch(revision: Revision): () => void
  /** Joins neighbouring segments under a new number; each step is a transaction of some ms. */
  merge(segment: number, run: readonly SegmentPart[]): Generator<void, void>
  /** Copies the first documents of each kind to a new number. The old one is removed later. */
  truncate(from: number, to: number, kept: Ordinals): void
  /** Deletes some rows of a number; returns whether more may be left. */
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
