/** Numbers pairs of a bucket and a key from 0 on, in the order in which they come. */
export interface Pairs {
  readonly size: number
  /** Of each pair. */
  readonly owners: Uint32Array
  readonly keys: Float64Array
  /** The pair's number, a new one where it is not known yet. */
  of(owner: number, key: number): number
  /** The numbers of many pairs; the owner of the i-th is `names[owners[i]]`. */
  all(names: Uint32Array, owners: Uint32Array, keys: Float64Array): Uint32Array
  /** Bytes that it takes. */
  bytes(): number
}

const bits = new Float64Array(1)
const words = new Uint32Array(bits.buffer)

const hashOf = (owner: number, key: number): number => {
  bits[0] = key
  let hash = Math.imul(words[0]! ^ Math.imul(owner, 0x9e3779b1), 0x85ebca6b) ^ words[1]!
  hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae35)
  return (hash ^ (hash >>> 13)) >>> 0
}

const DIRECT = 2 ** 20

export const createPairs = (): Pairs => {
  let capacity = 16
  let owners = new Uint32Array(capacity)
  let keys = new Float64Array(capacity)
  /** Numbers of pairs, and 1; at most half of the places are taken. */
  let table = new Uint32Array(capacity * 2)
  let size = 0
  /** Of the first owner's keys that are small whole numbers, such as ids: their numbers, and 1. */
  let direct = new Uint32Array(0)

  const isDirect = (owner: number, key: number): boolean =>
    owner === 0 && key >= 0 && key < DIRECT && Math.floor(key) === key

  const roomFor = (key: number) => {
    if (key >= direct.length) {
      const larger = new Uint32Array(Math.min(DIRECT, Math.max(1024, 2 ** Math.ceil(Math.log2(key + 1)))))
      larger.set(direct)
      direct = larger
    }
  }

  const placeOf = (owner: number, key: number): number => {
    const mask = table.length - 1
    let place = hashOf(owner, key) & mask
    for (;;) {
      const found = table[place]!
      if (found === 0 || (keys[found - 1] === key && owners[found - 1] === owner)) return place
      place = (place + 1) & mask
    }
  }

  const grow = () => {
    capacity *= 2
    const [oldOwners, oldKeys] = [owners, keys]
    owners = new Uint32Array(capacity)
    owners.set(oldOwners)
    keys = new Float64Array(capacity)
    keys.set(oldKeys)
    table = new Uint32Array(capacity * 2)
    const mask = table.length - 1
    for (let i = 0; i < size; i++) {
      if (isDirect(owners[i]!, keys[i]!)) continue
      let place = hashOf(owners[i]!, keys[i]!) & mask
      while (table[place] !== 0) place = (place + 1) & mask
      table[place] = i + 1
    }
  }

  const numberOf = (owner: number, key: number): number => {
    // Minus zero is the same key.
    const plain = key + 0
    if (isDirect(owner, plain)) {
      roomFor(plain)
      const known = direct[plain]!
      if (known !== 0) return known - 1
      owners[size] = owner
      keys[size] = plain
      direct[plain] = ++size
      if (size === capacity) grow()
      return size - 1
    }
    const at = placeOf(owner, plain)
    const found = table[at]!
    if (found !== 0) return found - 1
    owners[size] = owner
    keys[size] = plain
    table[at] = ++size
    const number = size - 1
    if (size === capacity) grow()
    return number
  }

  return {
    get size() {
      return size
    },
    get owners() {
      return owners.subarray(0, size)
    },
    get keys() {
      return keys.subarray(0, size)
    },
    of: numberOf,
    all(names, ownersIn, keysIn) {
      const count = keysIn.length
      const numbers = new Uint32Array(count)
      for (let i = 0; i < count; i++) numbers[i] = numberOf(names[ownersIn[i]!]!, keysIn[i]!)
      return numbers
    },
    bytes: () => capacity * 20 + direct.byteLength,
  }
}
