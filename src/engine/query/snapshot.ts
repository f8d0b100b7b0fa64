import { type ChainsieveError, retry } from '../../lib/errors.ts'
import type { Kind } from '../../mapping/index.ts'
import type { BlockMark, BlockRun, ChainPlace, ResumePoint, SearchRequest, SeenBlocks } from '../../query/request.ts'
import { type Alteration, readAltered, type Why } from '../alterations.ts'
import type { Segment, StoreReader } from '../reader.ts'
import { blockOf, positionOf } from '../schema.ts'
import { segmentAt } from './fields/ordinals.ts'
import type { SearchMatch } from './search-match.ts'

/**
 * State of a store during a long answer. Later blocks are left out; if blocks that are still
 * to be read are altered, the answer fails.
 */
export interface Snapshot {
  runs: readonly BlockRun[]
  /** Serial of the latest alteration. */
  serial: number
  /** Total number of hits; undefined if not counted. */
  hits: number | undefined
}

export const takeSnapshot = (reader: StoreReader, hits: number | undefined): Snapshot => ({
  ...{ runs: runsOfSegments(reader.segments()), serial: readAltered(reader.db).serial, hits },
})

/** Alterations since the snapshot of documents that the request covers. */
export const alteredSince = (
  { serial, runs }: Snapshot,
  { parts }: Pick<SearchRequest, 'parts'>,
  reader: StoreReader,
): Alteration[] =>
  readAltered(reader.db).alterations.filter(
    one =>
      one.serial > serial &&
      runs.some(([from, to]) => one.from <= to && one.to >= from) &&
      (!one.kinds || parts.some(({ kind }) => one.kinds!.includes(kind))),
  )

/** Limits a request to the blocks of the snapshot. */
export const inSnapshot = (request: SearchRequest, { runs }: Snapshot, reader: StoreReader): SearchRequest => {
  const now = runsOfSegments(reader.segments())
  if (isSameRuns(now, runs)) return request
  return { ...request, within: request.within ? overlap(request.within, runs) : runs }
}

const isSameRuns = (a: readonly BlockRun[], b: readonly BlockRun[]): boolean =>
  a.length === b.length && a.every(([from, to], i) => from === b[i]![0] && to === b[i]![1])

/** Both lists ascend. */
const overlap = (a: readonly BlockRun[], b: readonly BlockRun[]): BlockRun[] => {
  const both: BlockRun[] = []
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const [from, to] = [Math.max(a[i]![0], b[j]![0]), Math.min(a[i]![1], b[j]![1])]
    if (from <= to) both.push([from, to])
    if (a[i]![1] < b[j]![1]) i++
    else j++
  }
  return both
}

const CODE = 'search_phase_execution_exception'
const REST_OF_ANSWER =
  'while the answer was read, so that its rest would be of another state of the chain: search again'

export const altered = ({ why, from, to }: Pick<Alteration, 'why' | 'from' | 'to'>): ChainsieveError => {
  const blocks = to === Number.MAX_SAFE_INTEGER ? `from block ${from} on` : `in blocks ${from} to ${to}`
  return retry(CODE, `${ALTERATION_TEXTS[why]} ${blocks} ${REST_OF_ANSWER}.`)
}

const ALTERATION_TEXTS: Record<Why, string> = {
  reorganised: 'the chain was reorganised',
  pruned: 'documents were pruned',
  replaced: 'documents were indexed anew',
  decoded: 'documents were decoded anew',
}

/** Throws if the number of hits differs from the one announced in the answer's head. */
export const checkHits = (hits: number, expected: number | undefined): void => {
  if (expected === undefined || hits === expected) return
  throw retry(
    CODE,
    `the chain was reorganised, or documents changed, ${REST_OF_ANSWER}. There were ${expected} hits, of which ${hits} were found.`,
  )
}

/** Number of blocks below the head that are all marked: a usual reorganisation's depth. */
const DENSE_MARKS = 64
/** Hex digits of a hash. */
const HASH_DIGITS = 8
/** Most runs of blocks; beyond that the smallest holes count as stored. */
const MOST_RUNS = 100
/** Blocks stored in the reader's current state. */
export const seenNow = (reader: StoreReader): SeenBlocks => seenOf(runsOfSegments(reader.segments()), reader)
/** Marks these blocks, which ascend, as the reader's current state has them. */
export const seenOf = (blocks: readonly BlockRun[], reader: StoreReader): SeenBlocks => {
  const runs = closeHoles(blocks)
  return { runs, marks: marksOf(runs.at(-1)?.[1] ?? -1, reader) }
}
/** Marks all of the newest stored blocks, and ever fewer of the older ones. */
export const marksOf = (newest: number, reader: StoreReader): BlockMark[] => {
  const hashOf = hashReader(reader)
  const marks: BlockMark[] = []
  for (let depth = 0; depth <= newest; depth = depth < DENSE_MARKS ? depth + 1 : depth * 2) {
    const hash = hashOf(newest - depth)
    if (hash !== undefined) marks.push([newest - depth, hash])
  }
  return marks
}
/**
 * Blocks seen before that are unchanged: all up to the newest unchanged mark. None if no mark is
 * unchanged, since nothing is known below the last mark.
 */
export const stillThere = ({ runs, marks }: SeenBlocks, reader: StoreReader): BlockRun[] => {
  const top = newestSame(marks, reader)
  return runs.flatMap(([from, to]): BlockRun[] => (from > top ? [] : [[from, Math.min(to, top)]]))
}
/** The newest marked block that is unchanged; -1 if none is. */
export const newestSame = (marks: readonly BlockMark[], reader: StoreReader): number => {
  const hashOf = hashReader(reader)
  // All blocks below an unchanged block are unchanged.
  return marks.find(([number, hash]) => hashOf(number) === hash)?.[0] ?? -1
}
const hashReader = (reader: StoreReader): ((number: number) => string | undefined) => {
  const select = reader.prepare('SELECT hash FROM block WHERE number = ?').pluck()
  return number => {
    // Blocks above all segments are never found.
    if (!segmentAt(positionOf(number, 0), reader)) return undefined
    return (select.get(number) as Buffer | undefined)?.toString('hex').slice(0, HASH_DIGITS)
  }
}
/** Merges neighbouring segments into runs of blocks. */
export const runsOfSegments = (segments: readonly Segment[]): BlockRun[] => {
  const runs: [number, number][] = []
  for (const { first, last } of segments) {
    const before = runs.at(-1)
    if (before?.[1] === first - 1) before[1] = last
    else runs.push([first, last])
  }
  return runs
}
const closeHoles = (runs: readonly BlockRun[]): BlockRun[] => {
  if (runs.length <= MOST_RUNS) return [...runs]
  const holes = runs.slice(1).map(([from], i) => from - runs[i]![1])
  const least = holes.toSorted((a, b) => b - a)[MOST_RUNS - 2]!
  const kept: [number, number][] = []
  for (const [i, [from, to]] of runs.entries()) {
    if (i === 0 || (holes[i - 1]! >= least && kept.length < MOST_RUNS)) kept.push([from, to])
    else kept.at(-1)![1] = to
  }
  return kept
}

/** Continuation of a reader that has read everything up to a point. */
export interface Resumed {
  /** The request for what follows, in chain order. */
  request: SearchRequest
  /** First block that changed since the reader saw it; undefined if none did. */
  reorganisedFrom: number | undefined
}
/** Requires a request in chain order. `newest`: newest block with searchable documents. */
export const resumeFrom = (
  asked: SearchRequest,
  point: ResumePoint | 'now',
  reader: StoreReader,
  newest = newestStored(reader),
): Resumed => {
  const kind = asked.parts.at(-1)!.kind
  const end = (block: number): ChainPlace => ({ kind, position: positionOf(block + 1, 0) - 1 })
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
/** The newest block up to which nothing changed since the point was made. */
const topOf = ({ place, marks }: ResumePoint, reader: StoreReader): number => {
  const block = blockOf(place.position)
  // Nothing precedes the first block, so nothing can change there.
  return marks.length === 0 ? Math.min(block, -1) : newestSame(marks, reader)
}
/** Point after a page: its last hit if the page is full, else the newest block. */
export const reached = (
  found: readonly SearchMatch[],
  { size, parts, after }: SearchRequest,
  reader: StoreReader,
  newest = newestStored(reader),
): ResumePoint => {
  const last = found.length === size ? (found.at(-1) ?? after!.place!) : undefined
  const kind: Kind = parts.at(-1)!.kind
  const place: ChainPlace = last
    ? { kind: last.kind, position: last.position }
    : { kind, position: positionOf(newest + 1, 0) - 1 }
  return { place, marks: marksOf(blockOf(place.position), reader) }
}
const newestStored = (reader: StoreReader): number => reader.segments().at(-1)?.last ?? -1
