import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBudget } from '../../src/chain/budget.ts'

const never = new AbortController().signal
const pause = () => new Promise(resolve => setTimeout(resolve, 1))

test('all but the oldest wait while more is held than there may be', async () => {
  const budget = createBudget(100)
  const [first, second, third] = [budget.open(), budget.open(), budget.open()]
  const done: string[] = []
  const take = (name: string, share: typeof first, bytes: number) =>
    share.take(bytes, never).then(() => done.push(`${name} ${bytes}`))
  await take('first', first, 60)
  await take('second', second, 40)
  const waiting = [take('third', third, 10), take('second', second, 50)]
  await take('first', first, 70)
  await pause()
  assert.deepEqual(done.splice(0), ['first 60', 'second 40', 'first 70'])
  assert.equal(budget.held, 230)

  first.close()
  await pause()
  assert.deepEqual(done, ['third 10', 'second 50'])
  await Promise.all(waiting)
  second.close()
  third.close()
  assert.equal(budget.held, 0)
})

test('what waits for room can be given up', async () => {
  const budget = createBudget(10)
  const [first, second] = [budget.open(), budget.open()]
  await first.take(20, never)
  const controller = new AbortController()
  const waiting = second.take(5, controller.signal)
  controller.abort(new Error('enough'))
  await assert.rejects(waiting, { message: 'enough' })
  second.close()
  assert.equal(budget.held, 20)
})
