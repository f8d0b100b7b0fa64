import type { Kind } from '../../mapping/index.ts'
import { isRowKind } from '../query/fields/ordinals.ts'
import type { Reader, Segment } from '../reader.ts'
import type { AggregationState } from './aggregator.ts'

export interface StateCache {
  /**
   * Of what a part of the request finds in a segment; `query` is the text of what it asks there. What is asked for once again
   * is shrunk.
   */
  states(
    part: CachePart,
    collect: () => AggregationState[],
    shrink: (states: AggregationState[]) => AggregationState[],
  ): AggregationState[]
  /** What gives the numbers that stand in states, which lives as long as they do. */
  shared<T>(make: () => T): T
}

interface CachePart {
  segment: Segment
  kind: Kind
  /** Undefined where nothing may be kept. */
  query: () => string | undefined
}

interface CachedStates {
  segment: number
  revised: number
  states: AggregationState[]
  bytes: number
  isShrunk: boolean
}

interface CacheEntry {
  /** In the order in which they are asked for. */
  shared: { bytes?(): number }[]
  states: Map<string, CachedStates>
  bytes: number
}

/** What aggregations found in each segment, which stays as it is or is replaced: a dashboard computes new blocks alone. */
export const createStateCache = (reader: Pick<Reader, 'segments' | 'version' | 'kept'>) => {
  const capacity = reader.kept.states
  /** The one that was used last at the end. */
  const entries = new Map<string, CacheEntry>()
  let held = 0
  let seen: number | undefined

  /** Forgets what is no more. */
  const follow = () => {
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

  return {
    /** Of the aggregations that a text stands for; undefined where nothing is to be kept. */
    of(text: string | undefined): StateCache {
      if (text === undefined) return NO_CACHE
      follow()
      const isAgain = entries.has(text)
      const entry = entryOf(text)
      // What gives numbers may have grown without bound.
      if (sizeOf(entry) > capacity()) {
        held -= entry.bytes
        entries.set(text, Object.assign(entry, { shared: [], states: new Map(), bytes: 0 }))
      }
      let asked = 0
      /** Then nothing more is shrunk: that takes as long as what it spares. */
      let isFull = false
      return {
        shared<T>(make: () => T): T {
          const place = asked++
          entry.shared[place] ??= make() as { bytes?(): number }
          return entry.shared[place] as T
        },
        states({ segment, kind, query }, collect, shrink) {
          // Contracts and tokens change while the segment stays.
          const asks = isRowKind(kind) ? undefined : query()
          if (asks === undefined) return collect()
          const key = `${segment.id} ${segment.revised} ${kind} ${asks}`
          const known = entry.states.get(key)
          if (known && (known.isShrunk || !isAgain)) return known.states
          const plain = known?.states ?? collect()
          const isShrunk = isAgain && !isFull
          const states = isShrunk ? shrink(plain) : plain
          const bytes = states.reduce((sum, one) => sum + one.bytes, 100 + key.length)
          const more = bytes - (known?.bytes ?? 0)
          if (entry.bytes + more <= capacity() / 2) {
            const { id, revised } = segment
            entry.states.set(key, { segment: id, revised, states, bytes, isShrunk })
            entry.bytes += more
            held += more
            trim(entry)
          } else isFull = [...entry.states.values()].every(({ isShrunk }) => isShrunk)
          return states
        },
      }
    },
  }
}

export const NO_CACHE: StateCache = { shared: make => make(), states: (_, collect) => collect() }

/** Characters that one reader keeps. */
const CAPACITY = 2 * 2 ** 20
const MAX_ANSWER_LENGTH = CAPACITY / 8

/** What was answered since the store changed last. */
export const createAnswers = (reader: Pick<Reader, 'version'>) => {
  const known = new Map<string, string>()
  let held = 0
  let seen: number | undefined
  const clear = () => {
    known.clear()
    held = 0
  }
  return {
    /** `question` means the same at any moment; where it is undefined, nothing is kept. */
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
