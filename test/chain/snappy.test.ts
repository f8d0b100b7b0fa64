import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { unpackFrames } from '../../src/chain/files/era1/snappy.ts'
import { crc32c } from '../../src/lib/hash.ts'
import { framesOf } from '../support/era1.ts'

test('CRC-32C of the usual text', () => assert.equal(crc32c(Buffer.from('123456789')), 0xe3069283))

const content = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc
    .array(fc.constantFrom('abc', 'abcd', '0000000000', 'x'), { maxLength: 400 })
    .map(parts => Buffer.from(parts.join(''))),
  fc.integer({ min: 60_000, max: 200_000 }).map(size => Buffer.alloc(size, 'some text that comes again ')),
)

test('frames are unpacked to what was packed', () => {
  fc.assert(
    fc.property(content, bytes => {
      assert.ok(unpackFrames(framesOf(bytes), 1 << 20).equals(bytes))
    }),
    { numRuns: 200, seed: 1 },
  )
})

test('damaged frames are a RangeError, or leave the content as it is', () => {
  fc.assert(
    fc.property(content, fc.nat(), fc.integer({ min: 1, max: 255 }), fc.boolean(), (bytes, place, change, cut) => {
      const frames = framesOf(bytes)
      const at = place % frames.length
      const damaged = cut ? frames.subarray(0, at) : Buffer.from(frames)
      if (!cut) damaged[at]! ^= change
      let found: Buffer
      try {
        found = unpackFrames(damaged, 1 << 20)
      } catch (error) {
        assert.ok(error instanceof RangeError, String(error))
        return
      }
      // A file may end between two frames, and frames of types that readers may not know are passed over.
      assert.ok(bytes.length === 0 || found.length < bytes.length || found.equals(bytes))
    }),
    { numRuns: 300, seed: 2 },
  )
})

test('no more is unpacked than allowed', () => {
  assert.throws(() => unpackFrames(framesOf(Buffer.alloc(200_000)), 100_000), /it has more than 100000 bytes/)
})
