import type { Document } from '../../documents/document.ts'
import { asJson, long } from '../../documents/show.ts'
import { type FieldPath, KINDS, type Kind } from '../../mapping/index.ts'
import { compareValues, type Value } from '../../query/ast.ts'
import { valuesOf } from '../../query/predicate.ts'
import type { SearchRequest, Sort } from '../../query/request.ts'
import type { Reader, Segment } from '../reader.ts'
import { blockOf } from '../schema.ts'
import { sortExpression } from './conditions.ts'
import type { Documents } from './documents.ts'
import { stretches } from './places.ts'

/** A match on its way to become a hit. */
export interface Found {
  kind: Kind
  position: number
  /** What it is sorted by, beside its position. */
  keys: (Key | null)[]
}

type Key = number | bigint | string | Buffer | boolean

export interface SortKeys {
  /** Whether the order is that of the chain, perhaps with another one within each block. */
  chain: boolean
  /** Whether the first key is the time, which several blocks may share. */
  byTime: boolean
  descending: boolean
  /** Compares by keys, where positions do not say it all. */
  compare: ((a: Found, b: Found) => number) | undefined
  /** Reads the keys of matches, of one segment where it is named. */
  fill(found: Found[], segment?: Segment): void
}

/** Fields that follow the chain. */
const BLOCK_NUMBERS = new Set(['number.num', 'blockNumber.num', 'firstSeen.num'])
const CHAIN_FIELDS = new Set([...BLOCK_NUMBERS, 'timestamp'])

/** Where one of the kinds does not have the field, all of its documents come first or last. */
const followsChain = ({ by, fields }: Sort, parts: Order['parts']): boolean =>
  by === '_doc' || (by === 'field' && parts.every(({ kind }) => CHAIN_FIELDS.has(fields[kind]?.path ?? '')))

/**
 * Scores are all the same, and so is a field that no kind has: sorting by them orders nothing. Nor does sorting once more by what was
 * sorted by before.
 */
const effective = (sort: readonly Sort[]): Sort[] => {
  const seen = new Set<string>()
  return sort.filter(({ by, fields }) => {
    if (by !== '_doc' && Object.keys(fields).length === 0) return false
    const key = KINDS.map(kind => fields[kind]?.path ?? by).join()
    return !seen.has(key) && seen.add(key)
  })
}

export type Order = Pick<SearchRequest, 'sort' | 'parts'>

export const isChainOrder = ({ sort, parts }: Order): boolean => {
  const [first] = effective(sort)
  return first === undefined || followsChain(first, parts)
}

/** Without a sort, the newest comes first. */
export const sortKeysOf = ({ sort, parts }: Order, reader: Reader, documents: Documents): SortKeys => {
  const sorts = effective(sort)
  const first = sorts[0]
  const descending = first === undefined || first.order === 'desc'
  // One key that follows the chain, or one that no other can refine, is the position itself.
  if (first === undefined || first.by === '_doc' || (sorts.length === 1 && followsChain(first, parts)))
    return { chain: true, byTime: false, descending, compare: undefined, fill: () => {} }
  return {
    chain: followsChain(first, parts),
    byTime: followsChain(first, parts) && Object.values(first.fields).some(({ field }) => field === 'timestamp'),
    descending,
    compare: (a, b) => {
      for (let i = 0; i < sorts.length; i++) {
        const difference = compareKeys(a.keys[i] ?? null, b.keys[i] ?? null, sorts[i]!)
        if (difference !== 0) return difference
      }
      return 0
    },
    fill(found, segment) {
      for (const [kind, some] of Map.groupBy(found, ({ kind }) => kind))
        for (const [i, sort] of sorts.entries())
          readKeys(kind, sort, some, { reader, documents, segment, last: i === sorts.length - 1 })
    },
  }
}

export const bySortKeys =
  ({ compare, descending }: SortKeys) =>
  (a: Found, b: Found): number =>
    compare?.(a, b) ||
    (descending ? -1 : 1) * (a.position - b.position || KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind))

/** What a hit's `sort` shows, as Elasticsearch writes it: dates in milliseconds, and a stand-in for what is missing. */
export const sortValues = (sort: readonly Sort[], { kind, position }: Found, documents: Documents): unknown[] => {
  let document: Document | undefined
  return sort.map(({ by, fields, order }) => {
    if (by === '_score') return 1
    if (by === '_doc') return position
    const field = fields[kind]
    if (field && BLOCK_NUMBERS.has(field.path)) return blockOf(position)
    document ??= documents.load(kind, [position])[0]
    const value = field && document ? extreme(valuesOf(field, document._source), order) : undefined
    if (value === undefined) return missingValue(field ?? Object.values(fields)[0], order)
    return typeof value === 'bigint' ? long(value, asJson) : value
  })
}

/** Of several values the least counts in ascending order, the greatest in descending order. */
const extreme = (values: readonly Value[], order: Sort['order']): Value | undefined =>
  values.reduce<Value | undefined>((best, value) => {
    if (best === undefined) return value
    return compareValues(value, best) < 0 === (order === 'asc') ? value : best
  }, undefined)

const missingValue = (field: FieldPath | undefined, order: Sort['order']): unknown => {
  const last = order === 'asc'
  switch (field?.compare) {
    case 'long':
    case 'instant':
      return asJson(last ? 2n ** 63n - 1n : -(2n ** 63n))
    case 'double':
      return last ? 'Infinity' : '-Infinity'
    default:
      return null
  }
}

const compareKeys = (a: Key | null, b: Key | null, { order, missing }: Sort): number => {
  if (a === null || b === null) return a === b ? 0 : (a === null) === (missing === '_first') ? -1 : 1
  const difference =
    Buffer.isBuffer(a) || Buffer.isBuffer(b)
      ? // Stored integers: those beyond 2^53 are blobs, and the greater ones.
        Buffer.isBuffer(a) && Buffer.isBuffer(b)
        ? Buffer.compare(a, b)
        : Buffer.isBuffer(a)
          ? 1
          : -1
      : compareValues(a, b)
  return order === 'desc' ? -difference : difference
}

interface Reading {
  reader: Reader
  documents: Documents
  segment: Segment | undefined
  /** Whether no other key decides between equal ones. */
  last: boolean
}

/** From so many matches on in one segment, all its keys are read by one scan. */
const SCAN = 2000

const readKeys = (
  kind: Kind,
  { by, fields, order }: Sort,
  found: Found[],
  { reader, documents, segment, last }: Reading,
) => {
  const push = (keyOf: (position: number) => Key | null) => {
    for (const one of found) {
      reader.check()
      one.keys.push(keyOf(one.position))
    }
  }
  const field = fields[kind]
  if (by === '_doc') return push(position => position)
  if (!field) return push(() => null)
  if (BLOCK_NUMBERS.has(field.path)) return push(blockOf)
  if (field.field === 'timestamp') {
    return push(position => reader.records.block(blockOf(position))!.time)
  }
  const column = sortExpression(kind, field, last)
  if (!column) {
    return push(position => {
      const [document] = documents.load(kind, [position])
      return (document && extreme(valuesOf(field, document._source), order)) ?? null
    })
  }
  const { table, expression } = column
  if (segment && found.length > SCAN) {
    const select = reader.prepare(`SELECT pos, ${expression} FROM "${table}" WHERE pos BETWEEN ? AND ?`).raw()
    const keys = new Map<number, Key | null>()
    for (const [from, to] of stretches(segment, Math.max(segment.txs, segment.logs, segment.traces, segment.calls))) {
      reader.check()
      for (const [position, key] of select.all(from, to) as [number, Key | null][]) keys.set(position, key)
    }
    return push(position => keys.get(position) ?? null)
  }
  const probe = reader.prepare(`SELECT ${expression} FROM "${table}" WHERE pos = ?`).pluck()
  push(position => (probe.get(position) ?? null) as Key | null)
}
