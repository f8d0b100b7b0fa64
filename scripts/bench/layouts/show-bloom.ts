import { bytes, type Json } from './json.ts'
import { PIECES, readLog, wordEnd } from './show-log.ts'
import type { Source } from './source.ts'
import { bloomBitsOf, cursor, varint, WORD } from './values.ts'

const OPEN_HEX = bytes('"0x')

/** Writes a transaction's bloom filter, which is kept nowhere: it is that of its logs, which are read for it. */
export const createBloomShow = ({ reader, addresses, block: blockOf, record }: Source) => {
  const topicBits = new Map<number, number>()
  const sum = new Uint8Array(256)
  const word = Buffer.alloc(32)
  const add = (bits: number) => {
    set(bits % 2048)
    set(Math.floor(bits / 2048) % 2048)
    set(Math.floor(bits / 4_194_304))
  }
  const set = (bit: number) => {
    sum[255 - (bit >> 3)]! |= 1 << (bit & 7)
  }
  /** The 32 bytes of a packed topic. */
  const wordOf = (packed: Buffer, at: number, next: number): Buffer => {
    word.fill(0)
    const control = packed[at]!
    if (control === WORD.address) {
      cursor.at = at + 1
      word.set(addresses.bytes(varint(packed)), 12)
    } else word.set(packed.subarray(at + 1, next), control <= 32 ? 32 - control : 0)
    return word
  }

  return (json: Json, number: number, place: number) => {
    sum.fill(0)
    const { logEnds } = blockOf(number)
    for (let i = place === 0 ? 0 : logEnds[place - 1]!; i < logEnds[place]!; i++) {
      const view = record('log', number, i)
      const { address, signature, topics, data } = readLog(view)
      add(addresses.bloomBits(address))
      let bits = topicBits.get(signature)
      if (bits === undefined) {
        const { topic } = reader.signature(signature)
        bits = topic === null ? -1 : bloomBitsOf(Buffer.from(topic.slice(2), 'hex'))
        topicBits.set(signature, bits)
      }
      if (bits >= 0) add(bits)
      for (let at = topics; at < data; ) {
        const next = wordEnd(view.bytes, at)
        add(bloomBitsOf(wordOf(view.bytes, at, next)))
        at = next
      }
    }
    json.piece(OPEN_HEX)
    json.hex(sum, 0, 256)
    json.piece(PIECES.quote)
  }
}
