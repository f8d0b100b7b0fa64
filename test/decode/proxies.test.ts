import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { encodeAbiParameters, type Hex } from 'viem'
import { PROXY_QUESTIONS, readAddressWord, readDelegation, readFacets } from '../../src/decode/proxies.ts'

const ADDRESS = `0x${'a1'.repeat(20)}`
const word = `0x${'00'.repeat(12)}${ADDRESS.slice(2)}`
const facetsType = [
  {
    type: 'tuple[]',
    components: [
      { name: 'address', type: 'address' },
      { name: 'selectors', type: 'bytes4[]' },
    ],
  },
] as const
const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map(it => `0x${Buffer.from(it).toString('hex')}` as Hex)
const facet = fc
  .tuple(hex(20), fc.array(hex(4), { maxLength: 9 }))
  .map(([address, selectors]) => ({ address, selectors }))
const diamond = fc.array(facet, { maxLength: 9 })
const encode = (facets: readonly { address: Hex; selectors: readonly Hex[] }[]) =>
  encodeAbiParameters(facetsType, [facets])

test('proxies are asked at the slots and by the functions that the standards name', () => {
  assert.deepEqual(PROXY_QUESTIONS, {
    'EIP-1167': { kind: 'fixed' },
    'EIP-7702': { kind: 'fixed' },
    'EIP-1967': { kind: 'upgradeable', slot: '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc' },
    'EIP-1967 beacon': { kind: 'beacon', slot: '0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50' },
    'EIP-1822': { kind: 'upgradeable', slot: '0xc5f16f0fcc639fa48a6947836d9850f504798523bf8c9a3a87d5876cf622bcf7' },
    'EIP-897': {
      kind: 'upgradeable',
      call: '0x5c60da1b',
      slot: '0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3',
    },
    'Safe proxy': { kind: 'fixed', slot: `0x${'00'.repeat(32)}` },
    Diamond: { kind: 'diamond', call: '0x7a0ed627' },
  })
})

test('what a proxy delegates to is the address in its slot or answer', () => {
  const targets = [{ address: ADDRESS }]
  assert.deepEqual(readDelegation('EIP-1967', word, undefined), { kind: 'upgradeable', targets })
  assert.deepEqual(readDelegation('EIP-1967', `0x${ADDRESS.slice(2)}`, undefined), { kind: 'upgradeable', targets })
  assert.deepEqual(readDelegation('EIP-1967', '0x0', undefined), { kind: 'upgradeable', targets: [] })
  assert.deepEqual(readDelegation('EIP-1967 beacon', word, undefined), { kind: 'beacon', targets })
  assert.deepEqual(readDelegation('EIP-897', '0x0', word), { kind: 'upgradeable', targets })
  assert.deepEqual(readDelegation('EIP-897', word, null), { kind: 'upgradeable', targets })
  assert.deepEqual(readDelegation('Safe proxy', word, undefined), { kind: 'fixed', targets })
  assert.equal(readDelegation('Diamond', undefined, null), null)
  for (const none of [null, '0x', '0x0', `0x${'00'.repeat(32)}`, `0x01${word.slice(4)}`, `${word}${word.slice(2)}`])
    assert.equal(readAddressWord(none), null, String(none))
})

test('the facets of diamonds are read as they were encoded', () => {
  fc.assert(
    fc.property(diamond, facets => {
      assert.deepEqual(readFacets(encode(facets)), facets)
      const delegation = readDelegation('Diamond', undefined, encode(facets))
      assert.deepEqual(delegation, facets.length === 0 ? null : { kind: 'diamond', targets: facets })
    }),
  )
})

test('answers that are no facets, cut off or larger than any diamond, are none', () => {
  fc.assert(
    fc.property(diamond, fc.nat(), fc.nat(255), (facets, at, byte) => {
      const answer = Buffer.from(encode(facets).slice(2), 'hex')
      const cut = readFacets(`0x${answer.subarray(0, at % answer.length).toString('hex')}`)
      assert.deepEqual(cut, [])
      answer[at % answer.length] = byte
      assert.ok(readFacets(`0x${answer.toString('hex')}`).length <= 200)
    }),
  )
  const facet = { address: ADDRESS as Hex, selectors: ['0x12345678' as Hex] }
  assert.equal(readFacets(encode(Array(200).fill(facet))).length, 200)
  assert.deepEqual(readFacets(encode(Array(201).fill(facet))), [])
  const many = { ...facet, selectors: Array<Hex>(2_501).fill('0x12345678') }
  assert.deepEqual(readFacets(encode([many, many])), [])
  for (const none of [null, '0x', '0x00', `0x${'ff'.repeat(96)}`]) assert.deepEqual(readFacets(none), [])
})
