import { keccak256 } from './keccak.ts'

/** Recursive Length Prefix, Ethereum's nested lists of byte strings (Yellow Paper, appendix B). */
export type Rlp = Uint8Array | readonly Rlp[]

export const encodeRlp = (item: Rlp): Buffer => {
  const target = Buffer.allocUnsafe(encodedSize(item))
  writeItem(target, 0, item)
  return target
}

/** Throws a `RangeError` for a length beyond the bytes. Ignores bytes after the item. */
export const decodeRlp = (bytes: Uint8Array): Rlp => readItem(bytes, 0, bytes.length).item

/** Decodes a list of at least `least` items. */
export const decodeRlpList = (bytes: Uint8Array, least = 0): readonly Rlp[] => rlpList(decodeRlp(bytes), least)

export const rlpList = (item: Rlp | undefined, least = 0): readonly Rlp[] => {
  if (item === undefined || !isList(item) || item.length < least)
    throw new RangeError(`expected an RLP list of at least ${least} items`)
  return item
}

export const rlpBytes = (item: Rlp | undefined): Uint8Array => {
  if (item === undefined || isList(item)) throw new RangeError('expected RLP bytes')
  return item
}

const isList = (item: Rlp): item is readonly Rlp[] => Array.isArray(item)

const encodedSize = (item: Rlp): number => {
  const length = payloadLength(item)
  return isItself(item) ? 1 : length + (length < SHORT_LENGTH ? 1 : 1 + sizeInBytes(length))
}

const payloadLength = (item: Rlp): number => {
  if (!isList(item)) return item.length
  let length = 0
  for (const inner of item) length += encodedSize(inner)
  return length
}

/** Shorter lengths fit into the prefix itself. */
const SHORT_LENGTH = 56

const sizeInBytes = (length: number): number => Math.ceil((32 - Math.clz32(length)) / 8)

/** A byte that needs no prefix. */
const isItself = (item: Rlp): item is Uint8Array => !isList(item) && item.length === 1 && item[0]! < 0x80

const writeItem = (target: Buffer, at: number, item: Rlp): number => {
  if (isItself(item)) {
    target[at] = item[0]!
    return at + 1
  }
  const base = isList(item) ? 0xc0 : 0x80
  const length = payloadLength(item)
  if (length < SHORT_LENGTH) target[at++] = base + length
  else {
    const size = sizeInBytes(length)
    target[at] = base + SHORT_LENGTH - 1 + size
    at = target.writeUIntBE(length, at + 1, size)
  }
  if (!isList(item)) {
    target.set(item, at)
    return at + length
  }
  for (const inner of item) at = writeItem(target, at, inner)
  return at
}

const readItem = (bytes: Uint8Array, at: number, most: number): { item: Rlp; end: number } => {
  if (at >= most) throw new RangeError(`the RLP ends at byte ${at}`)
  const first = bytes[at]!
  if (first < 0x80) return { item: bytes.subarray(at, at + 1), end: at + 1 }
  const list = first >= 0xc0
  const short = first - (list ? 0xc0 : 0x80)
  let start = at + 1
  let length = short
  if (short >= 56) {
    const sizeBytes = short - 55
    length = 0
    for (let i = 0; i < sizeBytes; i++) length = length * 256 + bytes[start + i]!
    start += sizeBytes
  }
  const end = start + length
  if (!(end <= most)) throw new RangeError(`the RLP at byte ${at} has a length beyond its end`)
  if (!list) return { item: bytes.subarray(start, end), end }
  const items: Rlp[] = []
  for (let next = start; next < end; ) {
    const inner = readItem(bytes, next, end)
    items.push(inner.item)
    next = inner.end
  }
  return { item: items, end }
}

/**
 * Root of the Merkle Patricia trie with items keyed by their RLP positions (Yellow Paper, appendix
 * D). Headers contain it for transactions, receipts and withdrawals.
 */
export const trieRootOf = (items: readonly Uint8Array[]): Uint8Array => {
  const entries = items.map((value, place) => ({ path: toNibbles(encodeRlp(toBigEndian(place))), value }))
  entries.sort((a, b) => Buffer.compare(a.path, b.path))
  return keccak256(encodeRlp(entries.length === 0 ? EMPTY_BYTES : nodeOf(entries, 0)))
}

interface TrieEntry {
  /** One nibble per byte. */
  path: Uint8Array
  value: Uint8Array
}

const EMPTY_BYTES = new Uint8Array(0)
/** Trie node of sorted entries whose paths are equal before `depth`. */
const nodeOf = (entries: readonly TrieEntry[], depth: number): Rlp => {
  const first = entries[0]!
  if (entries.length === 1) return [toPath(first.path.subarray(depth), true), first.value]
  const last = entries.at(-1)!
  let end = depth
  while (first.path[end] === last.path[end]) end++
  if (end > depth) return [toPath(first.path.subarray(depth, end), false), toReference(nodeOf(entries, end))]
  const children: Rlp[] = []
  for (let nibble = 0, at = 0; nibble < 16; nibble++) {
    const start = at
    while (at < entries.length && entries[at]!.path[depth] === nibble) at++
    children.push(start === at ? EMPTY_BYTES : toReference(nodeOf(entries.slice(start, at), depth + 1)))
  }
  // No path is a prefix of another, so branches have no values.
  return [...children, EMPTY_BYTES]
}

/** Nodes of less than 32 bytes are embedded in their parents. */
const toReference = (node: Rlp): Rlp => {
  const encoded = encodeRlp(node)
  return encoded.length < 32 ? node : keccak256(encoded)
}

/** Hex-prefix encoding: the first nibble flags a leaf and an odd number of nibbles. */
const toPath = (nibbles: Uint8Array, isLeaf: boolean): Uint8Array => {
  const odd = nibbles.length % 2
  const flag = (isLeaf ? 2 : 0) + odd
  const all = odd ? [flag, ...nibbles] : [flag, 0, ...nibbles]
  return Uint8Array.from({ length: all.length / 2 }, (_, i) => all[2 * i]! * 16 + all[2 * i + 1]!)
}

const toNibbles = (bytes: Uint8Array): Uint8Array =>
  Uint8Array.from({ length: bytes.length * 2 }, (_, i) => (i % 2 ? bytes[i >> 1]! & 15 : bytes[i >> 1]! >> 4))
/** Big-endian without leading zeros: nothing for 0. */
const toBigEndian = (value: number): Uint8Array => {
  const bytes: number[] = []
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return Uint8Array.from(bytes)
}
