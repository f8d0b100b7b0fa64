import type { Limits } from '../../limits/index.ts'
import type { SearchRequest } from '../../query/request.ts'
import type { Reader, Segment } from '../reader.ts'
import { blockOf } from '../schema.ts'
import { type Finding, type Part, sharesTime } from './best.ts'
import { createScale, type Held } from './held.ts'
import type { Loading, Take } from './hits.ts'
import { check, type SearchOptions } from './options.ts'
import { numberedAs, positionOfOrdinal } from './places.ts'
import { each, some } from './sets.ts'
import { bySortKeys, type Found, type SortKeys, sortKeysOf } from './sort.ts'
import { segmentsOf } from './where.ts'

/** Documents that are read, and sent, in one go. */
const PAGE = 500

/** The hit that an answer has come to. */
export type Cursor = Found

/** The same of several networks: to which hit each has come. */
export interface JoinedCursor extends Cursor {
  each?: readonly (Cursor | undefined)[]
}

/** How far an answer has come. Who sets it goes on elsewhere. */
export interface Progress {
  at: Cursor | undefined
  /** Told the last hit of a page before the page is written, where others may go on behind it at the same time. */
  reached?: ((at: Cursor) => void) | undefined
}

/**
 * All hits in chain order, taken page by page: it yields how many a page has. Between two pages the store may change, segments may be merged and blocks replaced: what comes behind the last
 * hit is then looked up anew.
 */
export function* walk(
  request: SearchRequest,
  options: SearchOptions,
  { prepare, loading: { reader, exact }, limits, take }: Walking,
  progress: Progress,
): Generator<number> {
  const keys = sortKeysOf(request, reader, exact)
  const order = bySortKeys(keys)
  let last = progress.at
  /** Behind which hit `found` goes on. */
  let walked = last
  const spent = { finding: 0, writing: 0 }
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
        if (last ? order(one, last) <= 0 : keys.behind && !keys.behind.has(one)) continue
        if (skip > 0) skip--
        else page.push(one)
        continue
      }
      reader.check()
      const segment = segments.pop()
      if (!segment) break
      if (last ? isPassed(segment, last, keys, reader) : isBefore(segment, keys)) continue
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
    let hits: number
    try {
      const started = performance.now()
      last = progress.at
      // What was made elsewhere has to be made anew.
      const isBehind = last !== undefined && walked !== undefined && order(last, walked) < 0
      if (reader.version() !== version || isBehind) {
        version = reader.version()
        parts = prepare(request)
        segments = keys.descending ? [...segmentsOf(parts, reader)] : segmentsOf(parts, reader).toReversed()
        found = [].values()
      }
      const some = next()
      last = some.at(-1) ?? last
      walked = last
      parts[0]?.scoring?.mark(some, request.shown)
      const foundAt = performance.now()
      spent.finding += foundAt - started
      // Whoever helps finds all of it again: that is worth while only where most of the time goes into writing.
      if (last && some.length === PAGE && spent.writing > 2 * spent.finding) progress.reached?.(last)
      hits = take(some)
      spent.writing += performance.now() - foundAt
    } finally {
      reader.end()
    }
    if (hits === 0) return
    progress.at = last
    yield hits
  }
}

interface Walking {
  prepare(request: SearchRequest): Part[]
  loading: Pick<Loading, 'reader' | 'exact'>
  limits: Limits
  take: Take
}

/** Whether all that a segment holds comes before a hit. */
const isPassed = (segment: Segment, { position, keys }: Found, { byTime, descending }: SortKeys, reader: Reader) => {
  if (!byTime) return descending ? segment.first > blockOf(position) : segment.last < blockOf(position)
  const time = keys[0] as number
  const { times } = reader.header(segment)
  return descending ? times[0]! > time : times.at(-1)! < time
}

/** Whether all that a segment holds comes before what is asked for. */
const isBefore = ({ first, last }: Segment, { behind }: SortKeys): boolean =>
  behind?.blocks !== undefined &&
  [behind.blocks.here, behind.blocks.beyond].every(([from, to]) => last < from || first > to)

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
export function* pagesOf(
  held: Held,
  from: number,
  { reader, take, progress }: { reader: Reader; take: Take; progress: Progress },
): Generator<number> {
  for (let at = from; at < held.length; at += PAGE) {
    const found = held.slice(at, at + PAGE)
    reader.begin()
    let hits: number
    try {
      hits = take(found)
    } finally {
      reader.end()
    }
    progress.at = found.at(-1)
    if (hits > 0) yield hits
  }
}
