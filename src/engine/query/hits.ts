import type { Document } from '../../documents/document.ts'
import type { ByteWriter } from '../../lib/bytes.ts'
import type { Kind } from '../../mapping/index.ts'
import type { QueryValue } from '../../query/ast.ts'
import type { SearchRequest, SortSpec } from '../../query/request.ts'
import type { JoinedAggregating } from '../aggs/aggregations.ts'
import type { StoreReader } from '../reader.ts'
import { blockOf } from '../schema.ts'
import type { Documents } from './documents.ts'
import { segmentAt } from './fields/ordinals.ts'
import type { HitCursor } from './pages.ts'
import type { SearchMatch } from './search-match.ts'
import { comparedValues, sortValues } from './sort/sort-values.ts'

export interface Hit {
  kind: Kind
  document: Document
  sort: unknown[] | undefined
  /** Undefined if all scores are 1. */
  score?: number | undefined
}

export interface Loading {
  /** Documents as they are answered. */
  shown: Documents
  /** Documents whose integers can be computed with. */
  exact: Documents
  reader: StoreReader
}

interface LoadingAnywhere extends Omit<Loading, 'reader'> {
  /** Undefined if documents contain everything. */
  reader: StoreReader | undefined
}

/** Takes matches as hits and returns their number; documents removed since are left out. */
export type TakeHits = (found: readonly SearchMatch[]) => number

/** Hits as objects. */
export const loadInto =
  (
    hits: Hit[],
    request: Pick<SearchRequest, 'sort' | 'parts' | 'tiebreak'>,
    { shown, exact, reader }: LoadingAnywhere,
  ): TakeHits =>
  found => {
    const sortOf = sortValues(request, { documents: exact, reader })
    const before = hits.length
    for (const one of found) {
      reader?.check()
      const [document] = shown.load(one.kind, [one.position])
      if (document)
        hits.push({ kind: one.kind, document, sort: request.sort.length ? sortOf(one) : undefined, score: one.score })
    }
    return hits.length - before
  }

/** A match with its keys for merging hits of several networks. */
export interface Ranked {
  found: SearchMatch
  /** Sort values; dates as hits show them. */
  values: readonly (QueryValue | null)[]
  /** The time of its block, in seconds. */
  time: number
}
/** The hits of one network, for as long as its transaction is open. */
export interface Ranking {
  total: number
  maxScore?: number
  isEarly?: boolean
  /** The first hits, sorted. */
  ranked: readonly Ranked[]
  /** Their sort; empty for the order of the chain. */
  sort: readonly SortSpec[]
  /** Whether the newest comes first among equal sort values. */
  descending: boolean
  /** Appends hits. */
  write: TakeHits
  aggregating?: JoinedAggregating
  close(): void
}
/** A hit as it is written, by itself. */
export interface WrittenHit extends Ranked {
  bytes: Uint8Array
}
export interface PiecePages {
  total: number
  maxScore?: number
  pages: Iterable<WrittenHit[]>
  at(): HitCursor | undefined
}
export const ranker = (
  request: Pick<SearchRequest, 'sort' | 'parts' | 'tiebreak'>,
  { reader, exact }: { reader: StoreReader; exact: Documents },
): ((found: SearchMatch) => Ranked) => {
  const valuesOf = comparedValues(request, { documents: exact, reader })
  return found => {
    reader.check()
    return { found, values: valuesOf(found), time: timeAt(found.position, reader) }
  }
}
const timeAt = (position: number, reader: StoreReader): number => {
  const segment = segmentAt(position, reader)
  return segment ? reader.header(segment).times[blockOf(position) - segment.first]! : 0
}
/** Takes hits one by one into a list. */
export const takePieces =
  (pieces: WrittenHit[], write: TakeHits, out: ByteWriter, rank: (found: SearchMatch) => Ranked): TakeHits =>
  found => {
    const before = pieces.length
    for (const one of found) {
      out.clear()
      if (write([one]) > 0) pieces.push({ ...rank(one), bytes: out.take() })
    }
    return pieces.length - before
  }
