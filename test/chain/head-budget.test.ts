import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHeads } from '../../src/chain/blocks/head-watcher.ts'
import { createBudget } from '../../src/chain/budget/budget.ts'
import { createHeadBudget } from '../../src/chain/budget/head-budget.ts'
import { createResponseTimes } from '../../src/chain/rpc/node-health.ts'
import type { Rpc } from '../../src/chain/rpc/rpc.ts'
import type { BudgetWait } from '../../src/chain/source.ts'
import { createLog } from '../../src/lib/log.ts'
import { createVirtualClock } from '../support/virtual-clock.ts'

const MIDNIGHT = Date.UTC(2026, 10, 22)
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Calls of a block, beside those that look for it. */
const BLOCK = 2

/** A day of a chain whose head is followed by a model of the source; `fill`: credits that a back-fill would like each minute. */
const follow = async ({ daily, blockMs, fill = 0 }: { daily: number; blockMs: number; fill?: number }) => {
  const clock = createVirtualClock(MIDNIGHT)
  const lines: string[] = []
  const log = createLog({ write: line => lines.push(line), json: false })
  const budget = createBudget({ daily }, { url: 'https://node.example', clock })!
  const endpoint = { name: 'node', budget }
  const headBudget = createHeadBudget([endpoint], clock, log)
  const controller = new AbortController()
  const { signal } = controller
  const block = () => Math.floor((clock.now() - MIDNIGHT) / blockMs)
  const spend = async (credits: number) => {
    while (!budget.affords(credits, true)) await clock.sleep(budget.closedUntil(true) - clock.now(), signal)
    budget.charge(credits, true)
  }
  const rpc = {
    endpoints: [endpoint],
    isSparing: true,
    async attempt() {
      await spend(1)
      return { number: block(), hash: '', parentHash: '' }
    },
  } as unknown as Rpc
  const heads = createHeads({ rpc, budget: headBudget, clock })
  /** Milliseconds from each block to its being taken, and when that was. */
  const lags: { at: number; ms: number; to: number }[] = []
  const waits = new Map<BudgetWait['kind'], number>()
  const following = (async () => {
    let tip = -1
    for (;;) {
      const head = await heads.next(signal)
      for (; head && tip < head.number; tip++) {
        await spend(BLOCK)
        lags.push({ at: clock.now(), ms: clock.now() - (MIDNIGHT + (tip + 1) * blockMs), to: tip + 1 })
      }
    }
  })().catch(error => signal.aborted || assert.fail(error))
  let filled = 0
  const filling = (async () => {
    for (; fill > 0; await clock.sleep(60_000, signal))
      if (budget.closedUntil(false) <= clock.now() && budget.affords(fill, false)) {
        budget.charge(fill)
        filled += fill
      }
  })().catch(error => signal.aborted || assert.fail(error))
  const watching = (async () => {
    for (; ; await clock.sleep(60_000, signal)) {
      const wait = headBudget.waits()
      if (wait) waits.set(wait.kind, (waits.get(wait.kind) ?? 0) + 1)
    }
  })().catch(error => signal.aborted || assert.fail(error))
  await clock.run(DAY_MS - 1)
  const { used } = budget.status().day!
  controller.abort()
  await Promise.all([following, filling, watching])
  const worst = Math.max(...lags.filter(({ at }) => at > MIDNIGHT + HOUR_MS).map(({ ms }) => ms))
  return { used, worst, taken: lags.length, filled, waits, lines, lags }
}

const blocks = (blockMs: number) => DAY_MS / blockMs

test('a budget that bears the head leaves it as it is', async () => {
  const blockMs = 12_000
  const { worst, taken, waits, lines } = await follow({ daily: blocks(blockMs) * 4, blockMs })
  assert.ok(worst < blockMs, `${worst}`)
  assert.equal(taken, blocks(blockMs))
  assert.equal(waits.size, 0)
  assert.deepEqual(lines, [])
})

test('where looking at the head each block is too dear, it is looked at less often, and the day is long enough', async () => {
  const blockMs = 12_000
  for (const each of [2.5, 2.2, 2.1]) {
    const daily = blocks(blockMs) * each
    const { used, worst, taken, waits, lines } = await follow({ daily, blockMs })
    const apart = 1 / (each - BLOCK)
    assert.ok(taken > 0.99 * blocks(blockMs) - 4 * apart, `${each}: ${taken} of ${blocks(blockMs)}`)
    assert.ok(worst < 10 * apart * blockMs, `${each}: ${worst / blockMs} blocks late`)
    assert.ok(used <= daily)
    assert.equal(lines.filter(line => line.includes('asks less often')).length, 1)
    assert.ok((waits.get('budget') ?? 0) <= (each < 2.2 ? 600 : 10))
  }
})

test('a budget that does not bear the blocks themselves is spread over the day, and that is told', async () => {
  const blockMs = 12_000
  const daily = blocks(blockMs)
  const { used, taken, lags, waits } = await follow({ daily, blockMs })
  assert.ok(used > 0.8 * daily, `${used} of ${daily}`)
  assert.ok(taken > 0.8 * (daily / (BLOCK + 0.5)), `${taken}`)
  // What is left waits for the last look of the day, which comes late in it.
  assert.ok(lags.at(-1)!.at > MIDNIGHT + 0.6 * DAY_MS, `${(lags.at(-1)!.at - MIDNIGHT) / HOUR_MS}`)
  assert.ok(waits.get('budget')! > 100, `${waits.get('budget')}`)
})

test('a back-fill leaves the head what it needs to the end of the day, where that is more than a tenth', async () => {
  const blockMs = 12_000
  const daily = blocks(blockMs) * 6
  const { worst, taken, filled, waits } = await follow({ daily, blockMs, fill: 300 })
  assert.ok(worst < blockMs, `${worst}`)
  assert.equal(taken, blocks(blockMs))
  assert.equal(waits.size, 0)
  // The head needs some three credits a block.
  assert.ok(filled > daily * 0.35 && filled < daily * 0.55, `${filled / daily}`)
})

const setUp = () => {
  let now = 1_000_000
  const clock = { now: () => now, elapsed: () => now, sleep: () => Promise.resolve() }
  const lines: string[] = []
  const log = createLog({ write: line => void lines.push(line), json: true })
  const times = createResponseTimes({ name: 'http://node/', log, clock })
  const told = () => lines.splice(0).map(line => JSON.parse(line))
  const pass = (ms: number) => {
    now += ms
  }
  return { times, told, pass }
}
test('a node that takes seconds for the head is told once, and once when that is over', () => {
  const { times, told, pass } = setUp()
  assert.deepEqual(times.status(), {})
  for (let i = 0; i < 2; i++) times.add(8_000, true)
  assert.deepEqual(told(), [])
  for (let i = 0; i < 10; i++) times.add(8_000 + i, true)
  assert.deepEqual(times.status(), { responseMs: { median: 8_003, p95: 8_009 }, slow: true })
  const [line, ...more] = told()
  assert.deepEqual(
    [line.level, line.message, line.endpoint, line.medianMs, more],
    ['warn', 'The node answers slowly: blocks and alerts come late', 'http://node/', 8_000, []],
  )
  for (let i = 0; i < 12; i++) times.add(1_500, true)
  assert.equal(times.status().slow, true, 'between the bounds nothing changes')
  for (let i = 0; i < 12; i++) times.add(30, true)
  assert.deepEqual(times.status(), { responseMs: { median: 30, p95: 1_500 } })
  assert.deepEqual(
    told().map(({ level, message }) => [level, message]),
    [['info', 'The node answers fast again']],
  )
  pass(300_001)
  assert.deepEqual(times.status(), {})
})
test('a back-fill whose answers are large makes no node slow, and a single late answer neither', () => {
  const { times, told } = setUp()
  for (let i = 0; i < 20; i++) times.add(9_000, false)
  times.add(20_000, true)
  for (let i = 0; i < 4; i++) times.add(40, true)
  assert.deepEqual(times.status(), { responseMs: { median: 9_000, p95: 9_000 } })
  assert.deepEqual(told(), [])
})
