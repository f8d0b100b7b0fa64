import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CHANGED_THEN_UPGRADED, SCHEDULED_AND_LEFT } from '../support/worked-rules.ts'
import { log, type Mined, startRule, times, word, words } from './rule-scene.ts'

const PROXY = `0x${'a1'.repeat(20)}`
const OTHER = `0x${'b2'.repeat(20)}`
const TIMELOCK = `0x${'c3'.repeat(20)}`
const DAY = 86_400

const changed = (address: string) =>
  log(address, 'OwnershipTransferred(address,address)', [word(OTHER), word(TIMELOCK)])
const upgraded = (address: string) => log(address, 'Upgraded(address)', [word(OTHER)])
const scheduled = (id: string, target: string) =>
  log(
    TIMELOCK,
    'CallScheduled(bytes32,uint256,address,uint256,bytes,bytes32,uint256)',
    [word(id), word('0')],
    words(target, '0', 'a0', '0', '0', '0'),
  )
const executed = (id: string) =>
  log(
    TIMELOCK,
    'CallExecuted(bytes32,uint256,address,uint256,bytes)',
    [word(id), word('0')],
    words(OTHER, '0', '60', '0'),
  )
const cancelled = (id: string) => log(TIMELOCK, 'Cancelled(bytes32)', [word(id)])

const quiet = (count: number): Mined[] => times(count, () => ({}))

test('an upgrade within 300 blocks of a change of owner is an alert, also over a kill', {
  timeout: 240_000,
}, async t => {
  const { mine, tells, restart, reorganise } = await startRule(t, CHANGED_THEN_UPGRADED)
  await mine([{ logs: [changed(PROXY), changed(OTHER)] }, ...quiet(150)])
  await restart()
  await mine([...quiet(148), { logs: [upgraded(PROXY)] }])
  const [first] = await tells(1)
  assert.equal(first.type, 'alert.confirmed')
  assert.equal(first.when.key.address!.toLowerCase(), PROXY)
  assert.deepEqual(
    first.when.steps.map(it => 'block' in it && it.block),
    [103, 402],
  )
  assert.deepEqual(first.entity, {
    _id: (first.when.steps[1] as { _id: string })._id,
    _type: 'event',
  })
  await reorganise(1, [{}])
  assert.deepEqual(
    (await tells(2)).map(({ id, type }) => [id, type]),
    [
      [first.id, 'alert.confirmed'],
      [first.id, 'alert.retracted'],
    ],
  )
})

test('an upgrade that comes too late, of another contract, before the change or by a timelock is none', {
  timeout: 240_000,
}, async t => {
  const { mine, alerts } = await startRule(t, CHANGED_THEN_UPGRADED)
  await mine([{ logs: [upgraded(PROXY), changed(PROXY)] }, { logs: [upgraded(OTHER)] }, ...quiet(298)])
  await mine([{ logs: [upgraded(PROXY)] }])
  await mine([{ logs: [changed(OTHER)] }, { logs: [scheduled('1', OTHER)] }, { logs: [upgraded(OTHER)] }])
  assert.deepEqual(await alerts(), [])
})

test('what is scheduled, and neither executed nor cancelled after three days, is an alert', {
  timeout: 120_000,
}, async t => {
  const { mine, tells, restart } = await startRule(t, SCHEDULED_AND_LEFT)
  await mine([{ logs: [scheduled('1', OTHER), scheduled('2', OTHER)] }, { after: DAY }])
  await restart()
  await mine([{ after: DAY, logs: [executed('2')] }, { after: DAY - 1 }, { after: 1 }])
  const [first, ...others] = await tells(1)
  assert.deepEqual([first.type, others], ['alert.confirmed', []])
  assert.equal(first.when.key['args.id'], word('1'))
  assert.deepEqual(first.when.window, { fromBlock: 103, toBlock: 107, seconds: 3 * DAY })
  assert.deepEqual([first.entity._type, first.when.steps.length, first.when.steps[1]], ['block', 2, { missing: true }])
})

test('what is executed or cancelled in time is none', { timeout: 120_000 }, async t => {
  const { mine, alerts } = await startRule(t, SCHEDULED_AND_LEFT)
  await mine([{ logs: [scheduled('1', OTHER), scheduled('2', OTHER)] }])
  await mine([
    { after: 2 * DAY, logs: [cancelled('1')] },
    { after: DAY - 1, logs: [executed('2')] },
    { after: 2 * DAY },
  ])
  assert.deepEqual(await alerts(), [])
})
