import type { Kind } from '../../mapping/index.ts'
import type { Reader, Segment } from '../reader.ts'
import { blockOf, positionOf } from '../schema.ts'
import type { Part, Place } from './part.ts'
import { endOf, type Numbered, numberedAs, ordinalOfPosition, positionOfOrdinal, sizeOf } from './places.ts'
import { createRelatives, type Inside, NO_TRANSACTION } from './relatives.ts'
import { and, collected, count, EMPTY, each, isEmpty, listed, type OrdinalSet, or, run } from './sets.ts'

/** How the documents of one kind lie in those of another, within a segment: parents and children share their block. */
interface Link {
  /** The parent of each of the children in their order, `NO_PARENT` where it is of another kind. */
  up(at: Place, children: OrdinalSet): Uint32Array
  down(at: Place, parents: OrdinalSet): OrdinalSet
}

const NO_PARENT = NO_TRANSACTION

/** The documents of the other kind that fulfil the inner query, among the candidates at least. */
type Related = (segment: Segment, within: OrdinalSet | undefined) => OrdinalSet

export interface JoinOptions {
  /** The kind on the other side. */
  kind: Kind
  related: Related
  numbered: Numbered
  reader: Reader
}

/** Candidates that are this much fewer than what they are of are followed one by one: then no more is looked at than they have. */
const FEW = 50
const ifFew = (within: OrdinalSet | undefined, { size }: Place): OrdinalSet | undefined =>
  within && count(within) * FEW < size ? within : undefined

/** From `min` to `max` children fulfil the inner query. */
export const byChildren = (
  { kind, related, numbered, reader }: JoinOptions,
  { min, max }: { min: number; max: number },
): Part => {
  const child = numberedAs(kind)
  const link = linkOf(child, numbered, reader)
  return {
    matches(at, within) {
      const some = ifFew(within, at)
      const candidates = some && link.down(at, some)
      if (candidates && isEmpty(candidates)) return EMPTY
      const found = related(at.segment, candidates)
      const children = candidates ? and(found, candidates, sizeOf(at, child)) : found
      if (isEmpty(children)) return EMPTY
      const parents = link.up(at, children)
      if (min === 1 && max === Number.POSITIVE_INFINITY)
        return collected(
          parents.filter(parent => parent !== NO_PARENT),
          at.size,
        )
      const counts = new Uint32Array(at.size)
      for (const parent of parents) if (parent !== NO_PARENT) counts[parent]!++
      return collected(
        parents.filter(parent => parent !== NO_PARENT && counts[parent]! >= min && counts[parent]! <= max),
        at.size,
      )
    },
  }
}

/** The parent fulfils the inner query. */
export const byParent = ({ kind, related, numbered, reader }: JoinOptions): Part => {
  const parent = numberedAs(kind)
  const link = linkOf(numbered, parent, reader)
  return {
    matches(at, within) {
      const candidates = ifFew(within, at)
      if (!candidates) return link.down(at, related(at.segment, undefined))
      const size = sizeOf(at, parent)
      const parents = link.up(at, candidates)
      const possible = collected(
        parents.filter(ordinal => ordinal !== NO_PARENT),
        size,
      )
      if (isEmpty(possible)) return EMPTY
      const flags = flagsOf(related(at.segment, possible), size)
      const found: number[] = []
      let i = 0
      each(candidates, ordinal => {
        if (flags[parents[i++]!]) found.push(ordinal)
      })
      return listed(Uint32Array.from(found))
    },
  }
}

const flagsOf = (set: OrdinalSet, size: number): Uint8Array => {
  const flags = new Uint8Array(size)
  each(set, ordinal => {
    flags[ordinal] = 1
  })
  return flags
}

const linkOf = (child: Numbered, parent: Numbered, reader: Reader): Link =>
  parent === 'block' ? toBlock(child) : toTransaction(child as Inside, reader)

/** The segment's header tells where the documents of each block end. */
const toBlock = (child: Numbered): Link => ({
  up({ header }, children) {
    const parents = new Uint32Array(count(children))
    let i = 0
    let index = 0
    each(children, ordinal => {
      while (endOf(header, child, index) <= ordinal) index++
      parents[i++] = index
    })
    return parents
  },
  down(at, blocks) {
    const { header } = at
    const runs: OrdinalSet[] = []
    let from = 0
    let to = -1
    const close = () => runs.push(run(endOf(header, child, from - 1), endOf(header, child, to)))
    each(blocks, index => {
      if (index !== to + 1) {
        if (to >= from) close()
        from = index
      }
      to = index
    })
    if (to >= from) close()
    return or(runs, sizeOf(at, child))
  },
})

const toTransaction = (child: Inside, reader: Reader): Link => {
  const { txOf, inside, transactions } = createRelatives(child, reader)
  const cache = cacheOf(reader)[child]
  const all = ({ segment, header }: Place): Uint32Array =>
    cache.get(segment.id) ?? cache.set(segment.id, transactions(segment, header))
  /** Whether it takes less time to look each of these up, at the cost of so many rows, than to read the whole segment once. */
  const isLess = (set: OrdinalSet, at: Place, rows: number) =>
    !cache.has(at.segment.id) && count(set) * rows < sizeOf(at, child)

  return {
    up(at, children) {
      const { header } = at
      const parents = new Uint32Array(count(children))
      let i = 0
      if (isLess(children, at, PROBE))
        each(children, ordinal => {
          const position = positionOfOrdinal(header, child, ordinal)
          const place = txOf(position)
          parents[i++] =
            place === undefined ? NO_PARENT : ordinalOfPosition(header, 'tx', positionOf(blockOf(position), place))
        })
      else {
        const transactions = all(at)
        each(children, ordinal => {
          parents[i++] = transactions[ordinal]!
        })
      }
      return parents
    },
    down(at, parents) {
      if (isEmpty(parents)) return EMPTY
      const { header } = at
      const size = sizeOf(at, child)
      if (isLess(parents, at, Math.ceil(size / header.times.length))) {
        const runs: OrdinalSet[] = []
        each(parents, ordinal => runs.push(inside(header, positionOfOrdinal(header, 'tx', ordinal))))
        return or(runs, size)
      }
      const transactions = all(at)
      const flags = flagsOf(parents, sizeOf(at, 'tx'))
      const found = new Uint32Array(size)
      let length = 0
      for (let ordinal = 0; ordinal < size; ordinal++) if (flags[transactions[ordinal]!]) found[length++] = ordinal
      return collected(found.subarray(0, length), size)
    },
  }
}

/** One row looked up costs as much as this many rows that are read one after the other. */
const PROBE = 10

/** What was read of a store's segments, whose rows never change. */
interface Cache {
  has(segment: number): boolean
  get(segment: number): Uint32Array | undefined
  set(segment: number, ordinals: Uint32Array): Uint32Array
}

const caches = new WeakMap<Reader, Record<Inside, Cache>>()
const cacheOf = (reader: Reader): Record<Inside, Cache> => {
  let cache = caches.get(reader)
  if (!cache) {
    cache = { log: createCache(), trace: createCache(), call: createCache() }
    caches.set(reader, cache)
  }
  return cache
}

/** In ordinals of four bytes: 32 MB for each of the three, in each thread that reads. */
const CAPACITY = 8_000_000

/** Forgets what was used the longest time ago. */
const createCache = (): Cache => {
  const entries = new Map<number, Uint32Array>()
  let held = 0
  return {
    has: segment => entries.has(segment),
    get(segment) {
      const found = entries.get(segment)
      if (found && entries.delete(segment)) entries.set(segment, found)
      return found
    },
    set(segment, ordinals) {
      entries.set(segment, ordinals)
      held += ordinals.length
      for (const [oldest, { length }] of entries) {
        if (held <= CAPACITY || oldest === segment) break
        entries.delete(oldest)
        held -= length
      }
      return ordinals
    },
  }
}
