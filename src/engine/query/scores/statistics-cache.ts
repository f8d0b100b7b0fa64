import type { Reader, Segment } from '../../reader.ts'

/** What was found out of one state of the store, for as long as that lasts. */
export const remembered = <T>(reader: Reader, key: string, find: () => T): T => {
  const version = reader.version()
  let known = BY_STATE.get(reader)
  if (!known || known.version !== version || known.values.size >= MAX_VALUES) {
    known = { version, values: new Map() }
    BY_STATE.set(reader, known)
  }
  const { values } = known
  if (!values.has(key)) values.set(key, find())
  return values.get(key) as T
}
const BY_STATE = new WeakMap<Reader, { version: number; values: Map<string, unknown> }>()
const MAX_VALUES = 2_000

/** Finds out something of each segment, once for as long as the segment stays as it is. */
export const perSegment = <T>(reader: Reader, key: string): ((segment: Segment, find: () => T) => T) => {
  let ofReader = BY_SEGMENT.get(reader)
  if (!ofReader || (ofReader.size >= MAX_KEYS && !ofReader.has(key))) {
    ofReader = new Map()
    BY_SEGMENT.set(reader, ofReader)
  }
  let known = ofReader.get(key) as Map<string, T> | undefined
  if (!known) {
    known = new Map()
    ofReader.set(key, known)
  } else if (known.size > 2 * reader.segments().length) {
    const present = new Set(reader.segments().map(placeOf))
    for (const place of known.keys()) if (!present.has(place)) known.delete(place)
  }
  const values = known
  return (segment, find) => {
    const place = placeOf(segment)
    if (!values.has(place)) {
      reader.check()
      values.set(place, find())
    }
    return values.get(place)!
  }
}
const BY_SEGMENT = new WeakMap<Reader, Map<string, Map<string, unknown>>>()
const MAX_KEYS = 200

const placeOf = ({ id, revised }: Segment): string => `${id} ${revised}`
