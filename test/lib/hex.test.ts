import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { isHex, isLowerHex } from '../../src/lib/bytes.ts'

// Expressions are the oracle: slow, but nobody doubts them.
const HEX = /^0x[0-9a-fA-F]*$/
const LOWER = /^0x[0-9a-f]*$/

const check = (text: string) => {
  assert.equal(isHex(text), HEX.test(text), JSON.stringify(text.slice(0, 100)))
  assert.equal(isLowerHex(text), LOWER.test(text), JSON.stringify(text.slice(0, 100)))
}

/** Characters beside the digits, some of which have a digit's byte as their lower or upper one, or take several bytes. */
const ODD = ['g', 'G', '/', ':', '@', '`', ' ', '\n', '\0', 'x', 'é', '\u0130', '\u3030', '\u6161', '\ud800', '😀']

describe('hex', () => {
  it('is nothing but 0x and digits, whatever its length', () => {
    const lengths = [0, 1, 2, 3, 13, 14, 15, 16, 17, 40, 63, 64, 65, 512, 8189, 8190, 8191, 8192, 8193, 16_386, 20_001]
    for (const length of lengths)
      for (const digit of ['0', '9', 'a', 'f', 'A', 'F']) {
        check(`0x${digit.repeat(length)}`)
        check(digit.repeat(length))
        check(`0X${digit.repeat(length)}`)
        check(`1x${digit.repeat(length)}`)
      }
  })

  it('has no other character at any place', () => {
    for (const length of [1, 2, 14, 15, 16, 17, 40, 64, 65, 8191, 8192, 8200])
      for (const odd of ODD)
        for (const at of [0, 1, 2, 3, 4, 15, 16, 17, 41, 64, 65, 8191, 8192, 8193, length + 1].filter(
          it => it < length + 2,
        )) {
          const text = `0x${'7'.repeat(length)}`
          check(text.slice(0, at) + odd + text.slice(at + 1))
        }
    for (let code = 0; code < 0x300; code++)
      for (const length of [4, 5, 30, 31]) check(`0x${'b'.repeat(length)}${String.fromCharCode(code)}`)
  })

  it('is what the expression says of any text', () => {
    const digits = fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF', ...ODD), maxLength: 200 })
    fc.assert(
      fc.property(digits, text => [text, `0x${text}`].forEach(check)),
      { numRuns: 2000 },
    )
  })
})
