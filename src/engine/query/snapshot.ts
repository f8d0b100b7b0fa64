import { type ChainsieveError, retry } from '../../lib/errors.ts'
import type { Kind } from '../../mapping/index.ts'
import type { BlockMark, BlockRun, ChainPlace, ResumePoint, SearchRequest, SeenBlocks } from '../../query/request.ts'
import { type Alteration, readAltered, type Why } from '../alterations.ts'
import type { Segment, StoreReader } from '../reader.ts'
import { blockOf, positionOf } from '../schema.ts'
import { segmentAt } from './fields/ordinals.ts'
import type { SearchMatch } from './search-match.ts'

/**
 * The state of a store that a long answer is of, while its parts are read one after the other. Blocks that come later are left out. Where blocks that are
 * still to be read are altered, the answer cannot go on.
 */
export interface Snapshot {
  runs: readonly BlockRun[]
  /** The serial of the latest alteration. */
  serial: number
  /** How many hits there are; undefined where they were not counted. */
  hits: number | undefined
}

export const takeSnapshot = (reader: StoreReader, hits: number | undefined): Snapshot => ({
  ...{ runs: runsOfSegments(reader.segments()), serial: readAltered(reader.db).serial, hits },
})

/** Alterations since of documents that are asked for. */
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

/** The request for what the snapshot holds: what another one asks for but for blocks that came since. */
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

/** Refuses to end an answer that has another number of hits than its head has. */
export const checkHits = (hits: number, expected: number | undefined): void => {
  if (expected === undefined || hits === expected) return
  throw retry(
    CODE,
    `the chain was reorganised, or documents changed, ${REST_OF_ANSWER}. There were ${expected} hits, of which ${hits} were found.`,
  )
}

/** Neighbouring blocks at the head of which each is marked: as deep as a reorganisation usually goes. */
const DENSE_MARKS = 64
/** Hex digits of a hash. */
const HASH_DIGITS = 8
/** Most runs of blocks; beyond that the smallest holes count as stored. */
const MOST_RUNS = 100
/** The blocks that are stored in the state that the reader sees. */
export const seenNow = (reader: StoreReader): SeenBlocks => seenOf(runsOfSegments(reader.segments()), reader)
/** Blocks, ascending, in the state that the reader sees. */
export const seenOf = (blocks: readonly BlockRun[], reader: StoreReader): SeenBlocks => {
  const runs = closeHoles(blocks)
  return { runs, marks: marksOf(runs.at(-1)?.[1] ?? -1, reader) }
}
/** Every one of the newest blocks, and of older ones ever fewer; what is not stored is left out. */
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
 * What is still stored of the blocks that were seen: all up to the newest that is the same. Below the last of the marks nothing is known, and
 * nothing is said to be the same where none of them is.
 */
export const stillThere = ({ runs, marks }: SeenBlocks, reader: StoreReader): BlockRun[] => {
  const top = newestSame(marks, reader)
  return runs.flatMap(([from, to]): BlockRun[] => (from > top ? [] : [[from, Math.min(to, top)]]))
}
/** The newest of some marked blocks that is stored as it was; -1 where none is. */
export const newestSame = (marks: readonly BlockMark[], reader: StoreReader): number => {
  const hashOf = hashReader(reader)
  // Below a block that is the same all are.
  return marks.find(([number, hash]) => hashOf(number) === hash)?.[0] ?? -1
}
const hashReader = (reader: StoreReader): ((number: number) => string | undefined) => {
  const select = reader.prepare('SELECT hash FROM block WHERE number = ?').pluck()
  return number => {
    // Blocks above all segments are none that can be found.
    if (!segmentAt(positionOf(number, 0), reader)) return undefined
    return (select.get(number) as Buffer | undefined)?.toString('hex').slice(0, HASH_DIGITS)
  }
}
/** Neighbouring blocks of segments as runs. */
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

/** Where a reader goes on that has read all up to a point. */
export interface Resumed {
  /** The request for what comes behind, in the order of the chain. */
  request: SearchRequest
  /** The first block that is another one than the reader has seen; undefined where all are the same. */
  reorganisedFrom: number | undefined
}
/** The request is sorted in the order of the chain. `newest`: the newest block whose documents are found. */
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
/** The newest block up to which all is as it was when the point was made. */
const topOf = ({ place, marks }: ResumePoint, reader: StoreReader): number => {
  const block = blockOf(place.position)
  // Before the first block nothing can change.
  return marks.length === 0 ? Math.min(block, -1) : newestSame(marks, reader)
}
/** How far a reader has come with these hits: behind the last of them, or with all that is stored where there are no more. */
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
