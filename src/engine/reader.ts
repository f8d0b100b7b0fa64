import type Database from 'better-sqlite3'
import { signatureOf } from '../decode/call-signatures.ts'
import type { EventAbi, Signature } from '../decode/types.ts'
import { createHash, type Hash62 } from '../lib/hash.ts'
import { merged, type Range } from '../lib/ranges.ts'
import { byKind, ROW_KINDS, type RowKind } from '../mapping/index.ts'
import { present } from '../sqlite/damage.ts'
import type { Db } from '../sqlite/database.ts'
import { createRecords, type Records } from './documents/record-reader.ts'
import { type ColumnCache, createColumnCache } from './index/column-cache.ts'
import { createPointsCache, type PointsCache } from './index/points-cache.ts'
import { createPostingsReader, type Posting } from './index/postings-reader.ts'
import { decodeHeader, type SegmentHeader } from './index/segment.ts'
import { SEGMENT_COUNTS, type SegmentCounts } from './index/segments.ts'
import { createKeptMemory, DEFAULT_KEPT, type KeptShare } from './kept.ts'
import { openForReading } from './open.ts'
import { PLACES, positionOf } from './schema.ts'

export type { Posting } from './index/postings-reader.ts'

/** A segment as its row tells it, without its header. */
export interface Segment extends SegmentCounts {
  id: number
  /** Grows with each change of what its documents are decoded to. */
  revised: number
}

/** Blocks that are held whole. */
export const wholeRanges = (segments: readonly Segment[]): Range[] =>
  merged(segments.flatMap(({ first, last, scoped }) => (scoped ? [] : [{ from: first, to: last }])))

export interface StoredSignature extends Signature {
  id: number
}

/** A header with what changes while the segment stays. */
export interface ReadHeader extends SegmentHeader {
  /** Positions of the segment's documents of that kind, ascending. */
  positions(kind: RowKind): Float64Array
}

/** Reads one network's store. Everything between `begin` and `end` sees one state of it. */
export interface Reader {
  readonly db: Db
  /** Stored documents. */
  readonly records: Records
  /** A prepared statement of this text, the same one each time. */
  prepare(sql: string): Statement
  /** Until `end`, `check` is called now and then by whatever takes long, and throws where that is to be given up. */
  begin(check?: () => void): void
  check(): void
  end(): void
  /** Changes when the state that `begin` finds is another than before. */
  version(): number
  /** In chain order. */
  segments(): readonly Segment[]
  /** By its id. */
  segment(id: number): Segment
  header(segment: Segment): ReadHeader
  /** Those of logs, or of calls. */
  signatures(of: 'log' | 'call'): readonly StoredSignature[]
  signature(id: number): StoredSignature
  hash(text: string): Hash62
  addressId(digits: string): number | undefined
  /** 40 lower-case hex digits. */
  addressDigits(id: number): string
  nameId(name: string): number | undefined
  name(id: number): string
  /** All names that are known so far, in the order of their ids. */
  names(): readonly string[]
  /** The postings of one term, in all segments that have it, or in those of certain ones. */
  postings(term: number, fingerprint: number, among?: ReadonlySet<number>): readonly Posting[]
  /** The postings of a range of terms. */
  postingsBetween(first: number, last: number, among?: ReadonlySet<number>): readonly Posting[]
  /** The terms of a range that one segment has. */
  termsBetween(segment: number, first: number, last: number): Posting[]
  ordinals(posting: Posting): Uint32Array
  /** Numbers of arguments by segment and field. */
  readonly points: PointsCache
  /** Doc values by segment and field; see column-fields.ts. */
  readonly columns: ColumnCache
  /** What may be kept of it for the next query. */
  readonly kept: KeptShare
  close(): void
}

/** `waitMs`: how long it waits for what another connection locks; a few seconds by default. */
export const openReader = (path: string, native?: string, waitMs?: number, kept?: KeptShare): Reader => {
  return createReader(openForReading(path, native, waitMs), kept ?? createKeptMemory(DEFAULT_KEPT).store(path), true)
}

/** Opens a store for its documents by their positions alone. It is told of no segment, so that each state is taken up at once, however many there are. */
export const openDocuments = (path: string, native?: string): Reader =>
  createReader(openForReading(path, native), createKeptMemory(DEFAULT_KEPT).store(path), false)

const createReader = (db: Db, kept: KeptShare, hasSegments: boolean): Reader => {
  const begin = db.prepare('BEGIN')
  const end = db.prepare('END')
  const version = db.prepare('PRAGMA data_version').pluck()
  const selectSegments = db.prepare(`SELECT ${SEGMENT_COUNTS}, revised FROM segment ORDER BY first`)
  const selectHeader = db.prepare('SELECT blocks FROM segment WHERE id = ?').pluck()
  const selectSignatures = db.prepare(
    'SELECT id, key, topic, indexed, abi, probability, error FROM signature WHERE id > ? ORDER BY id',
  )
  const selectAddressId = db.prepare('SELECT id FROM address WHERE bytes = ?').pluck()
  const selectAddress = db.prepare('SELECT bytes FROM address WHERE id = ?').pluck()
  const selectNameId = db.prepare('SELECT id FROM name WHERE name = ?').pluck()
  const selectNames = db.prepare('SELECT id, name FROM name WHERE id > ? ORDER BY id')
  const selectName = db.prepare('SELECT name FROM name WHERE id = ?').pluck()
  const postings = createPostingsReader(db)
  const selectPositions = byKind(ROW_KINDS, kind =>
    db.prepare(`SELECT pos FROM "${kind}" WHERE pos BETWEEN ? AND ? ORDER BY pos`).pluck(),
  )
  const keys = db.prepare("SELECT value FROM meta WHERE key = 'hash_key_0' OR key = 'hash_key_1' ORDER BY key").pluck()
  const [key0, key1] = keys.all() as [number, number]

  const columns = createColumnCache(db, kept.columns)
  const points = createPointsCache(db, kept.points)
  let checking = () => {}
  let seen: unknown
  let segments: Segment[] = []
  let segmentsById = new Map<number, Segment>()
  let signatures: StoredSignature[] = []
  let bySort: Record<'log' | 'call', StoredSignature[]> = { log: [], call: [] }
  let headers = new Map<number, ReadHeader>()
  /** Read on demand; `version` is that of the state in which they were read last. */
  let allNames: { names: string[]; last: number; version: unknown } = { names: [], last: 0, version: undefined }
  const signaturesById = new Map<number, StoredSignature>()
  const statements = createCache<string, Statement>(500)
  const addresses = createCache<number, string>(30_000)
  const addressIds = createCache<string, number>(10_000)
  const names = createCache<number, string>(10_000)

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
    const more = selectSignatures.all(signatures.at(-1)?.id ?? 0) as SignatureRow[]
    if (more.length) {
      signatures = [...signatures, ...more.map(fromRow)]
      for (const signature of signatures) signaturesById.set(signature.id, signature)
      bySort = {
        log: signatures.filter(({ of }) => of === 'log'),
        call: signatures.filter(({ of }) => of === 'call'),
      }
    }
  }

  /** Tokens move to lower blocks as these are indexed: what was read of them holds for one state. */
  const createPositions = ({ first, last }: Segment): ReadHeader['positions'] => {
    const known: Partial<Record<RowKind, { positions: Float64Array; version: unknown }>> = {}
    return kind => {
      let found = known[kind]
      if (!found || found.version !== seen) {
        const rows = selectPositions[kind].all(positionOf(first, 0), positionOf(last, PLACES - 1)) as number[]
        found = { positions: Float64Array.from(rows), version: seen }
        known[kind] = found
      }
      return found.positions
    }
  }

  return {
    db,
    records: createRecords({ prepare: sql => db.prepare(sql), version: () => seen }),
    prepare: sql => statements.get(sql) ?? statements.set(sql, db.prepare(sql)),
    begin(check = () => {}) {
      checking = check
      begin.run()
      try {
        // As the first read it fixes the state that the transaction sees, and tells whether that is another than the last one.
        const now = version.get()
        if (now === seen) return
        load()
        seen = now
      } catch (error) {
        end.run()
        throw error
      }
    },
    check: () => checking(),
    end() {
      checking = () => {}
      end.run()
    },
    version: () => seen as number,
    segments: () => segments,
    segment: id => present(segmentsById.get(id), 'the number of a segment'),
    header(segment) {
      let header = headers.get(segment.id)
      if (!header) {
        const bytes = selectHeader.get(segment.id) as Buffer
        header = Object.assign(decodeHeader(segment.first, bytes), { positions: createPositions(segment) })
        headers.set(segment.id, header)
      }
      return header
    },
    signatures: of => bySort[of],
    signature: id => present(signaturesById.get(id), 'the number of a signature'),
    hash: createHash([key0, key1]),
    addressId(digits) {
      const known = addressIds.get(digits)
      if (known !== undefined) return known
      const id = selectAddressId.get(Buffer.from(digits, 'hex')) as number | undefined
      // One that is not known yet may come with the next block.
      return id === undefined ? undefined : addressIds.set(digits, id)
    },
    addressDigits: id =>
      addresses.get(id) ??
      addresses.set(
        id,
        present(selectAddress.get(id) as Buffer | undefined, 'the number of an address').toString('hex'),
      ),
    nameId: name => selectNameId.get(name) as number | undefined,
    names() {
      if (allNames.version !== seen) {
        const more = selectNames.all(allNames.last) as { id: number; name: string }[]
        const last = more.at(-1)?.id ?? allNames.last
        const names = more.length > 0 ? [...allNames.names, ...more.map(({ name }) => name)] : allNames.names
        allNames = { names, last, version: seen }
      }
      return allNames.names
    },
    name: id =>
      names.get(id) ?? names.set(id, present(selectName.get(id) as string | undefined, 'the number of a name')),
    postings: (term, fingerprint, among) => postings.between(term, term, fingerprint, among),
    postingsBetween: (first, last, among) => postings.between(first, last, undefined, among),
    termsBetween: postings.within,
    ordinals: postings.ordinals,
    points,
    columns,
    kept,
    close: () => void db.close(),
  }
}

interface SignatureRow {
  id: number
  key: string
  topic: Buffer | null
  indexed: number
  abi: string | null
  probability: number
  error: string | null
}

const fromRow = ({ topic, abi, ...row }: SignatureRow): StoredSignature => ({
  ...row,
  of: signatureOf(row.key),
  topic: topic && `0x${topic.toString('hex')}`,
  event: abi === null ? null : (JSON.parse(abi) as EventAbi),
})

/** A cache that starts anew when it is full: simple, and fast where few keys make up most of the look-ups. */
const createCache = <K, V>(capacity: number) => {
  const entries = new Map<K, V>()
  return {
    get: (key: K) => entries.get(key),
    set(key: K, value: V): V {
      if (entries.size >= capacity) entries.clear()
      entries.set(key, value)
      return value
    },
  }
}

export type Statement = Database.Statement<unknown[]>

/** Has work read one state of the store; `check` as in `begin`. */
export const reading = <T>(reader: Pick<Reader, 'begin' | 'end'>, read: () => T, check?: () => void): T => {
  reader.begin(check)
  try {
    return read()
  } finally {
    reader.end()
  }
}

/** The same of one reader. */
export const readingIn =
  (reader: Pick<Reader, 'begin' | 'end'>) =>
  <T>(read: () => T): T =>
    reading(reader, read)
