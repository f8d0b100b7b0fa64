import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { oncePerTick } from '../../../src/lib/scheduling/coalesce.ts'

test('it is read once for all that follows from one event, and anew for the next', async () => {
  let reads = 0
  const read = oncePerTick(() => ++reads)
  await nextTurn()
  const seen = [read(), read()]
  await Promise.resolve()
  seen.push(read())
  await Promise.all([1, 2].map(async () => seen.push(read())))
  await nextTurn()
  seen.push(read(), read())
  setTimeout(() => seen.push(read()), 1)
  await new Promise(resolve => setTimeout(resolve, 2))
  assert.deepEqual(seen, [1, 1, 1, 1, 1, 2, 2, 3])
})

test('what failed is tried again', () => {
  let reads = 0
  const read = oncePerTick(() => {
    if (++reads === 1) throw new Error('busy')
    return reads
  })
  assert.throws(read, /busy/)
  assert.equal(read(), 2)
})
