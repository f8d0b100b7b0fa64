import { bloomBitsOf } from '../../lib/bloom.ts'
import type { ByteWriter } from '../../lib/bytes.ts'
import { memoize } from '../../lib/caches.ts'
import { indexOfTx, type StoredBlock } from '../documents/records/block.ts'
import { newLogRecord, readLog } from '../documents/records/log.ts'
import { endOfWord, expandWord, WORD_CONTROL } from '../forms/abi-words.ts'
import { cursor, takeVarint } from '../forms/form.ts'
import { writeHex } from '../forms/json.ts'
import { positionOf } from '../schema.ts'
import type { ShowContext } from './context.ts'

/** Topics whose bits are cached: neither addresses nor the first of a signature. */
const TOPICS = 20_000

/** Writes a transaction's bloom filter, which follows from its logs. */
export const createBloomShow = ({ reader, records, addresses }: ShowContext) => {
  const knownBits = new Map<string, number>()
  const sum = new Uint8Array(256)
  const word = Buffer.alloc(32)
  const log = newLogRecord()

  const set = (bit: number) => {
    const at = 255 - (bit >> 3)
    sum[at] = sum[at]! | (1 << (bit & 7))
  }
  const add = (bits: number) => {
    const low = bits % 4_194_304
    set(low & 2047)
    set(low >> 11)
    set((bits - low) / 4_194_304)
  }

  /** -1 if the signature has no first topic. */
  const firstTopicBits = memoize(TOPICS, (signature: number) => {
    const { topic } = reader.signature(signature)
    return topic === null ? -1 : bloomBitsOf(Buffer.from(topic.slice(2), 'hex'))
  })

  const topicBits = (packed: Buffer, at: number, end: number): number => {
    if (packed[at] === WORD_CONTROL.address) {
      cursor.at = at + 1
      return addresses.topicBits(takeVarint(packed))
    }
    const key = packed.toString('latin1', at, end)
    let bits = knownBits.get(key)
    if (bits === undefined) {
      expandWord(packed, at, addresses, word, 0)
      bits = bloomBitsOf(word)
      if (knownBits.size >= TOPICS) knownBits.clear()
      knownBits.set(key, bits)
    }
    return bits
  }

  return (out: ByteWriter, block: StoredBlock, place: number) => {
    sum.fill(0)
    const index = indexOfTx(block, place)
    const { logEnds, places, number } = block
    for (let i = index === 0 ? 0 : logEnds[index - 1]!; i < logEnds[index]!; i++) {
      const view = records.find('log', positionOf(number, places ? places.logs[i]! : i))
      if (!view) continue
      const { bytes } = view
      readLog(bytes, view.start, log)
      add(addresses.bloomBits(log.address))
      const first = firstTopicBits(log.signature)
      if (first >= 0) add(first)
      for (let at = log.topicsStart; at < log.topicsEnd; ) {
        const end = endOfWord(bytes, at)
        add(topicBits(bytes, at, end))
        at = end
      }
    }
    writeHex(out, sum, 0, sum.length)
  }
}
