import type { Kind } from '../../mapping/index.ts'
import { isRowKind } from '../query/fields/ordinals.ts'
import type { Segment, StoreReader } from '../reader.ts'
import type { AggregationState } from './aggregator.ts'

export interface StateCache {
  /** States of a part of the request in a segment; cached, smaller, once requested again. */
  states(
    part: CachePart,
    collect: () => AggregationState[],
    shrink: (states: AggregationState[]) => AggregationState[],
  ): AggregationState[]
  /** Keys of states, which live as long as these. */
  shared<T>(make: () => T): T
}

interface CachePart {
  segment: Segment
  kind: Kind
  /** Undefined if nothing may be cached. */
  query: () => string | undefined
}

interface CachedStates {
  segment: number
  revised: number
  states: AggregationState[]
  bytes: number
}

interface CacheEntry {
  shared: { bytes?(): number }[]
  states: Map<string, CachedStates>
  bytes: number
}

/** Caches aggregations per segment, so dashboards compute new blocks alone. LRU by bytes. */
export const createStateCache = (reader: Pick<StoreReader, 'segments' | 'version' | 'kept'>) => {
  const capacity = reader.kept.states
  /** Least recently used first. */
  const entries = new Map<string, CacheEntry>()
  /** Keys requested once: most filters never are again, and caching takes as long as collecting. */
  const requested = new Set<string>()
  let requestedLength = 0
  let held = 0
  let seen: number | undefined

  /** Merged and revised segments invalidate their states. */
  const invalidateStates = () => {
    const version = reader.version()
    if (version === seen) return
    seen = version
    const present = new Map(reader.segments().map(({ id, revised }) => [id, revised]))
    for (const entry of entries.values())
      for (const [key, { segment, revised, bytes }] of entry.states) {
        if (present.get(segment) === revised) continue
        entry.states.delete(key)
        entry.bytes -= bytes
        held -= bytes
      }
  }

  const entryOf = (text: string): CacheEntry => {
    const entry = entries.get(text) ?? { shared: [], states: new Map(), bytes: 0 }
    entries.delete(text)
    entries.set(text, entry)
    return entry
  }

  const sizeOf = ({ bytes, shared }: CacheEntry): number =>
    shared.reduce((sum, one) => sum + (one.bytes?.() ?? 0), bytes)

  const trim = (kept: CacheEntry) => {
    const most = capacity()
    for (const [text, entry] of entries) {
      if (held <= most) return
      if (entry === kept) continue
      entries.delete(text)
      held -= entry.bytes
    }
  }

  const isAgain = (key: string): boolean => {
    if (requested.has(key)) return true
    requestedLength += key.length
    if (requestedLength > MAX_REQUESTED_LENGTH) {
      requested.clear()
      requestedLength = key.length
    }
    requested.add(key)
    return false
  }

  return {
    /** `text` identifies the aggregations; undefined disables caching. */
    of(text: string | undefined): StateCache {
      if (text === undefined) return NO_CACHE
      invalidateStates()
      const entry = entryOf(text)
      // Shared keys may have grown too large.
      if (sizeOf(entry) > capacity()) {
        held -= entry.bytes
        entries.set(text, Object.assign(entry, { shared: [], states: new Map(), bytes: 0 }))
      }
      let asked = 0
      /** Then shrinking takes longer than it saves. */
      let isFull = false
      return {
        shared<T>(make: () => T): T {
          const place = asked++
          entry.shared[place] ??= make() as { bytes?(): number }
          return entry.shared[place] as T
        },
        states({ segment, kind, query }, collect, shrink) {
          // Row kinds change while their segment stays the same.
          const asks = isRowKind(kind) ? undefined : query()
          if (asks === undefined) return collect()
          const { id, revised } = segment
          const key = `${id} ${revised} ${kind} ${asks}`
          const known = entry.states.get(key)
          if (known) return known.states
          const collected = collect()
          if (isFull || !isAgain(`${key} ${text}`)) return collected
          const states = shrink(collected)
          const bytes = states.reduce((sum, one) => sum + one.bytes, 100 + key.length)
          isFull = entry.bytes + bytes > capacity() / 2
          if (!isFull) {
            entry.states.set(key, { segment: id, revised, states, bytes })
            entry.bytes += bytes
            held += bytes
            trim(entry)
          }
          return states
        },
      }
    },
  }
}

/** Characters. */
const MAX_REQUESTED_LENGTH = 2 ** 20

export const NO_CACHE: StateCache = { shared: make => make(), states: (_, collect) => collect() }

/** Characters per reader. */
const CAPACITY = 2 * 2 ** 20
const MAX_ANSWER_LENGTH = CAPACITY / 8

/** Caches answers until the store changes. */
export const createAnswers = (reader: Pick<StoreReader, 'version'>) => {
  const known = new Map<string, string>()
  let held = 0
  let seen: number | undefined
  const clear = () => {
    known.clear()
    held = 0
  }
  return {
    /** `question` identifies the answer; undefined disables caching. */
    of(question: string | undefined, make: () => string): string {
      if (question === undefined) return make()
      const version = reader.version()
      if (version !== seen) clear()
      seen = version
      const before = known.get(question)
      if (before !== undefined) return before
      const answer = make()
      const length = question.length + answer.length
      if (length > MAX_ANSWER_LENGTH) return answer
      if (held + length > CAPACITY) clear()
      known.set(question, answer)
      held += length
      return answer
    },
  }
}
