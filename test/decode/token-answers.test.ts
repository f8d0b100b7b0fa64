import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { decodeAbiParameters, encodeAbiParameters } from 'viem'
import { isVault, readDecimals, readTokenText } from '../../src/decode/token-answers.ts'

const string = (text: string): string => encodeAbiParameters([{ type: 'string' }], [text])
const word = (value: bigint): string => `0x${value.toString(16).padStart(64, '0')}`

describe('what tokens call themselves', () => {
  const named = (answer: string | null) => readTokenText('name', answer)

  it('is a string, or 32 bytes, or nothing at all', () => {
    assert.deepEqual(named(string('Wrapped Ether')), { value: 'Wrapped Ether', error: null })
    assert.deepEqual(named(string('')), { value: '', error: null })
    assert.deepEqual(named(string('Ξ 🦄')), { value: 'Ξ 🦄', error: null })
    assert.deepEqual(named(`0x${Buffer.from('Maker').toString('hex').padEnd(64, '0')}`), {
      value: 'Maker',
      error: null,
    })
    assert.deepEqual(named(`0x${'00'.repeat(32)}`), { value: '', error: null })
    for (const none of [null, '0x']) assert.deepEqual(named(none), { value: null, error: null })
  })

  it('keeps nothing that one cannot see, and no more than a name has', () => {
    assert.deepEqual(named(string(' a\u0007\u202eb\u0085\n ')), { value: 'a\ufffd\ufffdb\ufffd\ufffd', error: null })
    assert.deepEqual(named(string('x'.repeat(256))), { value: 'x'.repeat(256), error: null })
    assert.deepEqual(named(string('é'.repeat(16_384))), {
      value: 'é'.repeat(256),
      error: 'name() answers 32768 bytes of text',
    })
    // Bytes that are no UTF-8.
    const bytes = encodeAbiParameters([{ type: 'bytes' }], ['0x61ff62'])
    assert.deepEqual(named(bytes), { value: 'a\ufffdb', error: null })
  })

  it('says what is no text', () => {
    const broken = { value: null, error: 'name() answers 64 bytes that are not text' }
    assert.deepEqual(named(`${word(32n)}${word(1n).slice(2)}`), broken)
    assert.deepEqual(named(`${word(2n ** 255n)}${word(0n).slice(2)}`), broken)
    assert.deepEqual(named('0x01'), { value: null, error: 'name() answers 1 bytes that are not text' })
  })

  it('reads any string that viem encodes, and stumbles over no bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), text => {
        const { value } = named(string(text))
        const [read] = decodeAbiParameters([{ type: 'string' }], string(text) as `0x${string}`)
        if (!/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(read) && read === read.trim()) assert.equal(value, read)
      }),
    )
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), bytes => {
        const { value } = named(`0x${Buffer.from(bytes).toString('hex')}`)
        assert.ok(value === null || [...value].length <= 256)
      }),
    )
  })
})

it('decimals are a small number, or none', () => {
  assert.deepEqual(readDecimals(word(18n)), { value: 18, error: null })
  assert.deepEqual(readDecimals(word(0n)), { value: 0, error: null })
  assert.deepEqual(readDecimals(word(77n)), { value: 77, error: null })
  assert.deepEqual(readDecimals(word(2n ** 255n)), { value: null, error: `decimals() answers ${2n ** 255n}` })
  assert.deepEqual(readDecimals('0x12'), { value: null, error: 'decimals() answers 1 bytes' })
  for (const none of [null, '0x']) assert.deepEqual(readDecimals(none), { value: null, error: null })
})

it('a vault names its asset and tells how much of it it has', () => {
  const asset = word(BigInt(`0x${'ab'.repeat(20)}`))
  assert.equal(isVault(asset, word(0n)), true)
  assert.equal(isVault(word(0n), word(0n)), false)
  assert.equal(isVault(word(2n ** 200n), word(0n)), false)
  assert.equal(isVault(asset, '0x'), false)
  assert.equal(isVault(null, null), false)
})
