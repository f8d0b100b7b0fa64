import type Database from 'better-sqlite3'
import { memoize } from '../lib/caches.ts'
import { createHash } from '../lib/hash.ts'
import { mergeRanges, type Range } from '../lib/ranges.ts'
import { byKind, ROW_KINDS, type RowKind } from '../mapping/index.ts'
import { requirePresent } from '../sqlite/damage.ts'
import type { Db } from '../sqlite/database.ts'
import { hashKeys } from './blocks.ts'
import { createDictionaryReader } from './dictionary-reader.ts'
import { createRecordReader } from './documents/record-reader.ts'
import { createColumnCache, readAddressColumn } from './index/column-cache.ts'
import { createPointsCache } from './index/points-cache.ts'
import { createPostingsReader, type Posting } from './index/postings-reader.ts'
import { decodeSegmentHeader, type SegmentHeader } from './index/segment.ts'
import { documentCount, SEGMENT_COUNTS, type SegmentCounts } from './index/segments.ts'
import { openForReading } from './open.ts'
import { PLACES_PER_BLOCK, positionOf } from './schema.ts'

export type { StoredSignature } from './dictionary-reader.ts'
export type { Posting } from './index/postings-reader.ts'

/** A segment's row, without its header. */
export interface Segment extends SegmentCounts {
  id: number
  /** Incremented whenever documents of the segment are decoded again. */
  revised: number
}

/** Ranges of blocks that are stored completely. */
export const wholeRanges = (segments: readonly Segment[]): Range[] =>
  mergeRanges(segments.flatMap(({ first, last, scoped }) => (scoped ? [] : [{ from: first, to: last }])))

/** A header with positions that may change while the segment stays. */
export interface ReadHeader extends SegmentHeader {
  /** Positions of the segment's documents of that kind, ascending. */
  positions(kind: RowKind): Float64Array
}

/** Reads one network's store. Calls between `begin` and `end` see one state of it. */
export type StoreReader = ReturnType<typeof createStoreReader>

/** `waitMs`: how long to wait for locks of other connections; a few seconds by default. */
export const openReader = (path: string, native?: string, waitMs?: number, kept?: KeptShare): StoreReader => {
  return createStoreReader(
    openForReading(path, native, waitMs),
    kept ?? createKeptMemory(DEFAULT_KEPT).store(path),
    true,
  )
}

/** Opens a store to read documents by position only. Skipping segments makes new states cheap. */
export const openDocuments = (path: string, native?: string): StoreReader =>
  createStoreReader(openForReading(path, native), createKeptMemory(DEFAULT_KEPT).store(path), false)

const createStoreReader = (db: Db, kept: KeptShare, hasSegments: boolean) => {
  const begin = db.prepare('BEGIN')
  const end = db.prepare('END')
  const version = db.prepare('PRAGMA data_version').pluck()
  const selectSegments = db.prepare(`SELECT ${SEGMENT_COUNTS}, revised FROM segment ORDER BY first`)
  const selectHeader = db.prepare('SELECT blocks FROM segment WHERE id = ?').pluck()
  const postings = createPostingsReader(db)
  const selectPositions = byKind(ROW_KINDS, kind =>
    db.prepare(`SELECT pos FROM "${kind}" WHERE pos BETWEEN ? AND ? ORDER BY pos`).pluck(),
  )
  const columns = createColumnCache(db, {
    capacity: kept.columns,
    ofArgument(id, argument) {
      checking()
      const size = documentCount(segmentsById.get(id)!, argument.of)
      const ofSignature = (signature: number) => dictionaries.signature(signature).of
      return readAddressColumn({ postings, segment: { id, size }, argument, ofSignature })
    },
  })
  const points = createPointsCache(db, kept.points)
  const nothing = () => {}
  let checking = nothing
  let seen: unknown
  let segments: Segment[] = []
  let segmentsById = new Map<number, Segment>()
  let headers = new Map<number, ReadHeader>()
  const { loadSignatures, ...dictionaries } = createDictionaryReader(db, () => seen)

  /** Calls of `begin` without their `end` yet. */
  let depth = 0
  const enter = () => {
    begin.run()
    try {
      // The first read fixes the transaction's state, and detects whether that changed.
      const now = version.get()
      if (now === seen) return
      load()
      seen = now
    } catch (error) {
      end.run()
      throw error
    }
  }

  const load = () => {
    segments = hasSegments ? (selectSegments.all() as Segment[]) : []
    segmentsById = new Map(segments.map(segment => [segment.id, segment]))
    const left = new Map<number, ReadHeader>()
    for (const { id } of segments) {
      const header = headers.get(id)
      if (header) left.set(id, header)
    }
    headers = left
    columns.keep(segments)
    points.keep(segments)
    postings.keep(segments)
    loadSignatures()
  }

  /** Tokens move to lower blocks as these are indexed, so positions are cached per state. */
  const createPositions = ({ first, last }: Segment): ReadHeader['positions'] => {
    const known: Partial<Record<RowKind, { positions: Float64Array; version: unknown }>> = {}
    return kind => {
      let found = known[kind]
      if (!found || found.version !== seen) {
        const rows = selectPositions[kind].all(positionOf(first, 0), positionOf(last, PLACES_PER_BLOCK - 1)) as number[]
        found = { positions: Float64Array.from(rows), version: seen }
        known[kind] = found
      }
      return found.positions
    }
  }

  return {
    db,
    /** Stored documents. */
    records: createRecordReader({ prepare: sql => db.prepare(sql), version: () => seen }),
    /** A prepared statement of this text, the same one each time. */
    prepare: memoize(500, (sql: string): Statement => db.prepare(sql)),
    /**
     * Until `end`, long operations poll `check`, which throws to abort them. A call within another
     * one reads the same state.
     */
    begin(check: () => void = nothing): void {
      checking = check
      if (depth === 0) enter()
      depth++
    },
    check: (): void => checking(),
    end(): void {
      checking = nothing
      depth--
      if (depth === 0) end.run()
    },
    /** Changes when `begin` finds another state than before. */
    version: (): number => seen as number,
    /** In chain order. */
    segments: (): readonly Segment[] => segments,
    /** By its id. */
    segment: (id: number): Segment => requirePresent(segmentsById.get(id), 'the number of a segment'),
    header(segment: Segment): ReadHeader {
      let header = headers.get(segment.id)
      if (!header) {
        const bytes = selectHeader.get(segment.id) as Buffer
        header = Object.assign(decodeSegmentHeader(segment.first, bytes), { positions: createPositions(segment) })
        headers.set(segment.id, header)
      }
      return header
    },
    hash: createHash(hashKeys(db)),
    ...dictionaries,
    /** Postings of one term in all segments, or in `among`. */
    postings: (term: number, fingerprint: number, among?: ReadonlySet<number>): readonly Posting[] =>
      postings.between(term, term, fingerprint, among),
    /** Postings of a range of terms. */
    postingsBetween: (first: number, last: number, among?: ReadonlySet<number>): readonly Posting[] =>
      postings.between(first, last, undefined, among),
    /** Terms of a range in one segment. */
    termsBetween: postings.within,
    ordinals: postings.ordinals,
    /** Argument values by segment and field, sorted. */
    points,
    /** Doc values by segment and field; see column-cache.ts. */
    columns,
    /** Bytes of cache for the next query. */
    kept,
    close: (): void => void db.close(),
  }
}

export type Statement = Database.Statement<unknown[]>

/** Runs `read` on one state of the store; `check` as in `begin`. */
export const reading = <T>(reader: Pick<StoreReader, 'begin' | 'end'>, read: () => T, check?: () => void): T => {
  reader.begin(check)
  try {
    return read()
  } finally {
    reader.end()
  }
}

/** `reading` bound to one reader. */
export const readingIn =
  (reader: Pick<StoreReader, 'begin' | 'end'>) =>
  <T>(read: () => T): T =>
    reading(reader, read)

/** Bytes of cache that a thread has for all stores that it reads. */
export type KeptMemory = ReturnType<typeof createKeptMemory>
export interface KeptShare {
  /** Bytes for decoded columns. */
  columns(): number
  /** Bytes for argument values. */
  points(): number
  /** Bytes for intermediate results of aggregations. */
  states(): number
}
export const createKeptMemory = (bytes: number) => {
  const stores = new Set<string>()
  return {
    /** The share of one store's file, which shrinks as stores are added. */
    store(file: string): KeptShare {
      stores.add(file)
      const part = (share: number) => () => (share * bytes) / stores.size
      return { columns: part(0.4), points: part(0.3), states: part(0.3) }
    },
  }
}
/** For readers outside of the server. */
export const DEFAULT_KEPT = 80 * 2 ** 20
