import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { packAbi, packTopic, unpackAbi } from '../../src/engine/forms/abi-words.ts'
import { createByteWriter } from '../../src/lib/bytes.ts'

const createAddresses = () => {
  const ids = new Map<string, number>()
  return {
    id(digits: string) {
      assert.match(digits, /^[0-9a-f]{40}$/)
      if (!ids.has(digits)) ids.set(digits, ids.size + 1)
      return ids.get(digits)!
    },
    digits: (id: number) => [...ids.keys()][id - 1]!,
    size: () => ids.size,
  }
}

const packed = (data: string, id: (digits: string) => number | undefined): Buffer => {
  const out = createByteWriter(4)
  out.byte(99)
  assert.equal(packAbi(out, data, id), true)
  return Buffer.from(out.view(1))
}

const hexOf = (length: number, digit: fc.Arbitrary<string>) =>
  fc.array(digit, { minLength: length, maxLength: length }).map(digits => digits.join(''))
const digit = fc.constantFrom(...'0123456789abcdef')
const mostlyZero = fc.constantFrom('0', '0', '0', '1', 'f')

/** Words as ABI data have them: small numbers, addresses (some that begin with zeros), texts padded behind, anything. */
const word = fc.oneof(
  fc.constantFrom('0'.repeat(64), 'f'.repeat(64), `${'0'.repeat(63)}1`, `${'0'.repeat(24)}${'0'.repeat(39)}1`),
  fc.nat(64).chain(zeros => hexOf(64 - zeros, digit).map(rest => rest.padStart(64, '0'))),
  fc.nat(64).chain(zeros => hexOf(64 - zeros, digit).map(rest => rest.padEnd(64, '0'))),
  fc.constantFrom('a', 'b', 'c0').map(digits => digits.repeat(40).slice(0, 40).padStart(64, '0')),
  hexOf(40, mostlyZero).map(digits => digits.padStart(64, '0')),
  hexOf(64, mostlyZero),
  hexOf(64, digit),
)
const data = fc
  .tuple(
    fc.option(hexOf(8, digit), { nil: '' }),
    fc.oneof(fc.array(word, { maxLength: 4 }), fc.array(word, { maxLength: 60 })),
    fc.nat(31).chain(size => fc.oneof(fc.constant(''), hexOf(2 * size, digit))),
  )
  .map(([selector, words, rest]) => `0x${selector}${words.join('')}${rest}`)

describe('packed data', () => {
  it('unpack to what was packed, whatever it is', () => {
    const addresses = createAddresses()
    fc.assert(
      fc.property(data, text => {
        const bytes = packed(text, addresses.id)
        assert.equal(unpackAbi(bytes, addresses.digits), text)
      }),
      { numRuns: 2000, seed: 1 },
    )
    assert.ok(addresses.size() > 3)
  })

  it('are equal exactly where the data are', () => {
    const addresses = createAddresses()
    const known = new Map<string, string>()
    fc.assert(
      fc.property(data, text => {
        const form = packed(text, addresses.id).toString('hex')
        assert.equal(form, packed(text.toUpperCase().replace('0X', '0x'), addresses.id).toString('hex'))
        assert.equal(known.get(form) ?? text, text)
        known.set(form, text)
      }),
      { numRuns: 2000, seed: 2 },
    )
  })

  it('are small for what contracts say', () => {
    const addresses = createAddresses()
    const address = 'ab'.repeat(20).padStart(64, '0')
    const number = (1_000_000).toString(16).padStart(64, '0')
    const text = Buffer.from('hello').toString('hex').padEnd(64, '0')
    const sizes = [
      '0x',
      `0x${address}`,
      `0x${number}`,
      `0x${text}`,
      `0xa9059cbb${address}${number}`,
      `0x${'00'.repeat(96)}`,
    ]
    assert.deepEqual(
      sizes.map(data => packed(data, addresses.id).length),
      [0, 2, 4, 6, 11, 3],
    )
    assert.ok(packed(`0x${`${'12'.repeat(300)}`}${'ab'.repeat(1000)}`, addresses.id).length < 100)
  })

  it('are none where an address has no id, and nothing is written', () => {
    const out = createByteWriter()
    out.byte(1)
    const data = `0x${'1'.padStart(64, '0')}${'ab'.repeat(20).padStart(64, '0')}`
    assert.equal(
      packAbi(out, data, () => undefined),
      false,
    )
    assert.deepEqual([...out.view()], [1])
  })

  it('refuse what is no hex', () => {
    assert.throws(() => packAbi(createByteWriter(), '0x12zz', () => 1), /not hex: 0x12zz/)
  })

  it('pack topics one by one as all of them in a row', () => {
    const addresses = createAddresses()
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 3 }), words => {
        const out = createByteWriter()
        for (const word of words) {
          const id = packTopic(out, `0x${word}`, topic => addresses.id(topic.slice(26)))
          const isAddress = /^0{24}(?!00)/.test(word)
          assert.equal(id, isAddress ? addresses.id(word.slice(24)) : undefined)
        }
        assert.deepEqual(Buffer.from(out.view()), packed(`0x${words.join('')}`, addresses.id))
      }),
      { numRuns: 1000, seed: 3 },
    )
  })
})
