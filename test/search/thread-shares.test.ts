import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createShares } from '../../src/search/thread-shares.ts'

/** How many of each account's tasks may be dear at once, where all of them want to be. */
const dearOf = (threads: number, most: number | undefined, accounts: readonly number[]): number[] => {
  const shares = createShares({ threads, cheapMs: 20, ...(most !== undefined && { most }), now: () => 0 })
  return accounts.map(account => {
    let dear = 0
    for (let i = 0; i < 100; i++) {
      shares.began({ account, lane: 'cheap' })
      if (shares.becameDear({ account, lane: 'cheap' })) dear++
    }
    return dear
  })
}

test('an account has so many dear searches at once as the limit says, and never all threads', () => {
  assert.deepEqual(dearOf(8, undefined, [1, 2]), [6, 1])
  assert.deepEqual(dearOf(8, 64, [1, 2]), [6, 1])
  assert.deepEqual(dearOf(8, 2, [1, 2, 3, 4]), [2, 2, 2, 1])
  assert.deepEqual(dearOf(8, 1, [1, 2]), [1, 1])
  assert.deepEqual(dearOf(2, 64, [1, 2]), [1, 0])
  assert.deepEqual(dearOf(1, 64, [1]), [1])
})

const task = (account: number, lane: 'first' | 'cheap' | 'dear' = 'cheap') => ({ account, lane })
const setUp = (threads: number) => {
  const clock = { now: 0 }
  return { clock, shares: createShares({ threads, cheapMs: 20, now: () => clock.now }) }
}
const [mine, mineDear, others, othersDear] = [task(1), task(1, 'dear'), task(2), task(2, 'dear')]

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
  const first = task(0, 'first')
  shares.began(first)
  assert.ok(shares.mayRun(first))
  assert.ok(shares.mayRun(mine))
  shares.ended(first, 50)
})
