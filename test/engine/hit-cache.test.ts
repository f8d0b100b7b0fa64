import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHitCache } from '../../src/engine/show/hits.ts'

const hitOf = (length: number, byte = 1) => new Uint8Array(length).fill(byte)

test('a hit is kept for who asks for it in the same way', () => {
  const cache = createHitCache<Uint8Array>(() => 1)
  const [whole, filtered] = [{}, {}]
  cache.set(whole, 7, hitOf(10))
  cache.set(filtered, 7, hitOf(5))
  cache.set(whole, 8, hitOf(20))
  assert.deepEqual(
    [cache.get(whole, 7), cache.get(filtered, 7), cache.get(whole, 8), cache.get(filtered, 8)],
    [hitOf(10), hitOf(5), hitOf(20), undefined],
  )
})

test('what was written of another state of the store is forgotten', () => {
  let version = 1
  const cache = createHitCache<Uint8Array>(() => version)
  const shape = {}
  cache.set(shape, 7, hitOf(10))
  version = 2
  assert.equal(cache.get(shape, 7), undefined)
  cache.set(shape, 7, hitOf(10, 2))
  assert.deepEqual(cache.get(shape, 7), hitOf(10, 2))
  version = 3
  cache.set(shape, 8, hitOf(1))
  assert.equal(cache.get(shape, 7), undefined)
})

test('it takes no more bytes than it may, and keeps what is asked for again and again', () => {
  const cache = createHitCache<Uint8Array>(() => 1, 100_000)
  const shape = {}
  for (let position = 0; position < 10_000; position++) {
    cache.set(shape, position, hitOf(900))
    assert.ok(cache.get(shape, 0), `after ${position}`)
  }
  let kept = 0
  for (let position = 0; position < 10_000; position++) if (cache.get(shape, position)) kept++
  assert.ok(kept >= 50 && kept <= 100, `${kept} of a thousand bytes each`)
  cache.set(shape, 20_000, hitOf(50_000))
  assert.equal(cache.get(shape, 20_000), undefined)
})
