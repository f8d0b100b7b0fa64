/** Counts distinct values by their hashes of 64 bits: exactly up to so many, beyond with an error of about 0.4%. */
export const createDistinct = (exactUpTo: number) => {
  let set: ReturnType<typeof createHashSet> | undefined = createHashSet()
  /** For each register the longest row of zeros seen, and one more. */
  let registers: Uint8Array | undefined
  return {
    /** The two halves of a value's hash, whose bits must be as good as random. */
    add(high: number, low: number) {
      if (registers) return addTo(registers, high, low)
      if (set!.add(high >>> 0, low >>> 0) <= exactUpTo) return
      const sketch = new Uint8Array(REGISTERS)
      set!.each((high, low) => addTo(sketch, high, low))
      registers = sketch
      set = undefined
    },
    count: (): number => (registers ? estimate(registers) : set!.size()),
    bytes: (): number => registers?.byteLength ?? set!.bytes(),
  }
}

export type Distinct = ReturnType<typeof createDistinct>

/** Distinct pairs, by open addressing: half of the places at most are taken. */
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
    /** How many there are now. */
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
/** Bits of a hash behind those that name the register. */
const REST = 64 - PRECISION

const addTo = (registers: Uint8Array, high: number, low: number): void => {
  const register = high >>> (32 - PRECISION)
  const rest = (high << PRECISION) >>> 0
  const zeros = rest !== 0 ? Math.clz32(rest) : 32 - PRECISION + Math.clz32(low)
  const rank = Math.min(zeros, REST) + 1
  if (rank > registers[register]!) registers[register] = rank
}

/** By the improved estimator of Ertl (2017), which is unbiased from few to many without a table. */
const estimate = (registers: Uint8Array): number => {
  const counts = new Float64Array(REST + 2)
  for (const rank of registers) counts[rank]!++
  let z = REGISTERS * tau(1 - counts[REST + 1]! / REGISTERS)
  for (let rank = REST; rank >= 1; rank--) z = 0.5 * (z + counts[rank]!)
  z += REGISTERS * sigma(counts[0]! / REGISTERS)
  return Math.round(REGISTERS ** 2 / (2 * Math.LN2 * z))
}

const sigma = (x: number): number => {
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

const tau = (x: number): number => {
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

/** Hashes numbers for `Distinct`: distinct doubles have distinct hashes. */
export const createNumberHash = (add: (high: number, low: number) => void): ((value: number) => void) => {
  const double = new Float64Array(1)
  const halves = new Uint32Array(double.buffer)
  return value => {
    double[0] = value === 0 ? 0 : value
    // Four rounds of a Feistel network: a permutation of 64 bits.
    let [left, right] = [halves[1]!, halves[0]!]
    for (let round = 1; round <= 4; round++) [left, right] = [right, (left ^ mix(right + round * 0x9e3779b9)) >>> 0]
    add(left, right)
  }
}

const mix = (value: number): number => {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
