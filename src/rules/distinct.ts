import { isRecord } from '../lib/record.ts'
import type { Place } from './place.ts'

/** Elements of a list that are the same as others before them. */
export const distinct = (places: readonly Place[]) => {
  const seen = new Map<string, Place>()
  for (const place of places) {
    const key = JSON.stringify(place.value, sorted)
    const same = seen.get(key)
    if (same) place.fault(`${place.label} is the same as ${same.label}: remove one of them.`)
    else seen.set(key, place)
  }
}

/** The order of an object's properties does not matter. */
const sorted = (_: string, value: unknown): unknown => {
  if (isRecord(value)) return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
  return typeof value === 'bigint' ? String(value) : value
}
