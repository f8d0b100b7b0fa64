import type { Kind } from '../../mapping/index.ts'
import { isRowKind } from '../query/places.ts'
import type { Reader, Segment } from '../reader.ts'
import type { State } from './aggregator.ts'

/** What aggregations found in each segment, which stays as it is or is replaced: a dashboard computes new blocks alone. */
export interface StateCache {
  /** Of the aggregations that a text stands for; undefined where nothing is to be kept. */
  of(text: string | undefined): Kept
}

export interface Kept {
  /** Of what a part of the request finds in a segment; `query` is the text of what it asks there. */
  states(part: KeptPart, collect: () => State[]): State[]
  /** What gives the numbers that stand in states, which lives as long as they do. */
  shared<T>(make: () => T): T
}

export interface KeptPart {
  segment: Segment
  kind: Kind
  /** Undefined where nothing may be kept. */
  query: () => string | undefined
}

interface Entry {
  /** In the order in which they are asked for. */
  shared: { bytes?(): number }[]
  states: Map<string, { segment: number; revised: number; states: State[]; bytes: number }>
  bytes: number
}

export const createStateCache = (reader: Pick<Reader, 'segments' | 'version' | 'kept'>): StateCache => {
  const capacity = reader.kept.states
  /** The one that was used last at the end. */
  const entries = new Map<string, Entry>()
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

  const entryOf = (text: string): Entry => {
    const entry = entries.get(text) ?? { shared: [], states: new Map(), bytes: 0 }
    entries.delete(text)
    entries.set(text, entry)
    return entry
  }

  const sizeOf = ({ bytes, shared }: Entry): number => shared.reduce((sum, one) => sum + (one.bytes?.() ?? 0), bytes)

  const trim = (kept: Entry) => {
    const most = capacity()
    for (const [text, entry] of entries) {
      if (held <= most) return
      if (entry === kept) continue
      entries.delete(text)
      held -= entry.bytes
    }
  }

  return {
    of(text) {
      if (text === undefined) return NOTHING_KEPT
      follow()
      const entry = entryOf(text)
      // What gives numbers may have grown without bound.
      if (sizeOf(entry) > capacity()) {
        held -= entry.bytes
        entries.set(text, Object.assign(entry, { shared: [], states: new Map(), bytes: 0 }))
      }
      let asked = 0
      return {
        shared<T>(make: () => T): T {
          const place = asked++
          entry.shared[place] ??= make() as { bytes?(): number }
          return entry.shared[place] as T
        },
        states({ segment, kind, query }, collect) {
          // Contracts and tokens change while the segment stays.
          const asks = isRowKind(kind) ? undefined : query()
          if (asks === undefined) return collect()
          const key = `${segment.id} ${segment.revised} ${kind} ${asks}`
          const known = entry.states.get(key)
          if (known) return known.states
          const states = collect()
          const bytes = states.reduce((sum, one) => sum + one.bytes, 100 + key.length)
          if (entry.bytes + bytes <= capacity() / 2) {
            entry.states.set(key, { segment: segment.id, revised: segment.revised, states, bytes })
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

const NOTHING_KEPT: Kept = { shared: make => make(), states: (_, collect) => collect() }
