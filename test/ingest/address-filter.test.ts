import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createAddressFilter } from '../../src/ingest/decoding/dictionaries.ts'
import { keccakHex } from '../../src/lib/keccak.ts'

const addresses = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, i) => keccakHex(`address ${from + i}`).slice(-40))

describe('the filter of addresses', () => {
  it('never denies one that is stored or was added, and hardly ever admits another', () => {
    const filter = createAddressFilter(2000, addresses(0, 2000))
    for (const address of addresses(0, 2000)) assert.ok(filter.mayHave(address))
    const others = addresses(10_000, 20_000)
    assert.ok(others.filter(filter.mayHave).length < 20)
    const before = others.map(filter.mayHave)
    assert.deepEqual(others.map(filter.add), before)
    for (const address of others) assert.ok(filter.mayHave(address) && filter.add(address))
  })

  it('tells addresses apart that look alike', () => {
    const alike = Array.from({ length: 5000 }, (_, i) => i.toString(16).padStart(40, '0'))
    const filter = createAddressFilter(0, [])
    const admitted = alike.filter(address => filter.add(address)).length
    assert.ok(admitted < 50, `${admitted}`)
  })
})
