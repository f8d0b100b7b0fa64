import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../src/lib/retry.ts'
import { mapInOrder } from '../../../src/lib/scheduling/queues.ts'

const never = new AbortController().signal

test('results come in order, with so many ahead and no more', async () => {
  let open = 0
  let most = 0
  const delays = [20, 1, 10, 1, 5, 1, 1]
  const results: number[] = []
  const work = async (ms: number) => {
    most = Math.max(most, ++open)
    await systemClock.sleep(ms)
    open--
    return ms
  }
  for await (const it of mapInOrder(delays, () => 3, work, never)) results.push(it)
  assert.deepEqual(results, delays)
  assert.equal(most, 3)
})

test('what is finished but not taken counts', async () => {
  let started = 0
  const work = async () => ++started
  const results = mapInOrder([1, 2, 3, 4, 5, 6], () => 2, work, never)
  await results.next()
  await systemClock.sleep(5)
  assert.equal(started, 2)
  await results.return()
})

test('the first error in order ends it, and stops what is under way', async () => {
  const stopped: number[] = []
  const seen: number[] = []
  const work = async (item: number, signal: AbortSignal) => {
    signal.addEventListener('abort', () => stopped.push(item))
    if (item === 1) await systemClock.sleep(10)
    if (item === 2) throw new Error('two')
    if (item === 3) await systemClock.sleep(60_000, signal)
    return item
  }
  await assert.rejects(async () => {
    for await (const it of mapInOrder([1, 2, 3], () => 5, work, never)) seen.push(it)
  }, /two/)
  assert.deepEqual(seen, [1])
  assert.ok(stopped.includes(3))
})

test('an abort ends it with its reason', async () => {
  const controller = new AbortController()
  const results = mapInOrder(
    [1],
    () => 1,
    (_, signal) => systemClock.sleep(60_000, signal),
    controller.signal,
  )
  const next = results.next()
  controller.abort(new Error('enough'))
  await assert.rejects(next, /enough/)
  await assert.rejects(
    mapInOrder(
      [1],
      () => 1,
      async () => 1,
      controller.signal,
    ).next(),
    /enough/,
  )
})
