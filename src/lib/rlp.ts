/** Recursive Length Prefix, Ethereum's encoding of nested lists of byte strings (Yellow Paper, appendix B). */
export type Rlp = Uint8Array | readonly Rlp[]

export const encodeRlp = (item: Rlp): Buffer => {
  const target = Buffer.allocUnsafe(sizeOf(item))
  write(target, 0, item)
  return target
}

/** Throws a `RangeError` where a length leads beyond the bytes. Bytes behind the item are left alone. */
export const decodeRlp = (bytes: Uint8Array): Rlp => read(bytes, 0, bytes.length).item

/** The same of a list, of at least so many items. */
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

/** Bytes of an encoded item, with its prefix. */
const sizeOf = (item: Rlp): number => {
  const length = lengthOf(item)
  return isItself(item) ? 1 : length + (length < SHORT ? 1 : 1 + sizeInBytes(length))
}

const lengthOf = (item: Rlp): number => {
  if (!isList(item)) return item.length
  let length = 0
  for (const inner of item) length += sizeOf(inner)
  return length
}

/** Lengths below stand in the prefix itself. */
const SHORT = 56

const sizeInBytes = (length: number): number => Math.ceil((32 - Math.clz32(length)) / 8)

/** A byte that needs no prefix. */
const isItself = (item: Rlp): item is Uint8Array => !isList(item) && item.length === 1 && item[0]! < 0x80

/** Returns where the item ends. */
const write = (target: Buffer, at: number, item: Rlp): number => {
  if (isItself(item)) {
    target[at] = item[0]!
    return at + 1
  }
  const base = isList(item) ? 0xc0 : 0x80
  const length = lengthOf(item)
  if (length < SHORT) target[at++] = base + length
  else {
    const size = sizeInBytes(length)
    target[at] = base + SHORT - 1 + size
    at = target.writeUIntBE(length, at + 1, size)
  }
  if (!isList(item)) {
    target.set(item, at)
    return at + length
  }
  for (const inner of item) at = write(target, at, inner)
  return at
}

const read = (bytes: Uint8Array, at: number, most: number): { item: Rlp; end: number } => {
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
    const inner = read(bytes, next, end)
    items.push(inner.item)
    next = inner.end
  }
  return { item: items, end }
}
