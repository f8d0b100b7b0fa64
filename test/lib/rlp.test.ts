import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { bytesToHex, toRlp } from 'viem'
import { decodeRlp, decodeRlpList, encodeRlp, type Rlp } from '../../src/lib/rlp.ts'

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

  it('refuses bytes that are not RLP, and never gives more than is there', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 0, maxLength: 60 }), bytes => {
        let item: Rlp
        try {
          item = decodeRlp(bytes)
        } catch (error) {
          assert.ok(error instanceof RangeError)
          return
        }
        const size = (it: Rlp): number =>
          it instanceof Uint8Array ? it.length : it.reduce((sum, part) => sum + size(part), 0)
        assert.ok(size(item) <= bytes.length)
      }),
      { numRuns: 2000, seed: 1 },
    )
    assert.throws(() => decodeRlp(Uint8Array.from([0xfb, 0xff, 0xff, 0xff, 0xff])), RangeError)
    assert.throws(() => decodeRlp(new Uint8Array(200_000).fill(0xff)), RangeError)
    assert.throws(() => decodeRlpList(encodeRlp([new Uint8Array(1)]), 2), RangeError)
  })
})
