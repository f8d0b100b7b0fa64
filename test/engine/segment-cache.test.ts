import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSegmentCache } from '../../src/engine/index/segment-cache.ts'
import type { Segment } from '../../src/engine/reader.ts'

const segment = (id: number, revised = 0): Segment => ({
  ...{ id, revised, first: id, last: id },
  ...{ events: 0, scoped: 0, block: 1, tx: 0, log: 0, trace: 0, call: 0 },
})

const setUp = (capacity: number) => {
  const read: string[] = []
  const cache = createSegmentCache<string>({
    load({ id, revised }, field) {
      read.push(`${id} ${field}`)
      return field === 0 ? undefined : `${id} ${field} ${revised}`
    },
    bytesOf: () => 100,
    capacity: () => capacity,
  })
  return { cache, read: () => read.splice(0) }
}

test('what was read once is kept, and that there is nothing, too', () => {
  const { cache, read } = setUp(10_000)
  for (let i = 0; i < 3; i++)
    assert.deepEqual([cache.get(segment(1), 7), cache.get(segment(1), 0)], ['1 7 0', undefined])
  assert.deepEqual(read(), ['1 7', '1 0'])
})

test('a segment that was revised, or is gone, is read anew', () => {
  const { cache, read } = setUp(10_000)
  cache.get(segment(1), 7)
  cache.get(segment(2), 7)
  assert.equal(cache.get(segment(1, 1), 7), '1 7 1')
  cache.keep([segment(1, 1)])
  read()
  assert.equal(cache.get(segment(1, 1), 7), '1 7 1')
  assert.equal(cache.get(segment(2), 7), '2 7 0')
  assert.deepEqual(read(), ['2 7'])
})

test('beyond its bytes it forgets what was used first', () => {
  // Three values of a hundred bytes, and two hundred beside each.
  const { cache, read } = setUp(900)
  for (const field of [1, 2, 3, 1, 4]) cache.get(segment(1), field)
  read()
  for (const field of [1, 3, 4, 2]) cache.get(segment(1), field)
  assert.deepEqual(read(), ['1 2'])
})
