import type { Limits } from '../../limits/index.ts'
import type { Kind } from '../../mapping/index.ts'
import type { SearchRequest } from '../../query/request.ts'
import type { SegmentHeader } from '../index/segment.ts'
import type { Reader } from '../reader.ts'
import { blockOf, positionOf } from '../schema.ts'
import type { Documents } from './documents.ts'
import type { Evaluation } from './evaluate.ts'
import { createScale } from './held.ts'
import { numberedAs, ordinalOfPosition, positionOfOrdinal, sizeOf } from './places.ts'
import { findByScore, isByScore } from './score/first.ts'
import type { Scoring } from './score/scoring.ts'
import { and, each, run, some } from './sets.ts'
import { bySortKeys, type Found, type SortKeys, sortKeysOf } from './sort.ts'
import { findByKeys } from './top.ts'

/** What a query finds of one kind. */
export interface Part {
  kind: Kind
  evaluation: Evaluation
  /** The same for all parts of a search; undefined where every hit scores 1. */
  scoring?: Scoring | undefined
}

/** The first `from + size` hits in the order that is asked for. */
export const findBest = (request: SearchRequest, parts: Part[], finding: Finding): Found[] => {
  const wanted = request.from + request.size
  if (wanted === 0) return []
  const keys = sortKeysOf(request, finding.reader, finding.exact, parts[0]?.scoring)
  const { scoring } = parts[0] ?? {}
  if (scoring?.groups && isByScore(request, scoring)) return findByScore(wanted, keys, scoring, parts, finding)
  return keys.chain ? findInChainOrder(wanted, keys, parts, finding) : findByKeys(wanted, keys, parts, finding)
}

export interface Finding {
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
export const sharesTime = (
  before: SegmentHeader,
  { times }: SegmentHeader,
  { byTime, descending }: SortKeys,
): boolean => byTime && (descending ? before.times[0] === times.at(-1) : before.times.at(-1) === times[0])
