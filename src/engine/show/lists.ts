import type { ByteWriter } from '../../lib/bytes.ts'
import type { FieldKind, List } from '../../mapping/index.ts'
import type { Addresses } from './addresses.ts'
import { writeHexNumber } from './numbers.ts'
import { CLOSE, CLOSE_LIST, COMMA, HEX, keyOf, OPEN, OPEN_LIST, QUOTE, writeHex } from './pieces.ts'

/** Writes lists of objects from the RLP that they are kept in: of each item its members, each a list that is empty where it has none. */
export const listWriter = ({ members }: List, addresses: Addresses): ((out: ByteWriter, rlp: Uint8Array) => void) => {
  const fields = Object.entries(members).map(([name, { kind }]) => ({ key: keyOf(name), kind }))

  const member = (out: ByteWriter, rlp: Uint8Array, kind: FieldKind, at: number) => {
    enter(rlp, at)
    const { start, end } = item
    if (kind === 'hexList') {
      out.byte(OPEN_LIST)
      for (let next = start; next < end; next = item.end) {
        if (next > start) out.byte(COMMA)
        enter(rlp, next)
        writeHex(out, rlp, item.start, item.end)
      }
      out.byte(CLOSE_LIST)
    } else if (kind === 'hexNumber') writeHexNumber(out, rlp, start, end)
    else if (kind === 'address') {
      out.bytes(HEX)
      addresses.checksummedBytes(out, rlp, start)
      out.byte(QUOTE)
    } else writeHex(out, rlp, start, end)
  }

  const object = (out: ByteWriter, rlp: Uint8Array, at: number): number => {
    enter(rlp, at)
    const { end } = item
    let next = item.start
    out.byte(OPEN)
    const first = out.length
    for (let i = 0; i < fields.length; i++) {
      enter(rlp, next)
      next = item.end
      if (item.start === item.end) continue
      const { key, kind } = fields[i]!
      out.bytes(key, out.length === first ? 1 : 0)
      member(out, rlp, kind, item.start)
    }
    out.byte(CLOSE)
    return end
  }

  return (out, rlp) => {
    enter(rlp, 0)
    const { start, end } = item
    out.byte(OPEN_LIST)
    for (let next = start; next < end; ) {
      if (next > start) out.byte(COMMA)
      next = object(out, rlp, next)
    }
    out.byte(CLOSE_LIST)
  }
}

/** Where the content of the item that was entered last begins and ends. */
const item = { start: 0, end: 0 }

const enter = (rlp: Uint8Array, at: number) => {
  const first = rlp[at]!
  if (first < 0x80) {
    item.start = at
    item.end = at + 1
    return
  }
  const short = first - (first >= 0xc0 ? 0xc0 : 0x80)
  let start = at + 1
  let length = short
  if (short >= 56) {
    length = 0
    for (const end = start + short - 55; start < end; start++) length = length * 256 + rlp[start]!
  }
  item.start = start
  item.end = start + length
}
