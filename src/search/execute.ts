import type { Document } from '../documents/document.ts'
import { asBigint, asJson } from '../documents/show.ts'
import { logsBloomOf } from '../lib/bloom.ts'
import { retry } from '../lib/errors.ts'
import { DEFAULT_LIMITS, type Limits } from '../limits/index.ts'
import type { Kind } from '../mapping/index.ts'
import type { Node } from '../query/ast.ts'
import { compile } from '../query/predicate.ts'
import type { SearchRequest } from '../query/request.ts'
import type { Reader, Segment } from '../store/reader.ts'
import { blockOf, positionOf } from '../store/schema.ts'
import type { SegmentHeader } from '../store/segment.ts'
import { createDocuments, type Documents } from './documents.ts'
import { type Evaluation, evaluate } from './evaluate.ts'
import { createScale, type Held, hold } from './held.ts'
import { positionsOfIds } from './lookup.ts'
import { numberedAs, ordinalOfPosition, positionOfOrdinal, sizeOf } from './places.ts'
import { planQuery } from './plan.ts'
import { and, each, run, some } from './sets.ts'
import { type SimilarRequest, similarContracts } from './similar.ts'
import { bySortKeys, type Found, isChainOrder, type SortKeys, sortKeysOf, sortValues } from './sort.ts'

/** Searches one network's store. Every call sees one state of it. */
export interface Searcher {
  search(request: SearchRequest, options: SearchOptions): Result
  /**
   * All hits of a query, page by page: each page is read from the state of its moment, none is held open between them. `after` goes on
   * behind a hit, and then nothing is counted.
   */
  pages(request: SearchRequest, options: SearchOptions, after?: Cursor): Pages
  get(kind: Kind, id: string): Document | undefined
  /** Contracts whose codes are like that of another one; undefined where that is not stored. */
  similar(request: SimilarRequest): { document: Document; similarity: number }[] | undefined
}

export interface SearchOptions {
  /** Time in milliseconds (as of `performance.now`) after which the search is given up. */
  deadline: number
  /** Asked now and then: true gives the search up. */
  cancelled?(): boolean
  /** Asked likewise: true gives it up to be begun anew later, by throwing a `Yielded`. */
  yields?(): boolean
}

/** A search has made room for others, and is to be asked anew. */
export class Yielded extends Error {}

/** The hit that an answer has come to. */
export type Cursor = Found

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
  /** The last hit of the pages that were taken so far. */
  at(): Cursor | undefined
}

/** How far an answer has come. */
interface Progress {
  at: Cursor | undefined
}

interface Part {
  kind: Kind
  evaluation: Evaluation
}

export const createSearcher = (reader: Reader, limits: Limits = DEFAULT_LIMITS): Searcher => {
  const shown = createDocuments({ reader, big: asJson, bloom: logsBloomOf })
  const exact = createDocuments({ reader, big: asBigint, bloom: logsBloomOf })

  const loading: Loading = { shown, exact, reader }

  const prepare = (request: SearchRequest): Part[] =>
    request.parts.map(({ kind, query }) => ({
      kind,
      evaluation: evaluate({ kind, plan: planQuery(kind, query, reader), reader, ask: asking(exact) }),
    }))

  return {
    search(request, options) {
      reader.begin(() => check(options))
      try {
        const parts = prepare(request)
        const total = countAll(request, parts, reader)
        const found = findBest(request, parts, { exact, reader, limits })
        return { total, hits: load(request, found.slice(request.from), loading) }
      } finally {
        reader.end()
      }
    },
    pages(request, options, after) {
      const progress: Progress = { at: after }
      const at = () => progress.at
      const walked = () => walk(request, options, { prepare, loading, limits }, progress)
      if (after && isChainOrder(request)) return { total: -1, pages: walked(), at }
      reader.begin(() => check(options))
      try {
        const parts = prepare(request)
        const total = after ? -1 : countAll(request, parts, reader)
        if (isChainOrder(request)) return { total, pages: walked(), at }
        // Another order than the chain's has to be known whole before the first hit.
        const all = { ...request, from: 0, size: Number.POSITIVE_INFINITY }
        const held = hold(findBest(all, parts, { exact, reader, limits }))
        const from = after ? held.behind(after) : request.from
        return { total, pages: pagesOf(held, from, request, { loading, progress }), at }
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

/** Throws where a search is to be given up. */
export const check = ({ deadline, cancelled, yields }: SearchOptions) => {
  if (yields?.()) throw new Yielded('a search has made room for others')
  if (performance.now() > deadline || cancelled?.())
    throw retry(
      'search_timeout_exception',
      'the search took longer than the deadline allows: narrow it, or raise query-deadline',
    )
}

const countAll = ({ trackTotal }: SearchRequest, parts: Part[], reader: Reader): number => {
  if (trackTotal === false) return -1
  const most = trackTotal === true ? Number.POSITIVE_INFINITY : trackTotal
  let total = 0
  for (const segment of reader.segments()) {
    reader.check()
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
  reader: Reader
}

const load = (
  { sort }: Pick<SearchRequest, 'sort'>,
  found: readonly Found[],
  { shown, exact, reader }: Loading,
): Hit[] =>
  found.flatMap((one): Hit[] => {
    reader.check()
    const [document] = shown.load(one.kind, [one.position])
    if (!document) return []
    return [{ kind: one.kind, document, sort: sort.length ? sortValues(sort, one, exact) : undefined }]
  })

/** The first `from + size` hits in the order that is asked for. */
const findBest = (request: SearchRequest, parts: Part[], finding: Finding): Found[] => {
  const wanted = request.from + request.size
  if (wanted === 0) return []
  const keys = sortKeysOf(request, finding.reader, finding.exact)
  return keys.chain ? findInChainOrder(wanted, keys, parts, finding) : findByKeys(wanted, keys, parts, finding)
}

interface Finding {
  exact: Documents
  reader: Reader
  limits: Limits
}

const findInChainOrder = (wanted: number, keys: SortKeys, parts: Part[], { reader, limits }: Finding): Found[] => {
  const { descending, compare } = keys
  const segments = descending ? reader.segments().toReversed() : reader.segments()
  const found: Found[] = []
  let before: SegmentHeader | undefined
  for (const segment of segments) {
    reader.check()
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
  if (compare) {
    keys.fill(found)
    createScale(limits).add(found)
  }
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

const findByKeys = (wanted: number, keys: SortKeys, parts: Part[], { reader, limits }: Finding): Found[] => {
  const order = bySortKeys(keys)
  const scale = createScale(limits)
  let best: Found[] = []
  for (const segment of reader.segments()) {
    const header = reader.header(segment)
    for (const { kind, evaluation } of parts) {
      reader.check()
      const numbered = numberedAs(kind)
      const here: Found[] = []
      each(evaluation.matches(segment), ordinal =>
        here.push({ kind, position: positionOfOrdinal(header, numbered, ordinal), keys: [] }),
      )
      keys.fill(here, segment)
      best = best.concat(here)
      if (best.length > 4 * wanted + PAGE) {
        best = best.sort(order).slice(0, wanted)
        scale.clear()
        scale.add(best)
      } else scale.add(here)
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
  { prepare, loading, limits }: Walking,
  progress: Progress,
): Generator<Hit[]> {
  const { reader } = loading
  const keys = sortKeysOf(request, reader, loading.exact)
  const order = bySortKeys(keys)
  let last = progress.at
  let version: number | undefined
  let parts: Part[] = []
  let segments: Segment[] = []
  let found: Iterator<Found> = [].values()
  let skip = last ? 0 : request.from

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
      reader.check()
      const segment = segments.pop()
      if (!segment) break
      if (last && isPassed(segment, last, keys, reader)) continue
      const together = [segment]
      for (let more = segments.at(-1); more && keys.byTime; more = segments.at(-1)) {
        if (!sharesTime(reader.header(together.at(-1)!), reader.header(more), keys)) break
        together.push(more)
        segments.pop()
      }
      found = matchesInOrder(parts, together, keys, { reader, limits })
    }
    return page
  }

  for (;;) {
    reader.begin(() => check(options))
    let hits: Hit[] = []
    try {
      if (reader.version() !== version) {
        version = reader.version()
        parts = prepare(request)
        segments = keys.descending ? [...reader.segments()] : reader.segments().toReversed()
        found = [].values()
      }
      const some = next()
      last = some.at(-1) ?? last
      hits = load(request, some, loading)
    } finally {
      reader.end()
    }
    if (hits.length === 0) return
    progress.at = last
    yield hits
  }
}

interface Walking {
  prepare(request: SearchRequest): Part[]
  loading: Loading
  limits: Limits
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
  { reader, limits }: Pick<Finding, 'reader' | 'limits'>,
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
  if (keys.compare) {
    keys.fill(found)
    createScale(limits).add(found)
  }
  yield* found.sort(bySortKeys(keys))
}

const NO_KEYS: Found['keys'] = []

/** Hits that are all known, page by page; what is gone by the time of its page is left out. */
function* pagesOf(
  held: Held,
  from: number,
  request: SearchRequest,
  { loading, progress }: { loading: Loading; progress: Progress },
): Generator<Hit[]> {
  const { reader } = loading
  for (let at = from; at < held.length; at += PAGE) {
    const found = held.slice(at, at + PAGE)
    reader.begin()
    let page: Hit[]
    try {
      page = load(request, found, loading)
    } finally {
      reader.end()
    }
    progress.at = found.at(-1)
    if (page.length > 0) yield page
  }
}
