import { MISSING } from '../index/column-codec.ts'
import type { Batch } from './batch.ts'
import type { Grouped } from './group.ts'
import { createPairs } from './pairs.ts'
import { eachValue, type Found, gathered, type RawNumbers } from './values.ts'

/** Buckets where nothing is known of the keys. */
export const byPairs = (found: Found, batch: Batch, wantsInner: boolean): Grouped =>
  found.form === 'several'
    ? ofSeveral(found, batch, wantsInner)
    : found.form === 'each' && found.raw && !batch.owners
      ? ofWhole(found.raw, batch, wantsInner)
      : ofOne(found, batch, wantsInner)

/** Of whole numbers, such as ids, without buckets above. */
const ofWhole = ({ values, base }: RawNumbers, batch: Batch, wantsInner: boolean): Grouped => {
  const { count, list, from } = batch
  const none = base === MISSING ? 0 : -1
  const bits = Math.ceil(Math.log2(2 * count + 2))
  const [mask, shift] = [2 ** bits - 1, 32 - bits]
  /** Numbers of rows, and 1. */
  const table = new Uint32Array(mask + 1)
  const numbers = new Uint32Array(count)
  const counts = new Uint32Array(count)
  const inner = wantsInner ? { list: new Uint32Array(count), owners: new Uint32Array(count) } : undefined
  let size = 0
  let inside = 0
  for (let i = 0; i < count; i++) {
    const ordinal = list ? list[i]! : from + i
    const value = values[ordinal]!
    if (value === none) continue
    let place = Math.imul(value, 0x9e3779b1) >>> shift
    let row = table[place]!
    while (row !== 0 && numbers[row - 1] !== value) {
      place = (place + 1) & mask
      row = table[place]!
    }
    if (row === 0) {
      numbers[size] = value
      row = ++size
      table[place] = row
    }
    counts[row - 1]!++
    if (!inner) continue
    inner.list[inside] = ordinal
    inner.owners[inside++] = row - 1
  }
  const keys = new Float64Array(size)
  for (let i = 0; i < size; i++) keys[i] = base + numbers[i]!
  return {
    rows: { owners: new Uint32Array(size), keys, counts: Float64Array.from(counts.subarray(0, size)) },
    inner: inner && {
      ...{ count: inside, list: inner.list.subarray(0, inside), from: 0 },
      ...{ owners: inner.owners.subarray(0, inside), buckets: size },
    },
  }
}

/** By open addressing in one loop, as there is one key at most for each document. */
const ofOne = (found: Found, batch: Batch, wantsInner: boolean): Grouped => {
  const { count, owners, list, from } = batch
  const values = gathered(found, batch)
  if (!owners && !wantsInner && isAscending(values)) return ofRuns(values)
  const words = new Uint32Array(values.buffer, values.byteOffset, 2 * count)
  const mask = 2 ** Math.ceil(Math.log2(2 * count + 2)) - 1
  /** Numbers of rows, and 1. */
  const table = new Uint32Array(mask + 1)
  const rows = { owners: new Uint32Array(count), keys: new Float64Array(count), counts: new Float64Array(count) }
  const inner = wantsInner ? { list: new Uint32Array(count), owners: new Uint32Array(count) } : undefined
  let size = 0
  let inside = 0
  for (let i = 0; i < count; i++) {
    const value = values[i]!
    if (Number.isNaN(value)) continue
    // Minus zero is the same key.
    if (value === 0) values[i] = 0
    const owner = owners ? owners[i]! : 0
    let hash = Math.imul(words[2 * i]! ^ Math.imul(owner, 0x9e3779b1), 0x85ebca6b) ^ words[2 * i + 1]!
    hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae35)
    let place = (hash ^ (hash >>> 13)) & mask
    let row = table[place]!
    while (row !== 0 && (rows.keys[row - 1] !== value || rows.owners[row - 1] !== owner)) {
      place = (place + 1) & mask
      row = table[place]!
    }
    if (row === 0) {
      rows.owners[size] = owner
      rows.keys[size] = value + 0
      row = ++size
      table[place] = row
    }
    rows.counts[row - 1]!++
    if (!inner) continue
    inner.list[inside] = list ? list[i]! : from + i
    inner.owners[inside++] = row - 1
  }
  return {
    rows: {
      owners: rows.owners.slice(0, size),
      keys: rows.keys.slice(0, size),
      counts: rows.counts.slice(0, size),
    },
    inner: inner && {
      ...{ count: inside, list: inner.list.subarray(0, inside), from: 0 },
      ...{ owners: inner.owners.subarray(0, inside), buckets: size },
    },
  }
}

/** Not where one has no value. */
const isAscending = (values: Float64Array): boolean => {
  for (let i = 1; i < values.length; i++) if (!(values[i]! >= values[i - 1]!)) return false
  return values.length > 0 && !Number.isNaN(values[0])
}

/** Of values that ascend. */
const ofRuns = (values: Float64Array): Grouped => {
  const keys = new Float64Array(values.length)
  const counts = new Float64Array(values.length)
  let size = 0
  for (let i = 0; i < values.length; i++) {
    const value = values[i]! + 0
    if (size === 0 || value !== keys[size - 1]) keys[size++] = value
    counts[size - 1]!++
  }
  return {
    rows: { owners: new Uint32Array(size), keys: keys.slice(0, size), counts: counts.slice(0, size) },
    inner: undefined,
  }
}

const ofSeveral = (found: Extract<Found, { form: 'several' }>, batch: Batch, wantsInner: boolean): Grouped => {
  const { owners, list, from } = batch
  const pairs = createPairs(false)
  const most = found.keys.length
  const buckets = new Uint32Array(most)
  const ordinals = new Uint32Array(most)
  const counts = new Float64Array(most)
  let size = 0
  eachValue(found, batch, (i, key) => {
    const pair = pairs.of(owners ? owners[i]! : 0, key)
    counts[pair]!++
    ordinals[size] = list ? list[i]! : from + i
    buckets[size++] = pair
  })
  return {
    rows: { owners: pairs.owners.slice(), keys: pairs.keys.slice(), counts: counts.slice(0, pairs.size) },
    inner: wantsInner
      ? {
          count: size,
          list: ordinals.subarray(0, size),
          from: 0,
          owners: buckets.subarray(0, size),
          buckets: pairs.size,
        }
      : undefined,
  }
}
