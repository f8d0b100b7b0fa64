import { shardDoc, sortShowing } from '../../engine/query/sort/sort-values.ts'
import { KINDS, type Kind } from '../../mapping/index.ts'
import type { QueryValue } from '../../query/ast.ts'
import { hasImplicitKey, numberOfPlace, placeOfNumber } from '../../query/hits/paging.ts'
import { standsForMissing } from '../../query/hits/sort-value.ts'
import type { After, ChainPlace, SearchRequest, SortSpec } from '../../query/request.ts'
import { asFloat } from '../../query/statistics.ts'
import { META_FIELDS } from '../indices/names.ts'
import type { Dsl } from './dsl.ts'
import type { Joins } from './node.ts'
import { type SortKey, sortKeyOf } from './sort-key.ts'

/** Order of hits: the keys of the request, then the place in the chain. */
export interface SortPlan {
  sort: Dsl[]
  /** Undefined if the search starts at the first hit. */
  after: unknown[] | undefined
  /** Whether no hit can follow the previous page. */
  isOver: boolean
  /** Parses a hit's `sort` from the cluster's answer. Longs beyond 2^53 must be bigints. */
  read(sort: readonly unknown[]): SortedHit
}

export interface SortedHit {
  place: ChainPlace
  /** One per sort of the request; null if the hit has no value. */
  values: (QueryValue | null)[]
  /** `sort` as the hit shows it. */
  shown: unknown[]
}

type Ordered = Pick<SearchRequest, 'sort' | 'parts' | 'after' | 'tiebreak'>
type Order = SortSpec['order']

/** `uniform`: common score of all hits, if they have one. */
export const planSort = (request: Ordered, uniform: number | undefined, joins: Joins): SortPlan => {
  const { sort, parts, tiebreak, after } = request
  const kinds = parts.map(({ kind }) => kind)
  const used = sort.flatMap((one, at) => (orders(one, uniform) ? [at] : []))
  const first = used.length > 0 ? sort[used[0]!] : undefined
  const order = first?.order ?? 'desc'
  // A place is unique: keys after it do not affect the order, and are only shown.
  const isByPlace = first !== undefined && isPlace(first)
  const placed = isByPlace ? used[0]! : used.find(at => sort[at]!.by === '_shard_doc')
  const rest = used.filter(at => at !== placed && !(isByPlace && isPlace(sort[at]!)) && sort[at]!.by !== '_shard_doc')
  /** Number of keys before the place. */
  const split = placed === undefined ? rest.length : rest.filter(at => at < placed).length
  const placeOrder = placed === undefined ? order : sort[placed]!.order
  const keys = rest.map(at => ({ at, ...sortKeyOf(sort[at]!, kinds, joins) }))
  const side = scoreSide(request, uniform)
  const begun = after && side === 0 ? after : undefined
  const around = <T>(own: readonly T[], places: readonly T[]): T[] => own.toSpliced(split, 0, ...places)
  const read = readerOf(sort, { keys, split, uniform, kinds, isImplicit: hasImplicitKey(sort, tiebreak) })
  return {
    sort: around<Dsl>(
      keys.map(({ dsl }) => dsl),
      [{ [META_FIELDS.position]: placeOrder }, { [META_FIELDS.kind]: placeOrder }],
    ),
    isOver: side < 0 || (begun !== undefined && keys.length === 0 && placed === undefined && !begun.place),
    after:
      begun &&
      around(
        keys.map(({ at, write }) => write(begun.values[at] ?? null)),
        placed === undefined
          ? placedAt(begun.place, order)
          : placedBy(begun, sort[placed]!, begun.values[placed], kinds),
      ),
    read,
  }
}

const isPlace = ({ by }: SortSpec): boolean => by === '_doc' || by === '_shard_doc'

/** Whether a key affects the order: neither a common score nor a field that no kind has does. */
const orders = ({ by, fields }: SortSpec, uniform: number | undefined): boolean =>
  by === '_score' ? uniform === undefined : by !== 'field' || Object.keys(fields).length > 0

/** With a common score: above 0 if all hits follow the previous page, below 0 if none does. */
const scoreSide = ({ sort: [first], after }: Ordered, uniform: number | undefined): number => {
  if (uniform === undefined || !after || first?.by !== '_score') return 0
  const above = Math.fround(Number(after.values[0] ?? uniform)) - Math.fround(uniform)
  return first.order === 'desc' ? above : -above
}

/** Without a place, skips all hits with equal sort values. */
const placedAt = (place: ChainPlace | undefined, order: Order): unknown[] =>
  place ? [place.position, KINDS.indexOf(place.kind)] : [endOf(order), lastKind(order)]

const placedBy = (
  { place }: After,
  { by, order }: SortSpec,
  value: QueryValue | null | undefined,
  kinds: readonly Kind[],
): unknown[] => {
  if (value === null || value === undefined) return placedAt(place, order)
  if (by === '_shard_doc') return placedAt(placeOfNumber(BigInt(value), kinds), order)
  const position = Number(value)
  return place?.position === position ? placedAt(place, order) : [position, lastKind(order)]
}

const endOf = (order: Order): number => (order === 'desc' ? -1 : Number.MAX_SAFE_INTEGER)
const lastKind = (order: Order): number => (order === 'desc' ? -1 : KINDS.length)

interface SortReading {
  split: number
  keys: readonly (SortKey & { at: number })[]
  uniform: number | undefined
  kinds: readonly Kind[]
  isImplicit: boolean
}

const readerOf = (
  sort: readonly SortSpec[],
  { keys, split, uniform = 1, kinds, isImplicit }: SortReading,
): SortPlan['read'] => {
  const shows = sort.map(sortShowing)
  return found => {
    const [position, kind] = found.slice(split, split + 2).map(Number) as [number, number]
    const place = { kind: KINDS[kind]!, position }
    const values: (QueryValue | undefined)[] = sort.map(({ by }) => {
      if (by === '_score') return asFloat(uniform)
      if (by === '_doc') return position
      return by === '_shard_doc' ? numberOfPlace(place, kinds) : undefined
    })
    for (const [i, { at, read }] of keys.entries()) values[at] = read(found[i < split ? i : i + 2])
    const shown = values.map((value, i) => (sort[i]!.by === '_shard_doc' ? shardDoc(place, kinds) : shows[i]!(value)))
    if (isImplicit) shown.push(shardDoc(place, kinds))
    return {
      place,
      values: values.map((value, i) => (value === undefined || standsForMissing(value, sort[i]!) ? null : value)),
      shown,
    }
  }
}
