import { termOf, UNDECODED } from '../index/terms.ts'
import type { Reader, Segment } from '../reader.ts'

/** The logs of a segment that are no events, ascending; undefined where all are. */
export const othersIn = (segment: Segment, reader: Reader): Uint32Array | undefined => {
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
  return found.others
}

/** Few logs are no events. */
const undecoded = new WeakMap<
  Reader,
  { version: number; lists: Map<number, { revised: number; others: Uint32Array }> }
>()
