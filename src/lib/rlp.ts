/** Recursive Length Prefix, Ethereum's encoding of nested lists of byte strings (Yellow Paper, appendix B). */
export type Rlp = Uint8Array | readonly Rlp[]

export const encodeRlp = (item: Rlp): Buffer => {
  if (!isList(item)) {
    if (item.length === 1 && item[0]! < 0x80) return Buffer.from(item)
    return Buffer.concat([prefix(0x80, item.length), item])
  }
  const body = Buffer.concat(item.map(encodeRlp))
  return Buffer.concat([prefix(0xc0, body.length), body])
}

export const decodeRlp = (bytes: Uint8Array): Rlp => read(bytes, 0).item

const isList = (item: Rlp): item is readonly Rlp[] => Array.isArray(item)

const prefix = (base: number, length: number): Buffer => {
  if (length < 56) return Buffer.from([base + length])
  const digits = length.toString(16)
  const size = Buffer.from(digits.length % 2 ? `0${digits}` : digits, 'hex')
  return Buffer.concat([Buffer.from([base + 55 + size.length]), size])
}

const read = (bytes: Uint8Array, at: number): { item: Rlp; end: number } => {
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
  if (!list) return { item: bytes.subarray(start, end), end }
  const items: Rlp[] = []
  for (let next = start; next < end; ) {
    const inner = read(bytes, next)
    items.push(inner.item)
    next = inner.end
  }
  return { item: items, end }
}
