import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWindow } from '../../../src/lib/scheduling/concurrency-window.ts'

const never = new AbortController().signal

test('good answers widen the window one by one, up to its most', async () => {
  const window = createWindow({ start: 1, max: 3 })
  const sizes: number[] = []
  for (let i = 0; i < 8; i++) {
    const leave = await window.enter(never)
    leave('ok')
    sizes.push(window.size)
  }
  assert.deepEqual(sizes, [2, 2, 2, 3, 3, 3, 3, 3])
})

test('an overload halves it once for all that were under way', async () => {
  const window = createWindow({ start: 8, max: 8 })
  const first = await Promise.all(Array.from({ length: 8 }, () => window.enter(never)))
  for (const leave of first) leave('overload')
  assert.equal(window.size, 4)
  const next = await window.enter(never)
  next('overload')
  assert.equal(window.size, 2)
  for (let i = 0; i < 5; i++) (await window.enter(never))('overload')
  assert.equal(window.size, 1)
  ;(await window.enter(never))('neutral')
  assert.equal(window.size, 1)
})

test('who waits gets in when there is a place, in order but the urgent first, unless the signal aborts before', async () => {
  const window = createWindow({ start: 1, max: 1 })
  const leave = await window.enter(never)
  // However long the others take, there is a place for one that is urgent.
  const leaveUrgent = await window.enter(never, true)
  const entered: string[] = []
  const controller = new AbortController()
  const gone = assert.rejects(window.enter(controller.signal), /enough/)
  const waiting = ['a', 'b', 'urgent'].map(async name => {
    const leave = await window.enter(never, name === 'urgent')
    entered.push(name)
    leave('ok')
  })
  controller.abort(new Error('enough'))
  await gone
  assert.deepEqual(entered, [])
  leaveUrgent('ok')
  await waiting[2]
  assert.deepEqual(entered, ['urgent'])
  leave('ok')
  await Promise.all(waiting)
  assert.deepEqual(entered, ['urgent', 'a', 'b'])
})
