// By default import: with an older Node, a missing name would end the program before it asks for a
// newer one.
import zlib from 'node:zlib'
import { type ByteWriter, createByteWriter } from '../../lib/bytes.ts'
import { damagedValue } from '../../sqlite/damage.ts'
import type { Addresses } from './addresses.ts'
import { cursor, type FieldForm, type Ids, sizedForm, takeVarint } from './form.ts'
import { HEX_START, QUOTE, ZERO } from './json.ts'

/**
 * Packs ABI data, which is mostly zeros and addresses: one control byte for every 32-byte word.
 *
 *     0 … 32       this number of bytes follows; leading zeros are omitted
 *     33 … 63      control − 32 bytes follow; trailing zeros are omitted
 *     64           an address: its dictionary id follows as varint
 *     65           the rest, less than a word: varint length, then its bytes
 *     66           the whole data compressed by zstd: the frame follows
 *     67           a selector: 4 bytes follow (only first, if 4 bytes exceed whole words)
 *
 * Equal data have equal packed forms, which SQL can compare. Only data over `COMPARABLE` bytes,
 * which indexes omit (`ignore_above`), may be compressed.
 */
export const WORD_CONTROL = { address: 64, rest: 65, zstd: 66, selector: 67 } as const
const { address: ADDRESS, rest: REST, zstd: ZSTD, selector: SELECTOR } = WORD_CONTROL
const COMPARABLE = 127
/** Below this packed size the compressor costs more than it saves. */
const WORTH_COMPRESSING = 512

type AddressId = (digits: string) => number | undefined

/**
 * Appends the packed form of `0x` hex data. Writes nothing and returns false if an address has no
 * id: then no stored data equals it.
 */
export const packAbi = (out: ByteWriter, data: string, addressId: AddressId, compresses = true): boolean => {
  const start = out.length
  const size = (data.length - 2) >> 1
  const digits = data.slice(2)
  scratch = scratch.length < size ? Buffer.allocUnsafeSlow(size * 2) : scratch
  const bytes = scratch
  if (size > 0 && bytes.write(digits, 0, 'hex') !== size) throw new Error(`not hex: ${data.slice(0, 80)}`)
  let at = 0
  if (size % 32 === 4) {
    out.byte(SELECTOR)
    out.bytes(bytes, 0, 4)
    at = 4
  }
  for (; at + 32 <= size; at += 32) {
    const leading = leadingZeros(bytes, at)
    if (leading !== ADDRESS_PADDING) {
      packWord(out, bytes, at, leading)
      continue
    }
    const id = addressId(digits.slice((at + ADDRESS_PADDING) * 2, (at + 32) * 2).toLowerCase())
    if (id === undefined) {
      out.truncate(start)
      return false
    }
    packAddress(out, id)
  }
  if (at < size) {
    out.byte(REST)
    out.varint(size - at)
    out.bytes(bytes, at, size)
  }
  if (compresses && size > COMPARABLE && out.length - start > WORTH_COMPRESSING)
    compress(out, start, bytes.subarray(0, size))
  return true
}

/** Returns the dictionary id if the topic is an address; `addressId` takes the whole topic. */
export const packTopic = (out: ByteWriter, topic: string, addressId: (topic: string) => number): number | undefined => {
  if (topic.startsWith(ADDRESS_PREFIX) && (topic.charCodeAt(26) !== ZERO || topic.charCodeAt(27) !== ZERO)) {
    const id = addressId(topic)
    packAddress(out, id)
    return id
  }
  scratch.write(topic.slice(2), 0, 'hex')
  packWord(out, scratch, 0, leadingZeros(scratch, 0))
  return undefined
}

const FRAME_BYTES = 64

/** Reads packed data, which may be damaged, as `0x` hex; `address` gives the 40 digits of an id. */
export const unpackAbi = (packed: Uint8Array, address: (id: number) => string): string => {
  let at = 0
  if (packed[0] === ZSTD) at = packed.length
  while (at < packed.length) at = endOfWord(packed, at)
  if (at !== packed.length) throw damagedValue('a packed value')
  unpackedText.clear()
  writeWordDigits(unpackedText, packed, 0, at, { plain: (out, id) => out.ascii(address(id)) })
  return `0x${unpackedText.latin1()}`
}

const unpackedText = createByteWriter()

const ZERO_WORD_DIGITS = '0'.repeat(64)
/** Zero bytes before an address. One that begins with zeros itself is packed as any other word. */
const ADDRESS_PADDING = 12
const ADDRESS_PREFIX = `0x${ZERO_WORD_DIGITS.slice(0, 2 * ADDRESS_PADDING)}`
let scratch = Buffer.allocUnsafeSlow(1 << 16)

const leadingZeros = (bytes: Uint8Array, at: number): number => {
  let zeros = 0
  while (zeros < 32 && bytes[at + zeros] === 0) zeros++
  return zeros
}

const packAddress = (out: ByteWriter, id: number) => {
  out.byte(ADDRESS)
  out.varint(id)
}

const packWord = (out: ByteWriter, bytes: Uint8Array, at: number, leading: number) => {
  let trailing = 0
  if (leading === 0) while (bytes[at + 31 - trailing] === 0) trailing++
  if (trailing > 0) {
    out.byte(64 - trailing)
    out.bytes(bytes, at, at + 32 - trailing)
  } else {
    out.byte(32 - leading)
    out.bytes(bytes, at + leading, at + 32)
  }
}

const compress = (out: ByteWriter, start: number, data: Buffer) => {
  // With the size of its input, the compressor takes little memory, which is most of its time.
  const frame = zlib.zstdCompressSync(data, { pledgedSrcSize: data.length, chunkSize: data.length + FRAME_BYTES })
  if (frame.length + 1 >= out.length - start) return
  out.truncate(start)
  out.byte(ZSTD)
  out.bytes(frame)
}

/** Far more than any transaction has: a damaged frame may state a huge size. */
const MAX_DECOMPRESSED = 2 ** 28

const decompressed = (frame: Uint8Array): Buffer => {
  try {
    return zlib.zstdDecompressSync(frame, { maxOutputLength: MAX_DECOMPRESSED })
  } catch (error) {
    throw damagedValue('a compressed value', error)
  }
}

const writeWordDigits = (
  out: ByteWriter,
  packed: Uint8Array,
  start: number,
  end: number,
  addresses: Pick<Addresses, 'plain'>,
) => {
  if (start < end && packed[start] === ZSTD) return out.digits(decompressed(packed.subarray(start + 1, end)))
  cursor.at = start
  while (cursor.at < end) {
    const control = packed[cursor.at++]!
    const at = cursor.at
    if (control <= 32) {
      out.fill(ZERO, 64 - 2 * control)
      out.digits(packed, at, at + control)
      cursor.at = at + control
    } else if (control < 64) {
      out.digits(packed, at, at + control - 32)
      out.fill(ZERO, 128 - 2 * control)
      cursor.at = at + control - 32
    } else if (control === SELECTOR) {
      out.digits(packed, at, at + 4)
      cursor.at = at + 4
    } else if (control === ADDRESS) {
      out.fill(ZERO, 24)
      addresses.plain(out, takeVarint(packed))
    } else {
      if (control !== REST) throw damagedValue('a packed value')
      const size = takeVarint(packed)
      out.digits(packed, cursor.at, cursor.at + size)
      cursor.at += size
    }
  }
}

export const endOfWord = (packed: Uint8Array, at: number): number => {
  const control = packed[at]!
  if (control <= 32) return at + 1 + control
  if (control < 64) return at + 1 + control - 32
  if (control === SELECTOR) return at + 5
  cursor.at = at + 1
  const value = takeVarint(packed)
  return control === REST ? cursor.at + value : cursor.at
}

/** Expands any packed word except a rest. */
export const expandWord = (
  packed: Uint8Array,
  at: number,
  addresses: Addresses,
  target: Uint8Array,
  to: number,
): void => {
  target.fill(0, to, to + 32)
  const control = packed[at]!
  if (control === ADDRESS) {
    cursor.at = at + 1
    addresses.copy(takeVarint(packed), target, to + 12)
    return
  }
  const size = control <= 32 ? control : control - 32
  const first = control <= 32 ? to + 32 - size : to
  for (let i = 0; i < size; i++) target[first + i] = packed[at + 1 + i]!
}

/** Characters of data from which on packed forms are cached. */
const LARGE_DATA = 1000

export const packData = (out: ByteWriter, data: string, ids: Ids) => {
  if (data.length <= 2) return
  const known = data.length > LARGE_DATA ? ids.packed : undefined
  const packed = known?.get(data)
  if (packed) return out.bytes(packed)
  const start = out.length
  packAbi(out, data, ids.addressOfDigits, ids.compresses)
  known?.set(data, Buffer.from(out.view(start)))
}

export const writeWords = (out: ByteWriter, packed: Uint8Array, start: number, end: number, addresses: Addresses) => {
  out.bytes(HEX_START)
  writeWordDigits(out, packed, start, end, addresses)
  out.byte(QUOTE)
}

export const wordsForm: FieldForm = sizedForm('words', {
  write: (out, value, ids) => packData(out, value as string, ids),
  json:
    ({ addresses }) =>
    (out, bytes, start, end) =>
      writeWords(out, bytes, start, end, addresses),
})
