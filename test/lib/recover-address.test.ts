import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import fc from 'fast-check'
import { recoverAddress as recoverByViem } from 'viem'
import { sign } from 'viem/accounts'
import { keccak256 } from '../../src/lib/keccak.ts'
import { recoverAddress, recoverReady } from '../../src/lib/recover-address.ts'

before(recoverReady)

const hexOf = (bytes: Uint8Array): `0x${string}` => `0x${Buffer.from(bytes).toString('hex')}`
const bytesOf = (hex: string) => new Uint8Array(Buffer.from(hex.slice(2), 'hex'))
/** As RLP has numbers. */
const trimmed = (bytes: Uint8Array) => bytes.subarray(bytes.findIndex(byte => byte !== 0))
const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

test('senders are those that viem finds, also of signatures with a high s and with leading zeros', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1 }), fc.boolean(), async (seed, high) => {
      const key = keccak256(Buffer.from(`key ${seed % 5}`))
      const hash = keccak256(Buffer.from(`message ${seed}`))
      const { r, s, yParity } = await sign({ hash: hexOf(hash), privateKey: hexOf(key) })
      // Before Homestead a signature could have either s.
      const other = high ? `0x${(N - BigInt(s)).toString(16).padStart(64, '0')}` : s
      const odd = (yParity === 1) !== high
      const found = recoverAddress(hash, { r: trimmed(bytesOf(r)), s: trimmed(bytesOf(other)), odd })
      const due = await recoverByViem({ hash: hexOf(hash), signature: { r, s, yParity: yParity! } })
      assert.equal(hexOf(found), due.toLowerCase())
    }),
    { numRuns: 40, seed: 1 },
  )
})

test('what is no signature is a RangeError', () => {
  const one = Uint8Array.from([1])
  const good = bytesOf(`0x${'11'.repeat(32)}`)
  for (const [r, s] of [
    [new Uint8Array(0), one],
    [one, new Uint8Array(0)],
    [bytesOf(`0x${'ff'.repeat(32)}`), one],
    [one, bytesOf(`0x${N.toString(16)}`)],
    [new Uint8Array(33), one],
    [bytesOf(`0x${'00'.repeat(31)}05`), one],
  ] as const)
    assert.throws(() => recoverAddress(good, { r, s, odd: false }), RangeError)
})
