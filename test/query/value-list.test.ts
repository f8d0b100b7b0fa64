import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { keyOfText } from '../../src/query/value-keys.ts'
import {
  addPacked,
  canonicalValue,
  createValueList,
  listHasKey,
  packValue,
  removePacked,
  unpackValue,
  valuesIn,
} from '../../src/query/value-list.ts'

const someValue = fc.oneof(
  fc.constantFrom(
    '0x',
    '0x0',
    '0x00',
    '0X1f',
    '1',
    '01',
    'true',
    'ſK',
    '0',
    '0xg',
    'a'.repeat(256),
    `0x${'f'.repeat(254)}`,
  ),
  fc.stringMatching(/^0x[0-9a-fA-F]{0,40}$/),
  fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' }),
)

test('a value is packed and unpacked as it was', () => {
  fc.assert(
    fc.property(someValue, text => {
      const value = canonicalValue(text)
      assert.equal(unpackValue(packValue(value)), value)
    }),
  )
})

test('a list has what a set has, while values come and go', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(someValue, fc.nat(2)), { maxLength: 300 }),
      fc.integer({ min: 0, max: 2 ** 31 }),
      (steps, seed) => {
        const list = createValueList('1/some', [], { seed })
        const set = new Set<string>()
        for (const [text, dice] of steps) {
          const value = canonicalValue(text)
          if (dice === 0) assert.equal(removePacked(list, packValue(value)), set.delete(value))
          else {
            assert.equal(addPacked(list, packValue(value)), !set.has(value))
            set.add(value)
          }
          assert.equal(list.size, set.size)
        }
        assert.deepEqual(valuesIn(list).sort(), [...set].sort())
        const keys = new Set([...set].map(keyOfText))
        for (const [text] of steps) assert.equal(listHasKey(list, keyOfText(text)), keys.has(keyOfText(text)))
      },
    ),
    { numRuns: 300 },
  )
})

test('values that come and go again fill no memory', () => {
  const list = createValueList('1/some')
  for (let i = 0; i < 10_000; i++) {
    addPacked(list, packValue(`0x${i.toString(16)}`))
    removePacked(list, packValue(`0x${i.toString(16)}`))
  }
  assert.equal(list.size, 0)
  assert.ok(list.slots.length < 200, `${list.slots.length} slots`)
  assert.ok(list.bytes.length < 2_000, `${list.bytes.length} bytes`)
})
