import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createKeys } from '../../../src/engine/aggs/keys.ts'
import type { StoreReader } from '../../../src/engine/reader.ts'
import { checksumAddress } from '../../../src/lib/keccak.ts'

it('a text is one key, whether its address was stored before or after it was first seen', () => {
  const digits = ['c02aaa39b223fe8d0a0e5c4f27ead9083c756cc2', 'a0b86991c6218b36c1d19d4a2e9eb0ce3606eb48']
  const stored = [digits[0]!]
  const reader = {
    addressId: (of: string) => (stored.includes(of) ? stored.indexOf(of) + 1 : undefined),
    addressDigits: (id: number) => stored[id - 1],
  } as unknown as StoreReader
  const [early, late] = digits.map(of => checksumAddress(`0x${of}`)) as [string, string]
  for (const space of ['address', 'text'] as const) {
    stored.length = 1
    const keys = createKeys(space, reader)
    assert.equal(keys.areAddressIds, space === 'address')
    if (keys.areAddressIds) assert.equal(keys.of(early), 1)
    assert.equal(keys.value(keys.of(early)), early)
    const before = keys.of(late)
    stored.push(digits[1]!)
    assert.equal(keys.of(late), before)
    assert.equal(keys.areAddressIds, false)
    assert.equal(keys.value(before), late)
    // Another letter case is another text.
    assert.notEqual(keys.of(early.toLowerCase()), keys.of(early))
  }
})
