import { keccak256 } from './keccak.ts'
import { encodeRlp, type Rlp } from './rlp.ts'

/**
 * The root of the Merkle Patricia trie that holds items under the RLP of their places (Yellow Paper, appendix D): headers state it of their
 * transactions, receipts and withdrawals.
 */
export const trieRootOf = (items: readonly Uint8Array[]): Uint8Array => {
  const entries = items.map((value, place) => ({ path: toNibbles(encodeRlp(toBytes(place))), value }))
  entries.sort((a, b) => Buffer.compare(a.path, b.path))
  return keccak256(encodeRlp(entries.length === 0 ? EMPTY : nodeOf(entries, 0)))
}

interface Entry {
  /** Half a byte each. */
  path: Uint8Array
  value: Uint8Array
}

const EMPTY = new Uint8Array(0)

/** The node of some entries, sorted by their paths, which are the same before `depth`. */
const nodeOf = (entries: readonly Entry[], depth: number): Rlp => {
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
    children.push(start === at ? EMPTY : toReference(nodeOf(entries.slice(start, at), depth + 1)))
  }
  // A place has the path of no other one as its beginning, so that branches have no values.
  return [...children, EMPTY]
}

/** Nodes of less than 32 bytes stand in their parents. */
const toReference = (node: Rlp): Rlp => {
  const encoded = encodeRlp(node)
  return encoded.length < 32 ? node : keccak256(encoded)
}

/** Hex-prefix encoding: the first half byte says whether it is a leaf, and whether the number of half bytes is odd. */
const toPath = (nibbles: Uint8Array, isLeaf: boolean): Uint8Array => {
  const odd = nibbles.length % 2
  const flag = (isLeaf ? 2 : 0) + odd
  const all = odd ? [flag, ...nibbles] : [flag, 0, ...nibbles]
  return Uint8Array.from({ length: all.length / 2 }, (_, i) => all[2 * i]! * 16 + all[2 * i + 1]!)
}

const toNibbles = (bytes: Uint8Array): Uint8Array =>
  Uint8Array.from({ length: bytes.length * 2 }, (_, i) => (i % 2 ? bytes[i >> 1]! & 15 : bytes[i >> 1]! >> 4))

/** Big-endian without leading zeros: nothing for 0. */
const toBytes = (value: number): Uint8Array => {
  const bytes: number[] = []
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return Uint8Array.from(bytes)
}
