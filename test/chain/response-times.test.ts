import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createResponseTimes } from '../../src/chain/rpc/health.ts'
import { createLog } from '../../src/lib/log.ts'

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
