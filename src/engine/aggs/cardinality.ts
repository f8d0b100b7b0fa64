import type { SpecOf } from '../../query/aggs/ast.ts'
import { counting } from '../../query/aggs/metric-results.ts'
import { type AggregationContext, type AggregationState, type Aggregator, bytesOfStates } from './aggregator.ts'
import { groupByValue } from './group-by.ts'
import { sharedKeys } from './keys.ts'
import { type BucketRows, createValueStore, mergeRows, type ValuesByBucket } from './rows.ts'
import { createSource } from './value-source.ts'
export const createCardinality = (
  { values, precision }: SpecOf<'cardinality'>,
  context: AggregationContext,
): Aggregator => {
  const keys = sharedKeys(values, context)
  const source = createSource(values, keys, context)
  const distinct = createDistinctKeys(precision, context.limits.aggregationMemory / MEMORY_SHARE, context.reader.check)
  return {
    collect(at, batch): BucketRows & AggregationState {
      const { rows } = groupByValue(source.read(at, batch), batch, false)
      const plain = { ...rows, counts: NO_COUNTS }
      return { ...plain, bytes: bytesOfStates([], rows.owners, rows.keys) }
    },
    merge: (state, owners) => distinct.merge(state as BucketRows & AggregationState, owners),
    finish: distinct.finish,
    result: owner => counting('cardinality', distinct.count(owner)),
    number: distinct.count,
    bytes: () => distinct.bytes() + keys.bytes(),
  }
}

const NO_COUNTS = new Float64Array(0)
/** The divisor of the memory limit above which an aggregation estimates. */
export const MEMORY_SHARE = 8

/** Counts distinct keys by bucket: exactly up to `most` bytes, beyond by HyperLogLog (HLL). */
export const createDistinctKeys = (precision: number, most: number, check: () => void) => {
  /** Empty while counts are exact. */
  const sketches: Distinct[] = []
  let target: Distinct
  const addHash = createNumberHash((high, low) => target.add(high, low))
  const sketch = ({ starts, keys }: ValuesByBucket): undefined => {
    for (let owner = 0; owner + 1 < starts.length; owner++) {
      if (starts[owner] === starts[owner + 1]) continue
      target = sketches[owner] ??= createDistinct(Math.min(precision, MAX_EXACT_KEYS))
      for (let i = starts[owner]!; i < starts[owner + 1]!; i++) addHash(keys[i]!)
    }
  }
  const store = createValueStore(sketch, { most, least: 5000, check })
  let starts: Uint32Array | undefined
  return {
    merge: (rows: BucketRows & AggregationState, owners: Uint32Array) => store.add({ rows, owners }, rows.bytes),
    finish() {
      const all = mergeRows(store.all(), check)
      store.clear()
      if (sketches.length > 0) sketch(all)
      else starts = all.starts
    },
    count(owner: number): number {
      if (!starts) return sketches[owner]?.count() ?? 0
      return owner < 0 || owner + 1 >= starts.length ? 0 : starts[owner + 1]! - starts[owner]!
    },
    bytes: () => sketches.reduce((sum, one) => sum + (one?.bytes() ?? 0), store.bytes()),
  }
}

/** As in Elasticsearch. */
const MAX_EXACT_KEYS = 40_000

/** Counts distinct 64-bit hashes: exactly up to a limit, then with an error of about 0.4 %. */
export const createDistinct = (exactUpTo: number) => {
  let set: ReturnType<typeof createHashSet> | undefined = createHashSet()
  /** HyperLogLog registers. */
  let registers: Uint8Array | undefined
  return {
    /** Halves of a hash with uniformly distributed bits. */
    add(high: number, low: number) {
      if (registers) return addToRegisters(registers, high, low)
      if (set!.add(high >>> 0, low >>> 0) <= exactUpTo) return
      const sketch = new Uint8Array(REGISTERS)
      set!.each((high, low) => addToRegisters(sketch, high, low))
      registers = sketch
      set = undefined
    },
    count: (): number => (registers ? estimate(registers) : set!.size()),
    bytes: (): number => registers?.byteLength ?? set!.bytes(),
  }
}
export type Distinct = ReturnType<typeof createDistinct>
/** A set of pairs by open addressing, at most half full. */
const createHashSet = () => {
  let mask = 7
  let table = new Uint32Array(16)
  let size = 0
  // A hash of zeros marks an empty place.
  let hasZero = false
  const put = (high: number, low: number): boolean => {
    let at = (low ^ (high >>> 7)) & mask
    while (table[at * 2] !== 0 || table[at * 2 + 1] !== 0) {
      if (table[at * 2] === high && table[at * 2 + 1] === low) return false
      at = (at + 1) & mask
    }
    table[at * 2] = high
    table[at * 2 + 1] = low
    return true
  }
  const each = (visit: (high: number, low: number) => void) => {
    if (hasZero) visit(0, 0)
    for (let i = 0; i < table.length; i += 2) {
      if (table[i] !== 0 || table[i + 1] !== 0) visit(table[i]!, table[i + 1]!)
    }
  }
  return {
    /** Returns the new size. */
    add(high: number, low: number): number {
      if (high === 0 && low === 0) {
        if (!hasZero) size++
        hasZero = true
      } else if (put(high, low) && ++size * 2 > mask) {
        const old = table
        mask = mask * 2 + 1
        table = new Uint32Array((mask + 1) * 2)
        for (let i = 0; i < old.length; i += 2) if (old[i] !== 0 || old[i + 1] !== 0) put(old[i]!, old[i + 1]!)
      }
      return size
    },
    size: () => size,
    each,
    bytes: () => table.byteLength,
  }
}
const PRECISION = 16
const REGISTERS = 1 << PRECISION
/** Hash bits after the register number. */
const REST_BITS = 64 - PRECISION
const addToRegisters = (registers: Uint8Array, high: number, low: number): void => {
  const register = high >>> (32 - PRECISION)
  const rest = (high << PRECISION) >>> 0
  const zeros = rest !== 0 ? Math.clz32(rest) : 32 - PRECISION + Math.clz32(low)
  const rank = Math.min(zeros, REST_BITS) + 1
  if (rank > registers[register]!) registers[register] = rank
}
/** By the improved estimator of Ertl (2017), which is unbiased from few to many without a table. */
const estimate = (registers: Uint8Array): number => {
  const counts = new Float64Array(REST_BITS + 2)
  for (const rank of registers) counts[rank]!++
  let z = REGISTERS * ertlTau(1 - counts[REST_BITS + 1]! / REGISTERS)
  for (let rank = REST_BITS; rank >= 1; rank--) z = 0.5 * (z + counts[rank]!)
  z += REGISTERS * ertlSigma(counts[0]! / REGISTERS)
  return Math.round(REGISTERS ** 2 / (2 * Math.LN2 * z))
}
const ertlSigma = (x: number): number => {
  if (x === 1) return Number.POSITIVE_INFINITY
  let [power, y, z] = [x, 1, x]
  for (let last = -1; last !== z; ) {
    power *= power
    last = z
    z += power * y
    y += y
  }
  return z
}
const ertlTau = (x: number): number => {
  if (x === 0 || x === 1) return 0
  let [root, y, z] = [x, 1, 1 - x]
  for (let last = -1; last !== z; ) {
    root = Math.sqrt(root)
    last = z
    y *= 0.5
    z -= (1 - root) ** 2 * y
  }
  return z / 3
}
/** Distinct doubles have distinct hashes. */
export const createNumberHash = (add: (high: number, low: number) => void): ((value: number) => void) => {
  const double = new Float64Array(1)
  const halves = new Uint32Array(double.buffer)
  return value => {
    double[0] = value === 0 ? 0 : value
    // Four rounds of a Feistel network: a permutation of 64 bits.
    let [left, right] = [halves[1]!, halves[0]!]
    for (let round = 1; round <= 4; round++) [left, right] = [right, (left ^ mixBits(right + round * 0x9e3779b9)) >>> 0]
    add(left, right)
  }
}
const mixBits = (value: number): number => {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
