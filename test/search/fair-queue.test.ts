import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFairQueue, type Lane } from '../../src/lib/scheduling/fair-queue.ts'
import { createShares } from '../../src/search/shares.ts'

const task = (account: number, name: string, lane: Lane = 'cheap') => ({ account, name, lane })
const any = () => true

test('accounts take turns, and one account is served in its order', () => {
  const queue = createFairQueue<ReturnType<typeof task>>()
  for (const name of ['a1', 'a2', 'a3', 'a4']) queue.add(task(1, name))
  queue.add(task(2, 'b1'))
  queue.add(task(3, 'c1'))
  queue.add(task(3, 'c2'))
  queue.add(task(2, 'dear', 'dear'))
  assert.equal(queue.waiting(2), 2)
  const order: (string | undefined)[] = []
  for (let i = 0; i < 8; i++) order.push(queue.take('cheap', any)?.name)
  assert.deepEqual(order, ['a1', 'b1', 'c1', 'a2', 'c2', 'a3', 'a4', undefined])
  assert.equal(queue.take('dear', any)?.name, 'dear')
  assert.deepEqual(queue.all(), [])
})

test('what is not allowed now keeps its place, and what left is gone', () => {
  const queue = createFairQueue<ReturnType<typeof task>>()
  const [first, second, other] = [task(1, 'first'), task(1, 'second'), task(2, 'other')]
  for (const one of [first, second, other]) queue.add(one)
  assert.equal(
    queue.take('cheap', one => one !== first),
    second,
  )
  assert.equal(queue.remove(other), true)
  assert.equal(queue.remove(other), false)
  assert.equal(queue.take('cheap', any), first)
  assert.equal(queue.take('cheap', any), undefined)
})

const setUp = (threads: number) => {
  const clock = { now: 0 }
  return { clock, shares: createShares({ threads, cheapMs: 20, now: () => clock.now }) }
}
const [mine, mineDear, others, othersDear] = [task(1, ''), task(1, '', 'dear'), task(2, ''), task(2, '', 'dear')]

test('dear tasks leave a thread free, and one of those that they have to other accounts', () => {
  const { shares } = setUp(4)
  for (let i = 0; i < 2; i++) {
    assert.ok(shares.mayRun(mineDear))
    shares.began(mineDear)
  }
  assert.ok(!shares.mayRun(mineDear))
  assert.ok(shares.mayRun(othersDear))
  shares.began(others)
  assert.ok(shares.becameDear(others))
  assert.ok(!shares.mayRun(othersDear))
  // Nor may one that has begun as a cheap one go on as a dear one.
  shares.began(mine)
  assert.ok(!shares.becameDear(mine))
  shares.ended(mineDear, 1)
  shares.ended(mineDear, 1)
  assert.ok(shares.mayRun(mineDear))
})

test('two threads have one dear task, a single one that one thread', () => {
  for (const threads of [1, 2]) {
    const { shares } = setUp(threads)
    shares.began(mineDear)
    assert.ok(!shares.mayRun(othersDear))
    shares.ended(mineDear, 10_000)
    assert.ok(shares.mayRun(othersDear))
    assert.ok(shares.noneDear())
    // Cheap ones have a thread in any case, however long those before them took.
    for (let i = 0; i < 30; i++) {
      shares.began(mine)
      shares.ended(mine, 1000)
    }
    shares.began(others)
    shares.ended(others, 1)
    assert.ok(shares.mayRun(mine))
  }
})

test('an account whose tasks take long leaves a thread to others, as long as there are any', () => {
  const { clock, shares } = setUp(2)
  const run = (account: typeof mine, ms: number) => {
    shares.began(account)
    shares.ended(account, ms)
  }
  run(others, 1)
  for (let i = 0; i < 30; i++) run(mine, 19)
  shares.began(mine)
  assert.ok(!shares.mayRun(mine))
  assert.ok(shares.mayRun(others))
  clock.now += 61_000
  assert.ok(shares.mayRun(mine))
  run(others, 1)
  assert.ok(!shares.mayRun(mine))
  shares.ended(mine, 1)
  // Little ones make it light again.
  for (let i = 0; i < 30; i++) run(mine, 1)
  shares.began(mine)
  assert.ok(shares.mayRun(mine))
})

test("what goes before everything is nobody's share", () => {
  const { shares } = setUp(1)
  const first = task(0, '', 'first')
  shares.began(first)
  assert.ok(shares.mayRun(first))
  assert.ok(shares.mayRun(mine))
  shares.ended(first, 50)
})
