import { hashHalves } from '../../lib/arrays.ts'
/** Buckets of a segment by owner (the bucket above) and key. */
export interface BucketRows {
  owners: Uint32Array
  keys: Float64Array
  counts: Float64Array
}

export const createRows = (size: number): BucketRows => ({
  owners: new Uint32Array(size),
  keys: new Float64Array(size),
  counts: new Float64Array(size),
})

export const firstRows = ({ owners, keys, counts }: BucketRows, size: number): BucketRows => ({
  owners: owners.slice(0, size),
  keys: keys.slice(0, size),
  counts: counts.slice(0, size),
})

/** Rows of one segment, and the global numbers of its owners. */
export interface RowsPart {
  rows: BucketRows
  owners: Uint32Array
}

/** Distinct keys with counts, sorted by owner. */
export interface ValuesByBucket {
  keys: Float64Array
  counts: Float64Array
  /** The first row of each owner, and the end of the last. */
  starts: Uint32Array
}

interface Merged extends ValuesByBucket {
  /** For each part, the merged number of each row. */
  numbers: Uint32Array[]
}

/** Joins rows of equal keys, owner after owner, for locality. */
export const mergeRows = (parts: readonly RowsPart[], check: () => void): Merged => {
  const all = rowsByOwner(parts, check)
  const { starts, keys, counts } = all
  const numberOf = new Uint32Array(keys.length)
  const ends = new Uint32Array(starts.length)
  let size = 0
  for (let owner = 0; owner + 1 < starts.length; owner++) {
    const [from, to] = [starts[owner]!, starts[owner + 1]!]
    const join = isAscending(keys, from, to) ? joinAscending : isDense(keys, from, to) ? joinByTable : joinByHash
    size = join(all, numberOf, { from, to, size })
    ends[owner + 1] = size
    if ((owner & OFTEN) === 0 || to - from > OFTEN) check()
  }
  const numbers = parts.map(({ rows }, part) => {
    const base = all.bases[part]!
    const { places } = all
    if (!places) return numberOf.subarray(base, base + rows.keys.length)
    const own = new Uint32Array(rows.keys.length)
    for (let i = 0; i < own.length; i++) own[i] = numberOf[places[base + i]!]!
    return own
  })
  return { keys: keys.subarray(0, size), counts: counts.subarray(0, size), starts: ends, numbers }
}

const OFTEN = 0xff

interface OrderedRows {
  starts: Uint32Array
  keys: Float64Array<ArrayBuffer>
  counts: Float64Array<ArrayBuffer>
  bases: Uint32Array
  /** The place of each row; undefined for a single owner. */
  places: Uint32Array | undefined
}

/** The rows of all parts sorted by owner. Missing counts are zeros. */
export const rowsByOwner = (parts: readonly RowsPart[], check: () => void): OrderedRows => {
  const bases = new Uint32Array(parts.length)
  let total = 0
  let above = 0
  for (const [i, { rows, owners }] of parts.entries()) {
    bases[i] = total
    total += rows.keys.length
    for (let j = 0; j < owners.length; j++) if (owners[j]! >= above) above = owners[j]! + 1
  }
  const keys = new Float64Array(total)
  const counts = new Float64Array(total)
  if (above <= 1) {
    for (const [i, { rows }] of parts.entries()) {
      keys.set(rows.keys, bases[i])
      counts.set(rows.counts, bases[i])
    }
    return { starts: Uint32Array.of(0, total), keys, counts, bases, places: undefined }
  }
  const starts = new Uint32Array(above + 1)
  for (const { rows, owners } of parts)
    for (let i = 0; i < rows.owners.length; i++) starts[owners[rows.owners[i]!]! + 1]!++
  for (let i = 0; i < above; i++) starts[i + 1]! += starts[i]!
  const next = starts.slice()
  const places = new Uint32Array(total)
  for (const [part, { rows, owners }] of parts.entries()) {
    check()
    const base = bases[part]!
    const isCounted = rows.counts.length > 0
    for (let i = 0; i < rows.owners.length; i++) {
      const place = next[owners[rows.owners[i]!]!]!++
      places[base + i] = place
      keys[place] = rows.keys[i]!
      if (isCounted) counts[place] = rows.counts[i]!
    }
  }
  return { starts, keys, counts, bases, places }
}

/** A range of rows, and the next bucket number. Buckets overwrite rows that were read. */
interface Stretch {
  from: number
  to: number
  size: number
}
type Join = (all: Pick<OrderedRows, 'keys' | 'counts'>, numberOf: Uint32Array, stretch: Stretch) => number

/** Ascending keys, as of a single segment, have no duplicates. */
const isAscending = (keys: Float64Array, from: number, to: number): boolean => {
  for (let i = from + 1; i < to; i++) if (!(keys[i]! > keys[i - 1]!)) return false
  return true
}

const joinAscending: Join = ({ keys, counts }, numberOf, { from, to, size }) => {
  if (from !== size) {
    keys.copyWithin(size, from, to)
    counts.copyWithin(size, from, to)
  }
  for (let i = from, number = size; i < to; i++) numberOf[i] = number++
  return size + to - from
}

/** Whether keys are whole numbers small enough for a table. */
const isDense = (keys: Float64Array, from: number, to: number): boolean => {
  const most = Math.min(MOST_PLACES, SPARSE * (to - from))
  for (let i = from; i < to; i++) {
    const key = keys[i]!
    if (!(key >= 0 && key < most && Math.floor(key) === key)) return false
  }
  return true
}
const SPARSE = 16
const MOST_PLACES = 2 ** 24

/** Reused; zeros between two uses. */
let scratch = new Uint32Array(0)
const zeros = (length: number): Uint32Array => {
  if (scratch.length < length) {
    if (length > MAX_SCRATCH_LENGTH) return new Uint32Array(length)
    scratch = new Uint32Array(2 ** Math.ceil(Math.log2(length)))
  }
  return scratch
}
const MAX_SCRATCH_LENGTH = 2 ** 20

const joinByTable: Join = ({ keys, counts }, numberOf, { from, to, size: first }) => {
  let greatest = 0
  for (let i = from; i < to; i++) if (keys[i]! > greatest) greatest = keys[i]!
  /** Bucket numbers plus 1. */
  const table = zeros(greatest + 1)
  let size = first
  for (let i = from; i < to; i++) {
    const key = keys[i]!
    const known = table[key]!
    if (known !== 0) {
      counts[known - 1]! += counts[i]!
      numberOf[i] = known - 1
      continue
    }
    keys[size] = key
    counts[size] = counts[i]!
    numberOf[i] = size++
    table[key] = size
  }
  for (let i = first; i < size; i++) table[keys[i]!] = 0
  return size
}

const joinByHash: Join = ({ keys, counts }, numberOf, { from, to, size: first }) => {
  const words = new Uint32Array(keys.buffer, keys.byteOffset, 2 * keys.length)
  const mask = 2 ** Math.ceil(Math.log2(2 * (to - from) + 2)) - 1
  /** Bucket numbers plus 1. */
  const table = zeros(mask + 1)
  let size = first
  for (let i = from; i < to; i++) {
    const key = keys[i]!
    let place = hashHalves(words[2 * i]!, words[2 * i + 1]!) & mask
    let known = table[place]!
    while (known !== 0 && keys[known - 1] !== key) {
      place = (place + 1) & mask
      known = table[place]!
    }
    if (known !== 0) {
      counts[known - 1]! += counts[i]!
      numberOf[i] = known - 1
      continue
    }
    keys[size] = key
    counts[size] = counts[i]!
    numberOf[i] = size++
    table[place] = size
  }
  table.fill(0, 0, mask + 1)
  return size
}

export const upTo = (size: number): Uint32Array<ArrayBuffer> => {
  const all = new Uint32Array(size)
  for (let i = 0; i < size; i++) all[i] = i
  return all
}

export const rowsOf = ({ starts, keys, counts }: ValuesByBucket): BucketRows => ({
  ...{ owners: ownersFromStarts(starts), keys: keys.slice(), counts: counts.slice() },
})

const ownersFromStarts = (starts: Uint32Array): Uint32Array => {
  const owners = new Uint32Array(starts.at(-1)!)
  for (let owner = 0; owner + 1 < starts.length; owner++) owners.fill(owner, starts[owner], starts[owner + 1])
  return owners
}

interface ValueStoreLimits {
  /** Memory limit for exact values, in bytes. */
  most: number
  /** Mean number of values per bucket from which on `shorten` pays. */
  least: number
  check(): void
}
/** Bytes of a value, its count and its owner. */
export const ROW_BYTES = 20
/** Collects values by bucket; above `most` bytes, joins equal ones, then reduces with `shorten`. */
export const createValueStore = <P extends RowsPart>(
  shorten: (all: ValuesByBucket) => ValuesByBucket | undefined,
  { most, least, check }: ValueStoreLimits,
) => {
  let waiting: (P | RowsPart)[] = []
  let bytes = 0
  let room = most

  const join = () => {
    let all: ValuesByBucket | undefined = mergeRows(waiting, check)
    if (all.keys.length * ROW_BYTES > most && all.keys.length >= (all.starts.length - 1) * least) all = shorten(all)
    waiting = all ? [{ rows: rowsOf(all), owners: upTo(all.starts.length - 1) }] : []
    bytes = all ? all.keys.length * ROW_BYTES : 0
    room = Math.max(most, 2 * bytes)
  }

  return {
    add(part: P, size: number) {
      waiting.push(part)
      bytes += size
      if (bytes > room) join()
    },
    all: (): readonly (P | RowsPart)[] => waiting,
    clear() {
      waiting = []
    },
    bytes: () => bytes,
  }
}
