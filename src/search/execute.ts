import type { Document } from '../documents/document.ts'
import { asBigint, asJson } from '../documents/show.ts'
import { logsBloomOf } from '../lib/bloom.ts'
import { retry } from '../lib/errors.ts'
import type { Kind } from '../mapping/index.ts'
import type { Node } from '../query/ast.ts'
import { compile } from '../query/predicate.ts'
import type { SearchRequest } from '../query/request.ts'
import type { Reader, Segment } from '../store/reader.ts'
import { blockOf, positionOf } from '../store/schema.ts'
import type { SegmentHeader } from '../store/segment.ts'
import { createDocuments, type Documents } from './documents.ts'
import { type Evaluation, evaluate } from './evaluate.ts'
import { positionsOfIds } from './lookup.ts'
import { numberedAs, ordinalOfPosition, positionOfOrdinal, sizeOf } from './places.ts'
import { planQuery } from './plan.ts'
import { and, each, run, some } from './sets.ts'
import { type SimilarRequest, similarContracts } from './similar.ts'
import { bySortKeys, type Found, isChainOrder, type SortKeys, sortKeysOf, sortValues } from './sort.ts'

/** Searches one network's store. Every call sees one state of it. */
export interface Searcher {
  search(request: SearchRequest, options: SearchOptions): Result
  /** All hits of a query, page by page: each page is read from the state of its moment, none is held open between them. */
  pages(request: SearchRequest, options: SearchOptions): Pages
  get(kind: Kind, id: string): Document | undefined
  /** Contracts whose codes are like that of another one; undefined where that is not stored. */
  similar(request: SimilarRequest): { document: Document; similarity: number }[] | undefined
}

export interface SearchOptions {
  /** Time in milliseconds (as of `performance.now`) after which the search is given up. */
  deadline: number
  /** Asked now and then: true gives the search up. */
  cancelled?(): boolean
}

export interface Hit {
  kind: Kind
  document: Document
  sort: unknown[] | undefined
}

export interface Result {
  total: number
  hits: Hit[]
}

export interface Pages {
  total: number
  pages: Iterable<Hit[]>
}

interface Part {
  kind: Kind
  evaluation: Evaluation
}

export const createSearcher = (reader: Reader): Searcher => {
  const shown = createDocuments({ reader, big: asJson, bloom: logsBloomOf })
  const exact = createDocuments({ reader, big: asBigint, bloom: logsBloomOf })

  const loading: Loading = { shown, exact }

  const prepare = (request: SearchRequest): Part[] =>
    request.parts.map(({ kind, query }) => ({
      kind,
      evaluation: evaluate({ kind, plan: planQuery(kind, query, reader), reader, ask: asking(exact) }),
    }))

  return {
    search(request, options) {
      reader.begin()
      try {
        const parts = prepare(request)
        const total = countAll(request, parts, reader, options)
        const found = findBest(request, parts, exact, reader, options)
        return { total, hits: load(request, found.slice(request.from), loading) }
      } finally {
        reader.end()
      }
    },
    pages(request, options) {
      reader.begin()
      try {
        const parts = prepare(request)
        const total = countAll(request, parts, reader, options)
        if (isChainOrder(request)) return { total, pages: walk(request, options, prepare, loading, reader) }
        // Another order than the chain's has to be known whole before the first hit.
        const found = findBest({ ...request, from: 0, size: total }, parts, exact, reader, options)
        return { total, pages: pagesOf(found, request, loading, reader) }
      } finally {
        reader.end()
      }
    },
    similar(request) {
      reader.begin()
      try {
        return similarContracts(reader, request)?.map(({ position, similarity }) => ({
          document: shown.load('contract', [position])[0]!,
          similarity,
        }))
      } finally {
        reader.end()
      }
    },
    get(kind, id) {
      reader.begin()
      try {
        return shown.load(kind, positionsOfIds(kind, [id.toLowerCase()], reader).slice(-1))[0]
      } finally {
        reader.end()
      }
    },
  }
}

/** Documents that are read, and sent, in one go. */
const PAGE = 500

const asking =
  (documents: Documents) =>
  (kind: Kind, node: Node, positions: readonly number[]): boolean[] => {
    const test = compile(kind, node)
    return documents.load(kind, positions).map(document => document !== undefined && test(document))
  }

const check = ({ deadline, cancelled }: SearchOptions) => {
  if (performance.now() > deadline || cancelled?.())
    throw retry(
      'search_timeout_exception',
      'the search took longer than the deadline allows: narrow it, or raise query-deadline',
    )
}

const countAll = ({ trackTotal }: SearchRequest, parts: Part[], reader: Reader, options: SearchOptions): number => {
  if (trackTotal === false) return -1
  const most = trackTotal === true ? Number.POSITIVE_INFINITY : trackTotal
  let total = 0
  for (const segment of reader.segments()) {
    check(options)
    for (const { evaluation } of parts) total += evaluation.count(segment)
    if (total >= most) return most
  }
  return total
}

interface Loading {
  /** Documents as they are answered. */
  shown: Documents
  /** Documents whose integers can be computed with. */
  exact: Documents
}

const load = ({ sort }: Pick<SearchRequest, 'sort'>, found: readonly Found[], { shown, exact }: Loading): Hit[] =>
  found.flatMap((one): Hit[] => {
    const [document] = shown.load(one.kind, [one.position])
    if (!document) return []
    return [{ kind: one.kind, document, sort: sort.length ? sortValues(sort, one, exact) : undefined }]
  })

/** The first `from + size` hits in the order that is asked for. */
const findBest = (
  request: SearchRequest,
  parts: Part[],
  exact: Documents,
  reader: Reader,
  options: SearchOptions,
): Found[] => {
  const wanted = request.from + request.size
  if (wanted === 0) return []
  const keys = sortKeysOf(request, reader, exact)
  return keys.chain
    ? findInChainOrder(wanted, keys, parts, reader, options)
    : findByKeys(wanted, keys, parts, reader, options)
}

const findInChainOrder = (
  wanted: number,
  keys: SortKeys,
  parts: Part[],
  reader: Reader,
  options: SearchOptions,
): Found[] => {
  const { descending, compare } = keys
  const segments = descending ? reader.segments().toReversed() : reader.segments()
  const found: Found[] = []
  let before: SegmentHeader | undefined
  for (const segment of segments) {
    check(options)
    const header = reader.header(segment)
    const enough = found.length >= wanted
    if (enough && !(before && sharesTime(before, header, keys))) break
    before = header
    const here: Found[] = []
    for (const { kind, evaluation } of parts) {
      const numbered = numberedAs(kind)
      const set = evaluation.matches(segment)
      const ordinals = enough ? [] : some(set, wanted - found.length, descending)
      const positions = ordinals.map(ordinal => positionOfOrdinal(header, numbered, ordinal))
      const last = enough ? (descending ? segment.last : segment.first) : positions.length && blockOf(positions.at(-1)!)
      if (compare && (enough || positions.length > 0)) {
        // Where the first key is the same another order may be wanted: then the last such blocks count whole.
        const [first, end] = keys.byTime ? sameTime(header, last) : [last, last]
        const size = sizeOf({ segment, header }, numbered)
        const from = ordinalOfPosition(header, numbered, positionOf(first, 0))
        const to = end === segment.last ? size : ordinalOfPosition(header, numbered, positionOf(end + 1, 0))
        const known = new Set(positions)
        each(and(set, run(from, to), size), ordinal => {
          const position = positionOfOrdinal(header, numbered, ordinal)
          if (!known.has(position)) positions.push(position)
        })
      }
      for (const position of positions) here.push({ kind, position, keys: [] })
    }
    found.push(...here)
    if (!compare && found.length >= wanted) break
  }
  if (compare) keys.fill(found)
  return found.sort(bySortKeys(keys)).slice(0, wanted)
}

/** First and last of the neighbouring blocks that have the time of this one. */
const sameTime = ({ first, times }: SegmentHeader, block: number): [number, number] => {
  const time = times[block - first]
  let from = block - first
  let to = from
  while (from > 0 && times[from - 1] === time) from--
  while (to + 1 < times.length && times[to + 1] === time) to++
  return [first + from, first + to]
}

/** Whether a segment begins with the time that the one walked before it ended with, and the order is by time. */
const sharesTime = (before: SegmentHeader, { times }: SegmentHeader, { byTime, descending }: SortKeys): boolean =>
  byTime && (descending ? before.times[0] === times.at(-1) : before.times.at(-1) === times[0])

const findByKeys = (wanted: number, keys: SortKeys, parts: Part[], reader: Reader, options: SearchOptions): Found[] => {
  const order = bySortKeys(keys)
  let best: Found[] = []
  for (const segment of reader.segments()) {
    const header = reader.header(segment)
    for (const { kind, evaluation } of parts) {
      check(options)
      const numbered = numberedAs(kind)
      const here: Found[] = []
      each(evaluation.matches(segment), ordinal =>
        here.push({ kind, position: positionOfOrdinal(header, numbered, ordinal), keys: [] }),
      )
      keys.fill(here, segment)
      best = best.concat(here)
      if (best.length > 4 * wanted + PAGE) best = best.sort(order).slice(0, wanted)
    }
  }
  return best.sort(order).slice(0, wanted)
}

/**
 * All hits in chain order. Between two pages the store may change, segments may be merged and blocks replaced: what comes behind the last
 * hit is then looked up anew.
 */
function* walk(
  request: SearchRequest,
  options: SearchOptions,
  prepare: (request: SearchRequest) => Part[],
  loading: Loading,
  reader: Reader,
): Generator<Hit[]> {
  const keys = sortKeysOf(request, reader, loading.exact)
  const order = bySortKeys(keys)
  let last: Found | undefined
  let version: number | undefined
  let parts: Part[] = []
  let segments: Segment[] = []
  let found: Iterator<Found> = [].values()
  let skip = request.from

  /** The next hits, of as many segments as it takes. */
  const next = (): Found[] => {
    const page: Found[] = []
    while (page.length < PAGE) {
      const { value: one, done } = found.next()
      if (!done) {
        if (last && order(one, last) <= 0) continue
        if (skip > 0) skip--
        else page.push(one)
        continue
      }
      check(options)
      const segment = segments.pop()
      if (!segment) break
      if (last && isPassed(segment, last, keys, reader)) continue
      const together = [segment]
      for (let more = segments.at(-1); more && keys.byTime; more = segments.at(-1)) {
        if (!sharesTime(reader.header(together.at(-1)!), reader.header(more), keys)) break
        together.push(more)
        segments.pop()
      }
      found = matchesInOrder(parts, together, keys, reader)
    }
    return page
  }

  for (;;) {
    reader.begin()
    let page: Hit[] = []
    try {
      if (reader.version() !== version) {
        version = reader.version()
        parts = prepare(request)
        segments = keys.descending ? [...reader.segments()] : reader.segments().toReversed()
        found = [].values()
      }
      const some = next()
      last = some.at(-1) ?? last
      page = load(request, some, loading)
    } finally {
      reader.end()
    }
    if (page.length === 0) return
    yield page
  }
}

/** Whether all that a segment holds comes before a hit. */
const isPassed = (segment: Segment, { position, keys }: Found, { byTime, descending }: SortKeys, reader: Reader) => {
  if (!byTime) return descending ? segment.first > blockOf(position) : segment.last < blockOf(position)
  const time = keys[0] as number
  const { times } = reader.header(segment)
  return descending ? times[0]! > time : times.at(-1)! < time
}

/** The matches of neighbouring segments in the order that is asked for. Of one kind they are ordered as they are. */
function* matchesInOrder(
  parts: Part[],
  segments: readonly Segment[],
  keys: SortKeys,
  reader: Reader,
): Generator<Found> {
  const [only, ...others] = parts
  if (only && others.length === 0 && !keys.compare) {
    const segment = segments[0]!
    const header = reader.header(segment)
    const { kind, evaluation } = only
    for (const ordinal of some(evaluation.matches(segment), Number.POSITIVE_INFINITY, keys.descending))
      yield { kind, position: positionOfOrdinal(header, numberedAs(kind), ordinal), keys: NO_KEYS }
    return
  }
  const found: Found[] = []
  for (const segment of segments) {
    const header = reader.header(segment)
    for (const { kind, evaluation } of parts)
      each(evaluation.matches(segment), ordinal =>
        found.push({ kind, position: positionOfOrdinal(header, numberedAs(kind), ordinal), keys: [] }),
      )
  }
  if (keys.compare) keys.fill(found)
  yield* found.sort(bySortKeys(keys))
}

const NO_KEYS: Found['keys'] = []

/** Hits that are all known, page by page; what is gone by the time of its page is left out. */
function* pagesOf(found: readonly Found[], request: SearchRequest, loading: Loading, reader: Reader): Generator<Hit[]> {
  for (let at = request.from; at < found.length; at += PAGE) {
    reader.begin()
    let page: Hit[]
    try {
      page = load(request, found.slice(at, at + PAGE), loading)
    } finally {
      reader.end()
    }
    if (page.length > 0) yield page
  }
}
