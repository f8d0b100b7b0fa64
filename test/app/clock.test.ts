import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createClockWatch } from '../../src/app/clock.ts'
import { ageClock } from '../../src/lib/files.ts'
import { createLog } from '../../src/lib/log.ts'
import { dataFolder } from '../support/delivery.ts'

const MINUTE = 60_000
const DAY = 86_400_000
const START = Date.UTC(2025, 5, 1)

/** A server whose clock can be set, and which can be stopped and started again. */
const setUp = async (t: TestContext) => {
  const data = await dataFolder(t)
  const lines: string[] = []
  const log = createLog({ write: line => void lines.push(line), json: true })
  const time = { real: START, off: 0, newest: undefined as number | undefined }
  const now = () => time.real + time.off
  const start = () =>
    createClockWatch({ data, log, now, elapsed: () => time.real, newestBlock: async () => time.newest })
  let watch = start()
  await watch.look()
  return {
    time,
    /** How far ages are behind the true time. */
    behind: () => time.real - ageClock(data, now()),
    run: async (ms: number) => {
      for (let left = ms; left > 0; left -= MINUTE) {
        time.real += MINUTE
        await watch.look()
      }
    },
    restart: async (afterMs: number) => {
      time.real += afterMs
      watch = start()
      await watch.look()
    },
    step: () => watch.lookForStep(),
    warnings: () => watch.warnings().map(({ type }) => type),
    told: () => lines.splice(0).map(line => (JSON.parse(line) as { level: string }).level),
  }
}

test('a clock that leaps ahead makes nothing old, and is told of until it is set right', async t => {
  const { time, behind, run, warnings, told } = await setUp(t)
  await run(10 * MINUTE)
  assert.equal(behind(), 0)
  time.off = 400 * DAY
  await run(5 * MINUTE)
  assert.ok(behind() >= 0 && behind() <= MINUTE, `${behind()}`)
  assert.deepEqual([warnings(), told()], [['clock_leap'], ['warn']])
  time.off = 0
  await run(MINUTE)
  assert.deepEqual([behind(), warnings(), told()], [0, [], ['info']])
})

test('a step of the clock is told once, and what a clock that is kept right corrects is not', async t => {
  const { time, step, told } = await setUp(t)
  for (const [off, levels] of [
    [0, []],
    [2_000, []],
    [-60_000, ['warn']],
    [-86_400_000, ['warn']],
    [3_600_000, ['warn']],
  ] as const) {
    time.off = off
    for (let looks = 0; looks < 3; looks++) step()
    assert.deepEqual(told(), levels, `${off}`)
  }
})

test('a start by a clock that is ahead makes nothing old either, as long as the chain goes on by another time', async t => {
  const { time, behind, run, restart, warnings } = await setUp(t)
  time.off = 400 * DAY
  time.newest = START / 1_000
  await restart(MINUTE)
  for (let hour = 0; hour < 72; hour++) {
    await run(60 * MINUTE)
    time.newest = time.real / 1_000
  }
  assert.ok(behind() >= 0 && behind() <= 2 * MINUTE, `${behind()}`)
  assert.deepEqual(warnings(), ['clock_leap'])
})

test('a server that was stopped for long believes its clock with the first block of that time, and says nothing', async t => {
  const { time, behind, run, restart, told } = await setUp(t)
  time.newest = START / 1_000
  await restart(60 * DAY)
  assert.equal(behind(), 60 * DAY)
  time.newest = time.real / 1_000 - 12
  await run(MINUTE)
  assert.deepEqual([behind(), told()], [0, []])
  await restart(2 * MINUTE)
  assert.deepEqual([behind(), told()], [0, []])
})

test('where no chain goes on, as that of the demo, a clock is believed that has been the same for a day', async t => {
  const { behind, run, restart, warnings, told } = await setUp(t)
  await restart(60 * DAY)
  await run(DAY - 10 * MINUTE)
  assert.deepEqual([warnings(), told()], [['clock_leap'], ['warn']])
  assert.equal(behind(), 60 * DAY)
  await run(20 * MINUTE)
  assert.deepEqual([behind(), warnings(), told()], [0, [], ['info']])
})

test('a clock that starts in the past, and is set right later, is believed at once', async t => {
  const { time, behind, run, restart, told } = await setUp(t)
  await run(10 * MINUTE)
  time.off = -START
  await restart(MINUTE)
  await run(MINUTE)
  assert.ok(behind() > 50 * 365 * DAY)
  time.off = 0
  await run(MINUTE)
  assert.deepEqual([behind(), told()], [0, []])
})
