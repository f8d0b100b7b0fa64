import { KINDS, type Kind } from '../../../mapping/index.ts'
import { compareValues } from '../../../query/ast.ts'
import type { After, SearchRequest, SortSpec } from '../../../query/request.ts'
import type { Segment, StoreReader } from '../../reader.ts'
import { blockOf } from '../../schema.ts'
import type { Documents } from '../documents.ts'
import { INEXACT } from '../fields/field-values.ts'
import { numberedAs, ordinalOfPosition, segmentAt } from '../fields/ordinals.ts'
import type { SearchScoring } from '../scores/scoring.ts'
import { comparePlaces, isByPlace, type MatchKey, type SearchMatch } from '../search-match.ts'
import { createBehindKeys, createBehindPlace, NOTHING_BEHIND, type SearchAfter } from './search-after.ts'
import { BLOCK_NUMBERS, type KeyColumn, type KeyReader, keyReader } from './sort-keys.ts'

export interface SortKeys {
  /** Whether the order is that of the chain, except possibly within a block. */
  chain: boolean
  /** Whether the first key is the time, which blocks may share. */
  byTime: boolean
  descending: boolean
  /** Compares by keys; undefined where positions alone decide. */
  compare: ((a: SearchMatch, b: SearchMatch) => number) | undefined
  /** Reads the keys of matches; `segment` if all are in one. */
  fill(found: readonly SearchMatch[], segment?: Segment): void
  /** The column of the first key, if one holds it as a number. */
  column(kind: Kind): KeyColumn | undefined
  /** The first sort, which columns can order by. */
  first: SortSpec | undefined
  /** Whether it is the only sort, with positions to break ties. */
  single: boolean
  /** Start of the page. */
  behind: SearchAfter | undefined
}

const CHAIN_FIELDS = new Set([...BLOCK_NUMBERS, 'timestamp'])

/** Requires the field in each kind, since all documents of a kind without it sort first or last. */
const followsChain = ({ by, fields, nested }: SortSpec, parts: SortOrder['parts']): boolean =>
  isByPlace({ by }) ||
  (by === 'field' && !nested && parts.every(({ kind }) => CHAIN_FIELDS.has(fields[kind]?.path ?? '')))

/**
 * Drops sorts without effect: by scores that are all equal, by a field that no kind has,
 * or by a field that an earlier sort has.
 */
const effective = (sort: readonly SortSpec[], isScored: boolean): SortSpec[] => {
  const seen = new Set<string>()
  return sort.filter(one => {
    const { by, fields, mode, nested, as, missing } = one
    if (by === '_score' ? !isScored : by === 'field' && Object.keys(fields).length === 0) return false
    if (nested || typeof missing !== 'string') return true
    const key = [...KINDS.map(kind => fields[kind]?.path ?? by), mode, as].join()
    return !seen.has(key) && seen.add(key)
  })
}

export type SortOrder = Pick<SearchRequest, 'sort' | 'parts' | 'after' | 'tiebreak'>

/** Sort keys with the values of the cursor. */
interface EffectiveKeys {
  sorts: SortSpec[]
  after: After | undefined
}

/** For equal scores. Above 0: all hits follow the cursor; below 0: none do. */
const uniformScoreSide = ({ sort: [first], after }: SortOrder, uniform = 1): number => {
  if (!after || first?.by !== '_score') return 0
  const above = Math.fround(Number(after.values[0] ?? uniform)) - Math.fround(uniform)
  return first.order === 'desc' ? above : -above
}

/** Sorts with an effect, and their values in the cursor. */
const effectiveKeys = ({ sort, after }: SortOrder, isScored: boolean): EffectiveKeys => {
  const sorts = effective(sort, isScored)
  return { sorts, after: after && { ...after, values: sorts.map(one => after.values[sort.indexOf(one)]!) } }
}

/** Sorts that may have an effect, before scores are computed. */
const expected = ({ sort, parts }: SortOrder): SortSpec[] =>
  effective(
    sort,
    parts.some(({ score }) => score !== undefined),
  )

/** False where scores decide, since these require all matches. */
export const isChainOrder = (order: SortOrder): boolean => {
  const sorts = expected(order)
  const [first] = sorts
  return first === undefined || (followsChain(first, order.parts) && !sorts.some(({ by }) => by === '_score'))
}

/** Whether ties are broken by newest first. */
export const isNewestFirst = (order: SortOrder): boolean => isDescending(expected(order))

/** Without a sort, the newest comes first. */
const isDescending = ([first]: readonly SortSpec[]): boolean => first === undefined || first.order === 'desc'

export const sortKeysOf = (
  request: SortOrder,
  reader: StoreReader,
  documents: Documents,
  scoring?: SearchScoring,
): SortKeys => {
  const { parts } = request
  const isScored = scoring !== undefined && scoring.uniform === undefined
  const side = isScored ? 0 : uniformScoreSide(request, scoring?.uniform)
  const { sorts, after } = effectiveKeys(side > 0 ? { ...request, after: undefined } : request, isScored)
  const first = sorts[0]
  const descending = isDescending(sorts)
  const column = () => undefined
  // A single key that follows the chain, or one that others cannot refine, is the position.
  if (first === undefined || isByPlace(first) || (sorts.length === 1 && followsChain(first, parts)))
    return {
      ...{ chain: true, byTime: false, descending, compare: undefined, fill: () => {}, column, first, single: true },
      behind: side < 0 ? NOTHING_BEHIND : after && createBehindPlace({ after, first, order: request, reader }),
    }
  const kinds = parts.map(({ kind }) => kind)
  const isChain = followsChain(first, parts)
  // Coins that are equal may hide different integers: `search_after` could not continue after one.
  const isWhole = !request.after && !request.tiebreak
  const readers = new Map(
    KINDS.map((kind): [Kind, KeyReader[]] => [
      kind,
      sorts.map((sort, i) =>
        keyReader(kind, sort, { reader, documents, scoring, last: isWhole && i === sorts.length - 1, kinds }),
      ),
    ]),
  )
  /** Compares integers whose keys are the same double. */
  const compareExactly = (a: SearchMatch, b: SearchMatch, i: number): number => {
    const [left, right] = [a, b].map(({ kind, position }) => readers.get(kind)![i]!.exact?.(position))
    return left === undefined || right === undefined ? 0 : compareKeys(left, right, sorts[i]!)
  }
  return {
    behind:
      side < 0
        ? NOTHING_BEHIND
        : after &&
          createBehindKeys({ after, sorts, order: request, readers, reader, compareKeys, descending, isChain }),
    chain: isChain,
    byTime: isChain && Object.values(first.fields).some(({ field }) => field === 'timestamp'),
    descending,
    first,
    single: sorts.length === 1,
    column: kind => readers.get(kind)![0]!.column,
    compare: (a, b) => {
      for (let i = 0; i < sorts.length; i++) {
        const [left, right] = [a.keys[i] ?? null, b.keys[i] ?? null]
        const difference =
          compareKeys(left, right, sorts[i]!) || (isDoubtful(left) && isDoubtful(right) ? compareExactly(a, b, i) : 0)
        if (difference !== 0) return difference
      }
      return 0
    },
    fill(found, segment) {
      for (const [kind, some] of Map.groupBy(found, ({ kind }) => kind))
        for (const [at, here] of segment ? [[segment, some] as const] : matchesBySegment(some, reader))
          readKeys(here, at, readers.get(kind)!, reader)
    },
  }
}

/** A number that may stand for several integers. */
const isDoubtful = (key: MatchKey | null): boolean => typeof key === 'number' && key >= INEXACT

const matchesBySegment = (found: readonly SearchMatch[], reader: StoreReader): Map<Segment, SearchMatch[]> => {
  const groups = new Map<Segment, SearchMatch[]>()
  let segment: Segment | undefined
  for (const one of found) {
    const block = blockOf(one.position)
    if (!segment || block < segment.first || block > segment.last) segment = segmentAt(one.position, reader)!
    const group = groups.get(segment)
    if (group) group.push(one)
    else groups.set(segment, [one])
  }
  return groups
}

/** Number of keys read between two checks, less one. */
const READ_CHUNK_MASK = 0xf

const readKeys = (
  found: readonly SearchMatch[],
  segment: Segment,
  readers: readonly KeyReader[],
  reader: StoreReader,
) => {
  const header = reader.header(segment)
  const reads = readers.map(keys => keys.in(segment))
  for (const [i, { kind, position, keys }] of found.entries()) {
    if ((i & READ_CHUNK_MASK) === 0) reader.check()
    const ordinal = ordinalOfPosition(header, numberedAs(kind), position)
    for (const read of reads) keys.push(read(ordinal, position))
  }
}

export const bySortKeys =
  ({ compare, descending }: Pick<SortKeys, 'compare' | 'descending'>) =>
  (a: SearchMatch, b: SearchMatch): number =>
    compare?.(a, b) || comparePlaces(a, b, descending)

export const compareKeys = (a: MatchKey | null, b: MatchKey | null, { order, missing }: SortSpec): number => {
  if (a === null || b === null) return a === b ? 0 : (a === null) === (missing === '_first') ? -1 : 1
  const difference = compareValues(a, b)
  return order === 'desc' ? -difference : difference
}
