import type { ByteWriter } from '../../lib/bytes.ts'
import { memoizeLatest } from '../../lib/caches.ts'
import type { Limits } from '../../limits/index.ts'
import type { Kind } from '../../mapping/index.ts'
import type { SearchRequest, SourceFilter } from '../../query/request.ts'
import { CLOSE, COMMA } from '../forms/json.ts'
import type { Documents } from '../query/documents.ts'
import { groupHitsOf, relatedBy } from '../query/inner-hits.ts'
import type { Evaluator } from '../query/match/evaluate.ts'
import type { SearchMatch } from '../query/search-match.ts'
import type { StoreReader } from '../reader.ts'
import { createPlainWriter, envelopeOf, hidesScores, hitWriter, rowWriter, type WriteHit } from './basic-hit.ts'
import { createRichWriter, isRich, type Relating } from './full-hit.ts'
import type { RowShape } from './row.ts'
import { type Show, showsOf } from './source-writers.ts'

export interface HitsOptions {
  reader: StoreReader
  shown: Documents
  exact: Documents
  evaluation: Evaluator
  limits: Limits
}

export interface DocumentShowing {
  source?: SourceFilter | undefined
  /** Only `_source`. */
  bare?: boolean | undefined
}

/** Writes visible matches as JSON objects and returns their number. */
export type WriteHits = (found: readonly SearchMatch[], out: ByteWriter) => number

/** A number, or an object as in Elasticsearch 7. */
export type Totals = 'integer' | 'object'

export interface HitsWriting {
  /** For inner hits; default `integer`. */
  totals?: Totals | undefined
  /** Whether hits have `_parent`; default true. */
  parents?: boolean | undefined
  /** Of plain hits as rows of a table, without `sort`; default JSON. */
  rows?: RowShape | undefined
  /** Byte between two hits; by default a comma. */
  between?: number | undefined
}

export interface Hits {
  writer(request: SearchRequest, index: string, how?: HitsWriting): WriteHits
  documents: Documents['load']
  /** Writes the answer to `get`; false if there is no such document. */
  document(kind: Kind, position: number, index: string, out: ByteWriter, how?: DocumentShowing): boolean
}

export const createHits = (options: HitsOptions): Hits => {
  const { reader, shown, exact } = options
  const shows = showsOf(reader)
  const sources = new Map<string, ReturnType<Show['source']>>()
  /** Cached, as clients use few filters. */
  const sourceOf = (kind: Kind, filter: SourceFilter): ReturnType<Show['source']> => {
    const key = `${kind} ${JSON.stringify(filter)}`
    if (!sources.has(key)) {
      if (sources.size >= MAX_CACHED_SOURCES) sources.clear()
      sources.set(key, shows[kind].source(filter))
    }
    return sources.get(key)
  }
  const cache = createHitCache<CachedHit>(() => reader.version())
  const writers = new Map<string, WriteHit>()
  const writerOf = memoizeLatest(
    (kind: Kind, filter: SourceFilter, index: string, parents: boolean, rows: RowShape | undefined) => {
      const key = `${kind} ${index} ${parents} ${JSON.stringify([filter, rows])}`
      let writer = writers.get(key)
      if (!writer) {
        if (writers.size >= MAX_CACHED_SOURCES) writers.clear()
        const source = sourceOf(kind, filter)
        writer = rows
          ? rowWriter(shows[kind], source, rows)
          : hitWriter(shows[kind], envelopeOf(index, kind), source, parents)
        writers.set(key, writer)
      }
      return writer
    },
  )
  const writeKept = (write: WriteHit, position: number, score: string, out: ByteWriter): number => {
    const kept = cache.get(write, position)
    if (kept) {
      out.bytes(kept.head)
      out.ascii(score)
      out.bytes(kept.rest)
      return kept.head.length
    }
    const start = out.length
    const before = write(position, score, out)
    if (before === 0) return 0
    const head = new Uint8Array(out.view(start, start + before))
    const rest = new Uint8Array(out.view(start + before + score.length))
    cache.set(write, position, { head, rest, length: head.length + rest.length })
    return before
  }
  const plainWriter = (
    request: SearchRequest,
    { index, between, parents, rows }: { index: string; between: number; parents: boolean; rows: RowShape | undefined },
  ): WriteHits => {
    const { source, parts, size } = request
    const writers = new Map(parts.map(({ kind }) => [kind, writerOf(kind, source, index, parents, rows)]))
    // Parts that depend on the query are not cached.
    const keeps = !rows && size >= 0 && size <= MAX_CACHED_PAGE
    return createPlainWriter(rows ? { ...request, sort: [] } : request, {
      ...{ documents: exact, reader, between, check: reader.check },
      write: ({ kind, position }, score, out) =>
        (keeps ? writeKept : writeUncached)(writers.get(kind)!, position, score, out),
    })
  }
  const related: Relating = {
    by: inner => relatedBy(inner, options),
    group: (collapse, among, inner) => groupHitsOf(collapse, among, inner, options),
  }
  const writer: Hits['writer'] = (request, index, how = {}) => {
    const { totals = 'integer', parents = true, rows, between = COMMA } = how
    return isRich(request)
      ? createRichWriter(request, {
          ...{ reader, shown, exact, check: reader.check, related },
          ...{ index, totals, parents, between, shows, sourceOf, writer, hidesScores: hidesScores(request) },
        })
      : plainWriter(request, { index, between, parents, rows })
  }
  return {
    writer,
    documents: shown.load,
    document(kind, position, index, out, { source = true, bare = false } = {}) {
      const show = shows[kind]
      if (!show.find(position)) return false
      const write = sourceOf(kind, source)
      if (bare) {
        write?.(out)
        return true
      }
      out.text(envelopeOf(index, kind))
      show.id(out)
      out.ascii(write ? '","found":true,"_source":' : '","found":true')
      write?.(out)
      out.byte(CLOSE)
      return true
    },
  }
}

const MAX_CACHED_SOURCES = 100

/** Largest page to cache: larger ones would evict others. */
const MAX_CACHED_PAGE = 100

/** A hit without its score, which depends on the query. */
interface CachedHit {
  head: Uint8Array
  rest: Uint8Array
  length: number
}

const writeUncached = (write: WriteHit, position: number, score: string, out: ByteWriter): number =>
  write(position, score, out)

export type HitShape = object

/** Two generations, of half the size each. */
const HIT_CACHE_BYTES = 8 * 2 ** 20

/** Bytes of an entry in addition to the hit. */
const HIT_OVERHEAD = 100
type CachedValue = { readonly length: number }
type Generation<T> = Map<HitShape, Map<number, T>>

/** A new version clears the cache. */
export const createHitCache = <T extends CachedValue>(version: () => unknown, capacity = HIT_CACHE_BYTES) => {
  let young: Generation<T> = new Map()
  let old: Generation<T> = new Map()
  let bytes = 0
  let seen: unknown

  const invalidateOlder = () => {
    const now = version()
    if (now === seen) return
    seen = now
    young = new Map()
    old = new Map()
    bytes = 0
  }

  const put = (shape: HitShape, position: number, hit: T) => {
    bytes += hit.length + HIT_OVERHEAD
    if (bytes > capacity / 2) {
      old = young
      young = new Map()
      bytes = hit.length + HIT_OVERHEAD
    }
    const hits = young.get(shape)
    if (hits) hits.set(position, hit)
    else young.set(shape, new Map([[position, hit]]))
  }

  return {
    get(shape: HitShape, position: number): T | undefined {
      invalidateOlder()
      const hit = young.get(shape)?.get(position)
      if (hit) return hit
      const older = old.get(shape)?.get(position)
      if (older) put(shape, position, older)
      return older
    },
    set(shape: HitShape, position: number, hit: T) {
      invalidateOlder()
      if (hit.length < capacity / 8) put(shape, position, hit)
    },
  }
}
