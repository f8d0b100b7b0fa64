import type { ByteWriter } from '../../lib/bytes.ts'

export const piece = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))

export const NULL = piece('null')
export const TRUE = piece('true')
export const FALSE = piece('false')
export const HEX_START = piece('"0x')

const codes = [...Buffer.from('",{}[]0')]
export const [QUOTE, COMMA, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST, ZERO] = codes as [
  number,
  number,
  number,
  number,
  number,
  number,
  number,
]

export const writeJson = (out: ByteWriter, value: unknown) => out.text(JSON.stringify(value))

export const writeHex = (out: ByteWriter, bytes: Uint8Array, start: number, end: number) => {
  out.bytes(HEX_START)
  out.digits(bytes, start, end)
  out.byte(QUOTE)
}

/** `key` begins with a comma. `write` returns false if the member is absent. */
export interface JsonMember {
  key: Uint8Array
  write(out: ByteWriter): boolean
}

export const memberKey = (name: string): Uint8Array => piece(`,${JSON.stringify(name)}:`)

/** `start` is where the first member of the object begins. */
export const writeMembers = (out: ByteWriter, members: readonly JsonMember[], start: number) => {
  for (let i = 0; i < members.length; i++) {
    const { key, write } = members[i]!
    const before = out.length
    out.bytes(key, before === start ? 1 : 0)
    if (!write(out)) out.truncate(before)
  }
}

export const writeObject = (out: ByteWriter, members: readonly JsonMember[]) => {
  out.byte(OPEN)
  writeMembers(out, members, out.length)
  out.byte(CLOSE)
}
