import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemory } from '../../src/chain/rpc/answer-body.ts'

const never = new AbortController().signal
const pause = () => new Promise(resolve => setTimeout(resolve, 1))

test('all but the oldest wait while more is held than there may be', async () => {
  const memory = createMemory(100)
  const [first, second, third] = [memory.open(), memory.open(), memory.open()]
  const done: string[] = []
  const take = (name: string, hold: typeof first, bytes: number) =>
    hold.take(bytes, never).then(() => done.push(`${name} ${bytes}`))
  await take('first', first, 60)
  await take('second', second, 40)
  const waiting = [take('third', third, 10), take('second', second, 50)]
  await take('first', first, 70)
  await pause()
  assert.deepEqual(done.splice(0), ['first 60', 'second 40', 'first 70'])
  assert.equal(memory.held, 230)

  first.close()
  await pause()
  assert.deepEqual(done, ['third 10', 'second 50'])
  await Promise.all(waiting)
  second.close()
  third.close()
  assert.equal(memory.held, 0)
})

test('what waits for room can be given up', async () => {
  const memory = createMemory(10)
  const [first, second] = [memory.open(), memory.open()]
  await first.take(20, never)
  const controller = new AbortController()
  const waiting = second.take(5, controller.signal)
  controller.abort(new Error('enough'))
  await assert.rejects(waiting, { message: 'enough' })
  second.close()
  assert.equal(memory.held, 20)
})
