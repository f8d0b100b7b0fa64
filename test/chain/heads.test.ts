import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHeadBudget } from '../../src/chain/head-budget.ts'
import { createHeads } from '../../src/chain/heads.ts'
import type { Rpc } from '../../src/chain/rpc.ts'
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

test('where questions count, the head is polled once a block is due, and not six times a block', async () => {
  const [counted, free] = [await follow(12_000, 16, true), await follow(12_000, 16)]
  assert.deepEqual([counted.most, counted.polls, free.polls], [[1, 1, 1, 1], 47, 118])
})
