import { KINDS, type Kind } from '../../../mapping/index.ts'
import type { Collapse, SearchRequest } from '../../../query/request.ts'
import type { Segment } from '../../reader.ts'
import { INEXACT } from '../fields/field-values.ts'
import { numberedAs, ordinalOfPosition } from '../fields/ordinals.ts'
import { toArray } from '../match/ordinal-set.ts'
import { segmentsOf } from '../match/segment-matcher.ts'
import { type MatchKey, matchMaker, type SearchMatch, type SearchPart } from '../search-match.ts'
import type { FindContext } from './first-page.ts'
import { bySortKeys, type SortKeys, sortKeysOf } from './sort.ts'
import { keyReader } from './sort-keys.ts'
import { createScale } from './sort-memory.ts'

/** Matches whose keys are read in one batch. */
const COLLAPSE_CHUNK = 125

/** First `from + size` hits in sort order, one per field value; missing values form one group. */
export const findCollapsed = (request: SearchRequest, parts: SearchPart[], finding: FindContext): SearchMatch[] => {
  const wanted = request.from + request.size
  if (wanted === 0) return []
  const { reader, exact, limits } = finding
  const keys = sortKeysOf(request, reader, exact, parts[0]?.scoring)
  const order = bySortKeys(keys)
  const groupOf = groupReader(request.collapse!, finding)
  const groups = new Map<MatchKey | null, SearchMatch>()
  const scale = createScale(limits)
  // In chain order a group's first match is its best.
  const isChain = keys.chain && !keys.compare
  const take = (found: readonly SearchMatch[], segment: Segment) => {
    reader.check()
    if (keys.compare) keys.fill(found, segment)
    for (const one of found) {
      if (keys.behind && !keys.behind.has(one)) continue
      const group = groupOf(one, segment)
      const best = groups.get(group)
      if (best && order(one, best) >= 0) continue
      if (!best) scale.add([one])
      groups.set(group, one)
    }
  }
  const segments = segmentsOf(parts, reader)
  for (const segment of keys.descending ? segments.toReversed() : segments) {
    const found = isChain ? inChainOrder(segment, parts, keys, finding) : matchesOf(segment, parts, finding)
    for (const some of found) {
      take(some, segment)
      if (isChain && groups.size >= wanted) break
    }
    if (isChain && groups.size >= wanted) break
  }
  return [...groups.values()].sort(order).slice(0, wanted)
}

/** Batches of matches, kind by kind. */
function* matchesOf(
  segment: Segment,
  parts: SearchPart[],
  { reader }: FindContext,
  descending = false,
): Generator<SearchMatch[]> {
  const header = reader.header(segment)
  for (const { kind, evaluation } of parts) {
    reader.check()
    const ordinals = toArray(evaluation.matches(segment))
    const toFound = matchMaker(kind, header)
    const chunks = Math.ceil(ordinals.length / COLLAPSE_CHUNK)
    for (let i = 0; i < chunks; i++) {
      const at = (descending ? chunks - 1 - i : i) * COLLAPSE_CHUNK
      const some = Array.from(ordinals.subarray(at, at + COLLAPSE_CHUNK), toFound)
      yield descending ? some.reverse() : some
    }
  }
}

function* inChainOrder(
  segment: Segment,
  parts: SearchPart[],
  keys: Pick<SortKeys, 'compare' | 'descending'>,
  finding: FindContext,
): Generator<SearchMatch[]> {
  if (parts.length === 1) return yield* matchesOf(segment, parts, finding, keys.descending)
  const all = [...matchesOf(segment, parts, finding)].flat().sort(bySortKeys(keys))
  for (let at = 0; at < all.length; at += COLLAPSE_CHUNK) yield all.slice(at, at + COLLAPSE_CHUNK)
}

/** Reads the value that groups a match. */
const groupReader = (
  { fields }: Collapse,
  { reader, exact }: FindContext,
): ((found: SearchMatch, segment: Segment) => MatchKey | null) => {
  const readers = new Map(
    KINDS.map(kind => {
      const by = { by: 'field', fields, order: 'asc', missing: '_last' } as const
      return [kind, keyReader(kind, by, { reader, documents: exact, last: false, apart: true, kinds: KINDS })]
    }),
  )
  let at: Segment | undefined
  let reads = new Map<Kind, (found: SearchMatch) => MatchKey | null>()
  const readerIn = (kind: Kind, segment: Segment) => {
    const { in: inSegment, exact: exactly } = readers.get(kind)!
    const read = inSegment(segment)
    const header = reader.header(segment)
    return ({ position }: SearchMatch): MatchKey | null => {
      const key = read(ordinalOfPosition(header, numberedAs(kind), position), position)
      if (typeof key === 'bigint') return key < INEXACT ? Number(key) : key
      return typeof key === 'number' && key >= INEXACT && exactly ? exactly(position) : key
    }
  }
  return (found, segment) => {
    if (segment !== at) {
      at = segment
      reads = new Map()
    }
    let read = reads.get(found.kind)
    if (!read) {
      read = readerIn(found.kind, segment)
      reads.set(found.kind, read)
    }
    return read(found)
  }
}
