import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createDictionary } from '../../src/engine/index/dictionary.ts'

describe('a dictionary', () => {
  it('goes on from what is stored', () => {
    const stored = new Map([['known', 7]])
    const dictionary = createDictionary({ last: 7, find: text => stored.get(text) })
    assert.deepEqual(
      ['known', 'new', 'newer', 'new', 'known'].map(text => dictionary.id(text)),
      [7, 8, 9, 8, 7],
    )
    assert.deepEqual(dictionary.takeAdded(), { first: 8, texts: ['new', 'newer'] })
    assert.deepEqual(dictionary.takeAdded(), { first: 10, texts: [] })
    dictionary.id('newest')
    assert.deepEqual(dictionary.takeAdded(), { first: 10, texts: ['newest'] })
  })

  it('keeps every character', () => {
    const texts = ['plain', 'ý', '\ufffd', 'Ünïcode', '日本', '🚀 to the moon']
    const dictionary = createDictionary({ last: 0, find: () => undefined })
    for (const text of texts) dictionary.id(text)
    assert.deepEqual(dictionary.takeAdded(), { first: 1, texts })
    assert.deepEqual(
      texts.map(text => dictionary.id(text)),
      texts.map((_, i) => i + 1),
    )
  })

  it('gives a text one id for good, however small its cache and however late the store is', () => {
    const steps = fc.array(fc.oneof(fc.nat(30).map(String), fc.constantFrom('take', 'write', 'write')), {
      maxLength: 400,
    })
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 8 }), (steps, capacity) => {
        const stored = new Map<string, number>()
        const taken: [string, number][] = []
        const ids = new Map<string, number>()
        const dictionary = createDictionary({ last: 0, find: text => stored.get(text), capacity })
        for (const step of steps) {
          if (step === 'take') {
            const { first, texts } = dictionary.takeAdded()
            for (const [i, text] of texts.entries()) taken.push([text, first + i])
          } else if (step === 'write') {
            const one = taken.shift()
            if (!one) continue
            stored.set(...one)
            dictionary.written(one[1])
          } else {
            const id = dictionary.id(step)
            assert.equal(ids.get(step) ?? id, id)
            ids.set(step, id)
          }
        }
        assert.deepEqual(
          [...ids.values()].sort((a, b) => a - b),
          [...ids.keys()].map((_, i) => i + 1),
        )
        for (const [text, id] of [...stored, ...taken]) assert.equal(ids.get(text), id)
      }),
    )
  })
})
