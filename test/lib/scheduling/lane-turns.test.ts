import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { LANE_PARTS, type LaneName } from '../../../src/ingest/messages.ts'
import { createLaneShares, createLaneTurns } from '../../../src/lib/scheduling/lane-turns.ts'

const LEAST = { head: 0.6, fill: 0.25 }

test('two lanes that want all of a thread have their parts of it, however long their pieces of work are', () => {
  const pieces = fc.array(fc.double({ min: 0.5, max: 20, noNaN: true }), { minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(pieces, pieces, fc.double({ min: 1, max: 400, noNaN: true }), (ofHead, ofFill, pause) => {
      const shares = createLaneShares(LANE_PARTS)
      // What one did while the other had nothing to do is not held against it for long.
      shares.spend('fill', pause)
      const used = { head: 0, fill: 0 }
      const counts = { head: 0, fill: 0 }
      while (used.head + used.fill < 20_000) {
        const lane = shares.next()!
        const work = lane === 'head' ? ofHead : ofFill
        const ms = work[counts[lane]++ % work.length]!
        shares.spend(lane, ms)
        used[lane] += ms
      }
      for (const lane of ['head', 'fill'] as const) assert.ok(used[lane] / 20_000 >= LEAST[lane], JSON.stringify(used))
    }),
    { numRuns: 200 },
  )
})

test('a head that keeps up goes first', () => {
  const shares = createLaneShares(LANE_PARTS)
  for (let block = 0; block < 200; block++) {
    assert.equal(shares.next(), 'head')
    shares.spend('head', 10)
    // A back-fill has all the rest.
    for (let ms = 0; ms < 40; ms += 8) shares.spend('fill', 8)
  }
})

test('lanes take turns by their parts, and one alone has all the time', async () => {
  let now = 0
  const turns = createLaneTurns(LANE_PARTS, () => now)
  const work = async (lane: LaneName, ms: number, until: number): Promise<number> => {
    let had = 0
    while (now < until) {
      const leave = await turns.enter(lane)
      // As where a block waits for what is known already.
      await Promise.resolve()
      now += ms
      leave()
      had += ms
    }
    return had
  }
  const [head, fill] = await Promise.all([work('head', 3, 5000), work('fill', 5, 5000)])
  assert.ok(head / 5000 > LEAST.head && fill / 5000 > LEAST.fill, `${head} ${fill}`)
  assert.equal(await work('fill', 5, now + 1000), 1000)
})

test('who waits for something within a turn does not hold up the other lane for long', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let now = 0
  const pass = (ms: number) => {
    now += ms
    t.mock.timers.tick(ms)
  }
  const turns = createLaneTurns(LANE_PARTS, () => now)
  // Both come at once: the head is first.
  const both = [turns.enter('head'), turns.enter('fill')]
  const leaveHead = await both[0]!
  leaveHead()
  const leave = await both[1]!
  let blocks = 0
  const heads = (async () => {
    for (; blocks < 3; blocks++) (await turns.enter('head'))()
  })()
  for (let i = 0; i < 9; i++) await nextTurn()
  pass(99)
  for (let i = 0; i < 9; i++) await nextTurn()
  assert.equal(blocks, 0)
  pass(1)
  await heads
  // It comes back: all goes on as before.
  leave()
  leave()
  const order: string[] = []
  const take = async (lane: LaneName) => {
    const leave = await turns.enter(lane)
    order.push(lane)
    await nextTurn()
    leave()
  }
  await Promise.all([take('fill'), take('fill'), take('head'), take('head')])
  assert.equal(order.length, 4)
})
