import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { bytesToHex, toRlp } from 'viem'
import { decodeRlp, encodeRlp, type Rlp } from '../../src/lib/rlp.ts'

// viem is the oracle.
type Hexes = `0x${string}` | readonly Hexes[]
const hexOf = (item: Rlp): Hexes => (Array.isArray(item) ? item.map(hexOf) : bytesToHex(item as Uint8Array))

const check = (item: Rlp) => {
  const encoded = encodeRlp(item)
  assert.equal(`0x${encoded.toString('hex')}`, toRlp(hexOf(item) as never))
  assert.deepEqual(hexOf(decodeRlp(encoded)), hexOf(item))
}

describe('RLP', () => {
  it('is what viem writes, about every length at which its form changes', () => {
    for (const length of [0, 1, 2, 54, 55, 56, 57, 255, 256, 257, 65_535, 65_536, 70_000])
      for (const byte of [0, 0x7f, 0x80, 0xff]) {
        const bytes = new Uint8Array(length).fill(byte)
        for (const item of [
          bytes,
          [bytes],
          [bytes, [bytes], []],
          Array.from({ length: 60 }, () => bytes.subarray(0, 1)),
        ])
          check(item)
      }
  })

  it('is what viem writes of any lists', () => {
    const { item } = fc.letrec<{ item: Rlp }>(tie => ({
      item: fc.oneof({ maxDepth: 4 }, fc.uint8Array({ maxLength: 80 }), fc.array(tie('item'), { maxLength: 6 })),
    }))
    fc.assert(fc.property(item, check), { numRuns: 1000 })
  })
})
