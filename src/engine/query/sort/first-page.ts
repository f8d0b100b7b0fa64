import type { Limits } from '../../../limits/index.ts'
import type { BlockRun, SearchRequest } from '../../../query/request.ts'
import { blockAt, indexFrom, type SegmentHeader } from '../../index/segment.ts'
import type { ReadHeader, Segment, StoreReader } from '../../reader.ts'
import { blockOf, positionOf } from '../../schema.ts'
import type { Documents } from '../documents.ts'
import {
  type NumberedKind,
  numberedAs,
  ordinalCount,
  ordinalOfPosition,
  ordinalsWithin,
  positionOfOrdinal,
} from '../fields/ordinals.ts'
import type { Evaluation } from '../match/evaluate.ts'
import { and, eachOrdinal, type OrdinalSet, run, takeOrdinals, toArray } from '../match/ordinal-set.ts'
import { segmentsOf } from '../match/segment-matcher.ts'
import { matchMaker, type SearchMatch, type SearchPart } from '../search-match.ts'
import type { SearchAfter } from './search-after.ts'
import { bySortKeys, type SortKeys, sortKeysOf } from './sort.ts'
import { createScale } from './sort-memory.ts'
import { findByKeys, findByScore, isByScore } from './top-n.ts'
/** The first `from + size` hits in sort order. */
export const findBest = (request: SearchRequest, parts: SearchPart[], finding: FindContext): SearchMatch[] => {
  const wanted = request.from + request.size
  if (wanted === 0) return []
  const keys = sortKeysOf(request, finding.reader, finding.exact, parts[0]?.scoring)
  const { scoring } = parts[0] ?? {}
  if (!keys.behind && scoring?.groups && isByScore(request, scoring))
    return findByScore(wanted, keys, scoring, parts, finding)
  if (!keys.chain) return findByKeys(wanted, keys, parts, finding)
  return keys.behind
    ? findBehind(wanted, { keys, behind: keys.behind }, parts, finding)
    : findInChainOrder(wanted, keys, parts, finding)
}

/** Tests each match in the cursor's blocks; all matches in blocks after them count. */
const findBehind = (
  wanted: number,
  { keys, behind }: { keys: SortKeys; behind: SearchAfter },
  parts: SearchPart[],
  finding: FindContext,
): SearchMatch[] => {
  const { here, beyond } = behind.blocks!
  const first = matchesIn(here, parts, finding)
  if (keys.compare) keys.fill(first)
  const found = first.filter(behind.has).sort(bySortKeys(keys)).slice(0, wanted)
  if (found.length === wanted) return found
  return [...found, ...findInChainOrder(wanted - found.length, keys, parts, finding, beyond)]
}

/** All matches in a run of blocks. */
export const matchesIn = (
  blocks: BlockRun,
  parts: SearchPart[],
  { reader }: Pick<FindContext, 'reader'>,
): SearchMatch[] =>
  segmentsOf(parts, reader).flatMap(segment => {
    if (segment.last < blocks[0] || segment.first > blocks[1]) return []
    const header = reader.header(segment)
    return parts.flatMap(({ kind, evaluation }) => {
      reader.check()
      const numbered = numberedAs(kind)
      const set = matchesWithin(evaluation, { segment, header }, numbered, blocks)
      return Array.from(toArray(set), matchMaker(kind, header))
    })
  })

/** Matches of one segment within a run of blocks. */
const matchesWithin = (
  evaluation: Evaluation,
  at: { segment: Segment; header: ReadHeader },
  numbered: NumberedKind,
  [from, to]: BlockRun,
): OrdinalSet => {
  const { segment, header } = at
  if (from <= segment.first && to >= segment.last) return evaluation.matches(segment)
  const within = run(...ordinalsWithin(header, numbered, [from, to]))
  return and(evaluation.matches(segment, within), within, ordinalCount(at, numbered))
}

const EVERYWHERE: BlockRun = [0, Number.POSITIVE_INFINITY]

export interface FindContext {
  exact: Documents
  reader: StoreReader
  limits: Limits
}

const findInChainOrder = (
  wanted: number,
  keys: SortKeys,
  parts: SearchPart[],
  { reader, limits }: FindContext,
  blocks: BlockRun = EVERYWHERE,
): SearchMatch[] => {
  const { descending, compare } = keys
  const segments = descending ? segmentsOf(parts, reader).toReversed() : segmentsOf(parts, reader)
  const found: SearchMatch[] = []
  let before: SegmentHeader | undefined
  for (const segment of segments) {
    if (segment.last < blocks[0] || segment.first > blocks[1]) continue
    reader.check()
    const header = reader.header(segment)
    const enough = found.length >= wanted
    if (enough && !(before && sharesTime(before, header, keys))) break
    before = header
    const here: SearchMatch[] = []
    for (const { kind, evaluation } of parts) {
      const numbered = numberedAs(kind)
      const set = matchesWithin(evaluation, { segment, header }, numbered, blocks)
      const ordinals = enough ? [] : takeOrdinals(set, wanted - found.length, descending)
      const positions = ordinals.map(ordinal => positionOfOrdinal(header, numbered, ordinal))
      const last = enough ? (descending ? segment.last : segment.first) : positions.length && blockOf(positions.at(-1)!)
      if (compare && (enough || positions.length > 0)) {
        // Further keys may reorder blocks of equal time: include all blocks of the last time.
        const [first, end] = keys.byTime ? sameTime(header, last) : [last, last]
        const size = ordinalCount({ segment, header }, numbered)
        const from = ordinalOfPosition(header, numbered, positionOf(first, 0))
        const to = end === segment.last ? size : ordinalOfPosition(header, numbered, positionOf(end + 1, 0))
        const known = new Set(positions)
        eachOrdinal(and(set, run(from, to), size), ordinal => {
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

/** First and last of the neighbouring blocks with the same time. */
const sameTime = (header: SegmentHeader, block: number): [number, number] => {
  const { times } = header
  let from = indexFrom(header, block)
  const time = times[from]
  let to = from
  while (from > 0 && times[from - 1] === time) from--
  while (to + 1 < times.length && times[to + 1] === time) to++
  return [blockAt(header, from), blockAt(header, to)]
}

/** Whether a sort by time must merge two neighbouring segments that share their border time. */
export const sharesTime = (
  before: SegmentHeader,
  { times }: SegmentHeader,
  { byTime, descending }: SortKeys,
): boolean => byTime && (descending ? before.times[0] === times.at(-1) : before.times.at(-1) === times[0])
