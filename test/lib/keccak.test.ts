import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { getAddress, toHex, keccak256 as viemKeccak } from 'viem'
import { checksumAddress, isChecksummed, keccak256, keccakHex } from '../../src/lib/keccak.ts'

const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(bytes => toHex(bytes))

test('the hash equals the published vectors and the oracle', () => {
  assert.equal(
    Buffer.from(keccak256(new Uint8Array())).toString('hex'),
    'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
  )
  assert.equal(
    keccakHex('Transfer(address,address,uint256)'),
    '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), bytes => {
      assert.equal(toHex(keccak256(bytes)), viemKeccak(bytes))
    }),
  )
})

test('an address gets the letter case of EIP-55 whatever its own', () => {
  for (const known of [
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
    '0x52908400098527886E0F7030069857D2E4169EE7',
    '0xde709f2102306220921060314715629080e2fb77',
    '0x0000000000000000000000000000000000000000',
  ]) {
    assert.equal(checksumAddress(known.toLowerCase()), known)
    assert.equal(checksumAddress(`0x${known.slice(2).toUpperCase()}`), known)
    assert.equal(checksumAddress(known), known)
  }
  fc.assert(fc.property(address, hex => assert.equal(checksumAddress(hex), getAddress(hex))))
})

test('the cache stays right when its generations change', () => {
  const nth = (n: number) => `0x${(n * 0x9e3779b97f).toString(16).padStart(40, 'a')}`
  const first = checksumAddress(nth(0))
  for (let n = 1; n < 70_000; n++) checksumAddress(nth(n))
  assert.equal(checksumAddress(nth(0)), first)
  for (const n of [1, 35_000, 69_999]) assert.equal(checksumAddress(nth(n)), getAddress(nth(n)))
})

test('only addresses in the case of EIP-55 count as checksummed', () => {
  const good = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
  assert.equal(isChecksummed(good), true)
  assert.equal(isChecksummed('0x0000000000000000000000000000000000000000'), true)
  for (const bad of [
    good.toLowerCase(),
    good.toUpperCase(),
    good.slice(0, -1),
    `${good}0`,
    good.slice(2),
    '',
    '0x',
    'Transfer',
  ])
    assert.equal(isChecksummed(bad), false, bad)
})

test('what is no address has no checksum', () => {
  assert.throws(() => checksumAddress('0x1234'), { name: 'TypeError', message: 'not an address: 0x1234' })
})
