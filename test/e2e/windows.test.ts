import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { checksumAddress } from '../../src/lib/keccak.ts'
import { type Mined, startRule, type Told } from './rule-scene.ts'

const SENDER = `0x${'5e'.repeat(20)}` as const

/** A chain whose blocks have one transaction each, by the sender where `sends` says so. */
const scene = async (t: TestContext, config: object, rule: object = {}) => {
  const { mine, reorganise, tells, ...others } = await startRule(t, config, { rule })
  const made = (sends: readonly boolean[]): Mined[] =>
    sends.map(send => (send ? { transaction: { from: SENDER, value: '0xde0b6b3a7640000' } } : {}))
  return {
    ...others,
    mine: (sends: readonly boolean[]) => mine(made(sends)),
    reorganise: (depth: number, sends: readonly boolean[]) => reorganise(depth, made(sends)),
    types: async (count: number) => (await tells(count)).map(({ type }) => type),
  }
}

const spends = {
  targetType: 'Transaction',
  targetMap: [{ name: 'from', operator: 'Equals', value: SENDER }],
}
const sum = (value: string) => ({
  by: ['from'],
  within: { blocks: 3 },
  conditions: [{ aggregate: 'Sum', name: 'value.coin', operator: 'Greater or Equal', value }],
})

test('amounts in a window open one alert, whose end is told, also over a kill', { timeout: 120_000 }, async t => {
  const { mine, types, told, alerts, restart, rule, chain } = await scene(t, {
    ...spends,
    when: sum('2'),
    notify: { resolved: true },
  })
  await mine([false, false, true])
  await restart()
  await mine([true, true, false])
  assert.deepEqual(await types(1), ['alert.confirmed'])
  const [first] = told() as [Told]
  const sent = chain
    .filter(({ block }) => block.transactions[0]!.from === SENDER)
    .map(it => it.block.transactions[0]!.hash)
  assert.deepEqual(first.when, {
    key: { from: first.when.key.from },
    window: { fromBlock: 105, toBlock: 106, blocks: 3 },
    conditions: [{ aggregate: 'Sum', name: 'value.coin', value: '2' }],
    matches: 2,
    entities: sent.slice(0, 2),
    late: false,
  } as unknown as Told['when'])
  assert.equal(first.when.key.from!.toLowerCase(), SENDER)
  assert.deepEqual(first.entity, { _id: sent[1], _type: 'tx' })
  await mine([false, false])
  assert.deepEqual(await types(2), ['alert.confirmed', 'alert.resolved'])
  const [, second] = told() as [Told, Told]
  assert.equal(second.id, first.id)
  assert.equal(second.when.ended!.block, 109)
  assert.deepEqual(
    (await alerts()).map(({ id, state, block }) => [id, state, block]),
    [[first.id, 'resolved', 106]],
  )
  assert.deepEqual((await rule()).warnings, [])
})

test('what nearly fills a window makes no alert', { timeout: 120_000 }, async t => {
  const { mine, told, alerts } = await scene(t, { ...spends, when: sum('2'), notify: { resolved: true } })
  await mine([false, false, true, false, false, true, false, false, true])
  assert.deepEqual([await alerts(), told()], [[], []])
})

test('a reorganisation takes back what it opened, and opens again what it had ended', { timeout: 120_000 }, async t => {
  const { mine, types, reorganise, told, alerts } = await scene(t, {
    ...spends,
    when: sum('2'),
    notify: { resolved: true },
  })
  await mine([false, true, true])
  assert.deepEqual(await types(1), ['alert.confirmed'])
  await reorganise(1, [false, false])
  assert.deepEqual(await types(2), ['alert.confirmed', 'alert.retracted'])
  await mine([false, true, true])
  // One that ends before it is sent is told as resolved alone.
  assert.deepEqual((await types(3)).slice(2), ['alert.confirmed'])
  await mine([false, false])
  assert.deepEqual((await types(4)).slice(3), ['alert.resolved'])
  await reorganise(1, [true])
  assert.deepEqual((await types(5)).slice(4), ['alert.confirmed'])
  assert.equal(new Set(told().map(({ id }) => id)).size, 2)
  assert.deepEqual(
    (await alerts()).map(({ state }) => state),
    ['confirmed', 'retracted'],
  )
})

test('silence of a watched key opens an alert once a whole window was seen, and a match ends it', {
  timeout: 120_000,
}, async t => {
  const { mine, types, told } = await scene(t, {
    ...spends,
    when: {
      ...{ by: ['from'], keys: [SENDER], within: { blocks: 3 } },
      conditions: [{ aggregate: 'Count', operator: 'Less', value: '1' }],
    },
    notify: { resolved: true },
  })
  await mine([false, false])
  assert.deepEqual(told(), [])
  await mine([true, false, false])
  assert.deepEqual(told(), [])
  await mine([false])
  assert.deepEqual(await types(1), ['alert.confirmed'])
  assert.equal(told()[0]!.entity._type, 'block')
  await mine([true])
  assert.deepEqual(await types(2), ['alert.confirmed', 'alert.resolved'])
})

test('the first value of a window is an alert, a repeated one is not', { timeout: 120_000 }, async t => {
  const { mine, types, told } = await scene(t, {
    targetType: 'Transaction',
    targetMap: [{ name: 'value.coin', operator: 'Greater or Equal', value: '0' }],
    when: { within: { blocks: 4 }, conditions: [{ aggregate: 'First', name: 'from' }] },
  })
  await mine([false, false, false, false, true, true, false])
  assert.deepEqual(await types(1), ['alert.confirmed'])
  assert.equal(told()[0]!.when.key.from, checksumAddress(SENDER))
  await mine([false, true, false])
  assert.equal(told().length, 1)
})

test('windows begin with the next block, wherever the rule says that it starts', { timeout: 120_000 }, async t => {
  const { mine, types, alerts } = await scene(
    t,
    {
      ...{ targetType: 'Block', targetMap: [{ name: 'number', operator: 'Greater', value: '0' }] },
      when: { within: { blocks: 10 }, conditions: [{ aggregate: 'Count', operator: 'Greater or Equal', value: '2' }] },
    },
    { startBlock: 100 },
  )
  await mine([false])
  assert.deepEqual(await alerts(), [])
  await mine([false, false])
  assert.deepEqual(await types(1), ['alert.confirmed'])
  assert.deepEqual(
    (await alerts()).map(({ block }) => block),
    [104],
  )
})
