import type { Reader } from '../../reader.ts'

/** What was found out of one state of the store, for as long as that lasts. */
export const remembered = <T>(reader: Reader, key: string, find: () => T): T => {
  const version = reader.version()
  let known = KNOWN.get(reader)
  if (!known || known.version !== version || known.values.size >= MOST) {
    known = { version, values: new Map() }
    KNOWN.set(reader, known)
  }
  const { values } = known
  if (!values.has(key)) values.set(key, find())
  return values.get(key) as T
}

const KNOWN = new WeakMap<Reader, { version: number; values: Map<string, unknown> }>()
const MOST = 2_000
