import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { findReachable, jumpTargets, metadataStart } from '../../src/decode/bytecode.ts'
import { readCompiled } from '../support/compiled.ts'

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'))
const compiled = readCompiled().map(it => ({ ...it, bytes: bytes(it.code.slice(2)) }))

test('the metadata of solc begins with its map', () => {
  const bySolc = compiled.filter(({ by }) => !by.startsWith('vyper'))
  for (const { name, by, bytes } of bySolc) {
    const metadata = bytes.subarray(metadataStart(bytes))
    // A map of one or two keys, and the length of it all.
    assert.match(
      Buffer.from(metadata).toString('latin1'),
      /^[\xa1\xa2](\x64ipfs|\x65bzzr[01]|\x64solc)/,
      `${name} by ${by}`,
    )
    assert.equal((metadata.at(-2)! << 8) | metadata.at(-1)!, metadata.length - 2)
  }
})

test('code without metadata is code to its end', () => {
  for (const code of ['', '00', '6001600155', 'a264697066730000', '5b'.repeat(100)])
    assert.equal(metadataStart(bytes(code)), code.length / 2, code)
})

test('places to jump to are those that running byte by byte passes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), code => {
      const expected = new Uint8Array(code.length)
      let data = 0
      for (const [at, byte] of code.entries()) {
        if (data > 0) data--
        else if (byte === 0x5b) expected[at] = 1
        else if (byte >= 0x60 && byte <= 0x7f) data = byte - 0x5f
      }
      assert.deepEqual(jumpTargets(code, code.length), expected)
    }),
  )
})

test('what is reached is what runs on from an entry and what it names', () => {
  // 0: PUSH1 5, JUMP; 3: INVALID, STOP; 5: JUMPDEST, PUSH1 3, JUMPI; 9: STOP; 10: JUMPDEST
  const code = bytes('600556fe005b600357005b')
  const targets = jumpTargets(code, code.length)
  assert.deepEqual(findReachable(code, targets, [0]), [0, 2, 5, 6, 8, 9])
  assert.deepEqual(findReachable(code, targets, [0, 10]), [0, 2, 5, 6, 8, 9, 10])
  assert.deepEqual(findReachable(bytes('60'), new Uint8Array(1), [0]), [0])
})
