import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFairQueue } from '../../../src/lib/scheduling/queues.ts'

const task = (account: number, name: string, lane: 'cheap' | 'dear' = 'cheap') => ({ account, name, lane })
test('accounts take turns, and one account is served in its order', () => {
  const queue = createFairQueue<ReturnType<typeof task>>()
  for (const name of ['a1', 'a2', 'a3', 'a4']) queue.add(task(1, name))
  queue.add(task(2, 'b1'))
  queue.add(task(3, 'c1'))
  queue.add(task(3, 'c2'))
  queue.add(task(2, 'dear', 'dear'))
  assert.equal(queue.waiting(2), 2)
  const order: (string | undefined)[] = []
  for (let i = 0; i < 8; i++) order.push(queue.take('cheap')?.name)
  assert.deepEqual(order, ['a1', 'b1', 'c1', 'a2', 'c2', 'a3', 'a4', undefined])
  assert.equal(queue.take('dear')?.name, 'dear')
  assert.deepEqual(queue.all(), [])
})

test('what is not allowed now keeps its place, and what left is gone', () => {
  const queue = createFairQueue<ReturnType<typeof task>>()
  const [first, second, other] = [task(1, 'first'), task(1, 'second'), task(2, 'other')]
  for (const one of [first, second, other]) queue.add(one)
  assert.equal(queue.take('cheap', { allows: one => one !== first }), second)
  assert.equal(queue.remove(other), true)
  assert.equal(queue.remove(other), false)
  assert.equal(queue.take('cheap'), first)
  assert.equal(queue.take('cheap'), undefined)
})

test('accounts that are not served keep their turn, and the newest may go first', () => {
  const queue = createFairQueue<ReturnType<typeof task>>()
  for (const name of ['a1', 'a2', 'a3']) queue.add(task(1, name))
  queue.add(task(2, 'b1'))
  assert.equal(queue.take('cheap', { serves: account => account === 2 })?.name, 'b1')
  assert.equal(queue.take('cheap', { serves: () => false }), undefined)
  assert.equal(queue.take('cheap', { newest: true })?.name, 'a3')
  assert.equal(queue.size, 2)
})
