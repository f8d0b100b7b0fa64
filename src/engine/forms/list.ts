import { type ByteWriter, createByteWriter } from '../../lib/bytes.ts'
import { encodeRlp, type Rlp } from '../../lib/rlp.ts'
import type { Field, FieldKind, ListField } from '../../mapping/index.ts'
import type { Addresses } from './addresses.ts'
import { type FieldForm, sizedForm, writeCut } from './form.ts'
import { integerHex } from './integer.ts'
import { CLOSE, CLOSE_LIST, COMMA, HEX_START, memberKey, OPEN, OPEN_LIST, QUOTE, writeHex } from './json.ts'
import { writeHexNumber } from './numbers.ts'

/** A list of objects, as RLP of their members in the order of the mapping. */
export const listForm = ({ members }: ListField): FieldForm => {
  const fields = Object.entries(members).map(([name, member]) => ({ name, member, key: memberKey(name) }))
  return sizedForm('list', {
    /** An absent member is an empty list. */
    write(out, value) {
      const items = value as Record<string, unknown>[]
      const rlp = items.map(item =>
        fields.map(({ name, member }) => rlpOf(member, item[name] ?? item[snakeCase(name)])),
      )
      out.bytes(encodeRlp(rlp))
    },
    json({ addresses }, plan) {
      const write = listWriter(fields, addresses)
      if (plan.cut(SAMPLE_LIST) === SAMPLE_LIST) return write
      return (out, bytes, start) => {
        // A filtered list goes through objects.
        unfiltered.truncate(0)
        write(unfiltered, bytes, start)
        return writeCut(out, JSON.parse(unfiltered.latin1()), plan)
      }
    },
  })
}

interface ListMember {
  name: string
  member: Field
  key: Uint8Array
}

const unfiltered = createByteWriter(1 << 10)
/** A filter that looks into a list removes this item. */
const SAMPLE_LIST = [{}]

const rlpOf = (member: Field, value: unknown): Rlp => {
  if (value === undefined || value === null) return []
  if (member.kind === 'hexList') return [(value as string[]).map(hex => Buffer.from(hex.slice(2), 'hex'))]
  const digits = integerHex(value).slice(2)
  return [Buffer.from(member.kind === 'hexNumber' ? evenDigits(digits.replace(/^0+/, '')) : digits, 'hex')]
}

/** Some older nodes and exports write `validator_index`. */
const snakeCase = (name: string): string => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

const evenDigits = (digits: string): string => (digits.length % 2 ? `0${digits}` : digits)

/** Writes lists of objects from their RLP. */
const listWriter = (fields: readonly ListMember[], addresses: Addresses) => {
  const value = (out: ByteWriter, rlp: Uint8Array, kind: FieldKind, at: number) => {
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
      out.bytes(HEX_START)
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
      const { key, member } = fields[i]!
      out.bytes(key, out.length === first ? 1 : 0)
      value(out, rlp, member.kind, item.start)
    }
    out.byte(CLOSE)
    return end
  }

  return (out: ByteWriter, rlp: Uint8Array, at: number): void => {
    enter(rlp, at)
    const { start, end } = item
    out.byte(OPEN_LIST)
    for (let next = start; next < end; ) {
      if (next > start) out.byte(COMMA)
      next = object(out, rlp, next)
    }
    out.byte(CLOSE_LIST)
  }
}

/** The content of the item that was entered last. */
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
