import type { Batch } from './batch.ts'
import type { Grouped } from './group.ts'

/** Counts bucket after bucket in one array with a place for each key: where keys are many, and so are buckets. */
export const byBuckets = (
  at: Uint8Array | Uint16Array | Uint32Array | undefined,
  names: Uint32Array | undefined,
  keys: Float64Array,
  batch: Batch,
  wantsInner: boolean,
): Grouped => {
  const { count, from, buckets, except } = batch
  const list = except ? undefined : batch.list
  const { places, ends } = inOrder(batch)
  const rows = { owners: new Uint32Array(count), keys: new Float64Array(count), counts: new Float64Array(count) }
  const inner = wantsInner ? { list: new Uint32Array(count), owners: new Uint32Array(count) } : undefined
  const stored = new Uint32Array(count)
  /** Numbers of rows, and 1. */
  const rowOf = new Uint32Array(keys.length)
  let row = 0
  let inside = 0
  let left = 0
  for (let bucket = 0, start = 0; bucket < buckets; bucket++) {
    const end = ends[bucket]!
    const first = row
    for (let i = start; i < end; i++) {
      const place = places ? places[i]! : i
      let ordinal = list ? list[place]! : from + place + left
      while (except && left < except.length && except[left]! <= ordinal) {
        left++
        ordinal++
      }
      const value = at ? at[ordinal]! : 0
      const name = names ? names[value]! : value
      let found = rowOf[name]!
      if (found === 0) {
        const key = keys[name]!
        if (Number.isNaN(key)) continue
        rows.owners[row] = bucket
        rows.keys[row] = key + 0
        stored[row] = name
        found = ++row
        rowOf[name] = found
      }
      rows.counts[found - 1]!++
      if (!inner) continue
      inner.list[inside] = ordinal
      inner.owners[inside++] = found - 1
    }
    for (let i = first; i < row; i++) rowOf[stored[i]!] = 0
    start = end
  }
  return {
    rows: {
      owners: rows.owners.slice(0, row),
      keys: rows.keys.slice(0, row),
      counts: rows.counts.slice(0, row),
    },
    inner: inner && {
      count: inside,
      list: inner.list.subarray(0, inside),
      from: 0,
      owners: row === 1 ? undefined : inner.owners.subarray(0, inside),
      buckets: row,
    },
  }
}

/** Places of a batch in the order of their buckets, and where each bucket ends there. */
const inOrder = (batch: Batch): { places: Uint32Array | undefined; ends: Uint32Array } => {
  const { count, buckets, runs } = batch
  if (runs) return { places: undefined, ends: runs }
  const { owners } = batch
  if (!owners) return { places: undefined, ends: Uint32Array.of(count) }
  const ends = new Uint32Array(buckets + 1)
  for (let i = 0; i < count; i++) ends[owners[i]! + 1]!++
  for (let bucket = 0; bucket < buckets; bucket++) ends[bucket + 1]! += ends[bucket]!
  const places = new Uint32Array(count)
  for (let i = 0; i < count; i++) places[ends[owners[i]!]!++] = i
  return { places, ends: ends.subarray(0, buckets) }
}
