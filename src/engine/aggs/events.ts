import { termOf, UNDECODED } from '../index/terms.ts'
import type { Reader, Segment } from '../reader.ts'

/** The logs of a segment that are events, as a list; undefined where all are. */
export const eventsIn = (segment: Segment, reader: Reader): Uint32Array | undefined => {
  if (segment.events === segment.log) return undefined
  let known = undecoded.get(reader)
  if (!known || known.version !== reader.version()) {
    const present = new Set(reader.segments().map(({ id }) => id))
    const left = [...(known?.lists ?? [])].filter(([id]) => present.has(id))
    known = { version: reader.version(), lists: new Map(left) }
    undecoded.set(reader, known)
  }
  let found = known.lists.get(segment.id)
  if (found?.revised !== segment.revised) {
    const term = termOf(0, UNDECODED)
    const [posting] = reader.termsBetween(segment.id, term, term)
    found = { revised: segment.revised, others: posting ? reader.ordinals(posting) : new Uint32Array(0) }
    known.lists.set(segment.id, found)
  }
  return without(found.others, segment.log)
}

/** Few logs are no events. */
const undecoded = new WeakMap<
  Reader,
  { version: number; lists: Map<number, { revised: number; others: Uint32Array }> }
>()

/** The ordinals below `size` that are not in a list. */
const without = (others: Uint32Array, size: number): Uint32Array => {
  const list = new Uint32Array(size - others.length)
  let at = 0
  let next = 0
  for (let i = 0; i <= others.length; i++) {
    const end = i < others.length ? others[i]! : size
    while (next < end) list[at++] = next++
    next++
  }
  return list
}
