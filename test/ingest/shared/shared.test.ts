import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { Worker } from 'node:worker_threads'
import { createFilterMemory } from '../../../src/ingest/decoding/dictionaries.ts'
import { createAddressesMemory, joinAddresses, ownAddresses } from '../../../src/ingest/decoding/shared/addresses.ts'
import { createTextsMemory, joinTexts, ownTexts } from '../../../src/ingest/decoding/shared/dictionaries.ts'

const digits = (n: number) => n.toString(16).padStart(40, 'ab0c')
const filter = () => createFilterMemory(0, bytes => new SharedArrayBuffer(bytes))
const options = { hashKeys: [1, 2] as const, find: () => undefined }

describe('dictionaries that threads share', () => {
  it('give each text one id, without gaps, whoever asks first', async () => {
    const addresses = createAddressesMemory(100, filter(), 1 << 15)
    const texts = createTextsMemory(7)
    const shuffled = (seed: number) => Array.from({ length: 5000 }, (_, i) => digits((i * 7919 * seed) % 9000))
    const answers = await Promise.all(
      [1, 3, 7, 11].map(async seed => {
        const asked = shuffled(seed)
        const worker = new Worker(new URL('worker.ts', import.meta.url), { workerData: { addresses, texts, asked } })
        const [{ addresses: ids, texts: words }] = await once(worker, 'message')
        return { asked, ids, words }
      }),
    )
    for (const [kind, { first, texts: all }] of [
      ['ids', ownAddresses(addresses, options).takeAdded()],
      ['words', ownTexts(texts).takeAdded()],
    ] as const) {
      assert.equal(first, kind === 'ids' ? 100 : 7)
      assert.equal(new Set(all).size, all.length)
      assert.deepEqual(new Set(all), new Set(answers.flatMap(({ asked }) => asked)))
      for (const answer of answers)
        assert.deepEqual(
          answer[kind].map((id: number) => all[id - first]),
          answer.asked,
        )
    }
  })

  it('keep what is stored apart from what is new', () => {
    const stored = new Map([[digits(1), 5]])
    const memory = filter()!
    const addresses = createAddressesMemory(6, memory)
    const shared = joinAddresses(addresses, { hashKeys: [1, 2], find: text => stored.get(text) })
    // The filter does not know the stored one: it is filled by whoever makes it.
    assert.equal(shared.id(digits(2)), 6)
    assert.equal(shared.id(digits(2)), 6)
    const full = joinAddresses(
      { ...addresses, filter: undefined },
      { hashKeys: [1, 2], find: text => stored.get(text) },
    )
    assert.deepEqual([1, 2, 3, 1].map(digits).map(full.id), [5, 6, 7, 5])
  })

  it('let others go without when there is no room, and the owner go on until there is', () => {
    const addresses = createAddressesMemory(1, filter(), 8)
    const owner = ownAddresses(addresses, options)
    const other = joinAddresses(addresses, options)
    const first = Array.from({ length: 8 }, (_, i) => digits(i))
    assert.deepEqual(first.map(other.id), [1, 2, 3, 4, 5, 6, 7, 8])
    assert.throws(() => other.id(digits(8)), /no room/)
    assert.equal(owner.id(digits(8)), 9)
    assert.equal(owner.id(digits(9)), 10)
    assert.equal(owner.id(digits(8)), 9)
    assert.deepEqual(first.map(owner.id), [1, 2, 3, 4, 5, 6, 7, 8])
    assert.equal(owner.isTaken(), false)
    assert.deepEqual(owner.takeAdded(), { first: 1, texts: [...first, digits(8), digits(9)] })
    assert.deepEqual(owner.takeAdded(), { first: 11, texts: [] })
    assert.deepEqual([owner.isTaken(), owner.isFilling()], [true, true])
    owner.reset()
    assert.equal(owner.isFilling(), false)
    assert.equal(other.id(digits(77)), 11)
    assert.equal(owner.id(digits(77)), 11)
    assert.deepEqual(owner.takeAdded(), { first: 11, texts: [digits(77)] })
  })

  it('do the same for texts of any kind, and read again what is stored when there is room', () => {
    const stored: [string, number][] = [['old', 3]]
    const memory = createTextsMemory(4, 100)
    const owner = ownTexts(memory, { load: () => stored })
    const other = joinTexts(memory, { load: () => stored })
    const odd = ['', 'ý', '\ud800', '🚀 to the moon']
    const add = (texts: typeof other, text: string) => texts.find(text) ?? texts.add(text, text)
    assert.equal(add(other, 'old'), 3)
    assert.deepEqual(
      odd.map(text => add(other, text)),
      [4, 5, 6, 7],
    )
    assert.equal(other.add('most', 'most', 8), undefined)
    assert.throws(() => add(other, 'x'.repeat(50)), /no room/)
    assert.equal(add(owner, 'y'.repeat(50)), 8)
    // The owner goes on alone: a short text might have room, but not its id.
    assert.throws(() => add(other, 'z'), /no room/)
    assert.equal(add(owner, 'z'), 9)
    assert.deepEqual(owner.takeAdded(), { first: 4, texts: [...odd, 'y'.repeat(50), 'z'] })
    stored.push(...odd.map((text, i): [string, number] => [text, 4 + i]), ['z', 9])
    assert.deepEqual([owner.isTaken(), owner.isFilling()], [true, true])
    owner.reset()
    assert.deepEqual(
      [...odd, 'z', 'new', 'old'].map(text => add(other, text)),
      [4, 5, 6, 7, 9, 10, 3],
    )
    assert.deepEqual([add(owner, 'new'), owner.takeAdded()], [10, { first: 10, texts: ['new'] }])
  })
})
