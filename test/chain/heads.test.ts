import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHeads } from '../../src/chain/blocks/head-watcher.ts'
import { createHeadBudget } from '../../src/chain/budget/head-budget.ts'
import type { Rpc } from '../../src/chain/rpc/rpc.ts'
import { silent } from '../../src/lib/log.ts'
import { createVirtualClock } from '../support/virtual-clock.ts'

/** Most blocks that one poll found, in each quarter of the time that so many blocks take, and how many polls there were. */
const follow = async (blockMs: number, blocks: number, isSparing = false) => {
  const clock = createVirtualClock()
  const start = clock.now()
  let polls = 0
  const chainHead = () => Math.floor((clock.now() - start) / blockMs)
  const rpc = {
    endpoints: [{ name: 'node' }],
    isSparing,
    async attempt() {
      polls++
      return { number: chainHead(), hash: '', parentHash: '' }
    },
  } as unknown as Rpc
  const heads = createHeads({ rpc, budget: createHeadBudget([], clock, silent), clock })
  const controller = new AbortController()
  const { signal } = controller
  const most = [0, 0, 0, 0]
  const following = (async () => {
    for (let found = 0; ; ) {
      const head = await heads.next(signal)
      const quarter = Math.min(3, Math.floor((4 * chainHead()) / blocks))
      most[quarter] = Math.max(most[quarter]!, head!.number - found)
      found = head!.number
    }
  })().catch(error => signal.aborted || assert.fail(error))
  await clock.run(blocks * blockMs - 1)
  controller.abort()
  await following
  return { most, polls }
}

test('polls find the pace of a chain by themselves: after a few blocks, each block is found by itself', async () => {
  assert.deepEqual((await follow(200, 40)).most, [5, 1, 1, 1])
  assert.deepEqual((await follow(2_000, 40)).most, [1, 1, 1, 1])
  assert.deepEqual((await follow(12_000, 40)).most, [1, 1, 1, 1])
})

test('the head is polled as before when the clock is set back or ahead', async () => {
  const clock = createVirtualClock()
  const controller = new AbortController()
  const { signal } = controller
  const polls: number[] = []
  const rpc = {
    endpoints: [{ name: 'node' }],
    async attempt() {
      polls.push(clock.elapsed())
      return { number: Math.floor(clock.elapsed() / 12_000), hash: '', parentHash: '' }
    },
  } as unknown as Rpc
  const heads = createHeads({ rpc, budget: createHeadBudget([], clock, silent), clock })
  const following = (async () => {
    for (;;) await heads.next(signal)
  })().catch(error => signal.aborted || assert.fail(error))
  await clock.run(120_000)
  for (const minutes of [-1, -60, -1_440, 60, 1_440, -1_440]) {
    clock.step(minutes * 60_000)
    await clock.run(60_000)
  }
  controller.abort()
  await following
  const waits = [...polls.slice(1), clock.elapsed()].map((at, i) => at - polls[i]!)
  assert.ok(Math.max(...waits) <= 2_000, `${Math.max(...waits)} ms between two polls`)
  assert.ok(waits.length <= 600, `${waits.length} polls`)
})

test('where questions count, the head is polled once a block is due, and not six times a block', async () => {
  const [counted, free] = [await follow(12_000, 16, true), await follow(12_000, 16)]
  assert.deepEqual([counted.most, counted.polls, free.polls], [[1, 1, 1, 1], 47, 118])
})
