import { isRecord } from '../../lib/record.ts'
import { type AbiFormat, fault, shown } from './format.ts'
import { type Listed, readListed } from './listed.ts'

/**
 * What the look-up of OpenChain, and Sourcify's signature database after it, answers:
 * `{"ok": true, "result": {"function": {"0x…": [{"name", "filtered"}]}, "event": {…}}}`.
 */
export const openChain: AbiFormat = {
  is: ({ json }) => isRecord(json) && isRecord(json.result) && ('function' in json.result || 'event' in json.result),
  read({ json }, place) {
    const { result } = json as { result: Record<string, unknown> }
    return readListed(
      ['function', 'event'].flatMap(kind => listedIn(result[kind] ?? {}, place, `result.${kind}`)),
      place,
    )
  },
}

const listedIn = (byHash: unknown, place: string, path: string): Listed[] => {
  if (!isRecord(byHash)) throw fault(place, path, `is ${shown(byHash)}, not an object of hashes`)
  return Object.entries(byHash).flatMap(([hash, entries]) => {
    const at = `${path}[${shown(hash)}]`
    // Unknown hashes are null.
    if (entries === null) return []
    if (!Array.isArray(entries)) throw fault(place, at, `is ${shown(entries)}, not an array`)
    return entries.flatMap((entry, i): Listed[] => {
      if (!isRecord(entry)) throw fault(place, `${at}[${i}]`, `is ${shown(entry)}, not {"name": "…"}`)
      // Marked there as an invented signature that collides with the hash of a real one.
      if (entry.filtered === true) return []
      return [{ hash, text: entry.name, at: `${at}[${i}]` }]
    })
  })
}
