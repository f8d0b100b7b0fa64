import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Hex } from '../../src/chain/wire.ts'
import { keccakHex } from '../../src/lib/keccak.ts'
import { serveContracts } from '../support/indexing.ts'
import {
  DEPOSITS,
  FAILING_ROUTER,
  IN_OR_OUT,
  MANY_RECEIVERS,
  MINTED,
  NEW_ADMIN,
  SILENT_FEED,
} from '../support/worked-rules.ts'
import { log, type Mined, startRule, times, word } from './rule-scene.ts'

const USDT = '0xdac17f958d2ee523a2206206994597c13d831ec7'
const TOKEN = '0x178c820f862b14f316509ec36b13123da19a6054'
const NOBODY = `0x${'00'.repeat(20)}`
const who = (n: number): Hex => `0x${n.toString(16).padStart(40, 'a')}`
const WALLET = '0x1454168e82efa260f49a6f86612cc6414ba633e9'
const timeout = 240_000

interface Group {
  type: string
  alerts: { payload: { blockNumber: { num: number } } }[]
}

const transfer = (from: string, to: string, value: bigint, token = USDT) =>
  log(token, 'Transfer(address,address,uint256)', [word(from), word(to)], word(value))
const usdt = (amount: number) => BigInt(Math.round(amount * 1_000_000))
const selector = (signature: string) => `0x${keccakHex(signature).replace('0x', '').slice(0, 8)}` as Hex

/** Its tokens have six decimals. */
const withTokens = {
  prepare: async (_: unknown, node: Parameters<typeof serveContracts>[0]) => {
    serveContracts(node)
    node.methods.set('eth_call', () => word('6'))
  },
}

test('more than a million minted to one account in ten minutes is an alert, and so much in longer or by transfers is none', {
  timeout,
}, async t => {
  const { mine, tells, alerts, told } = await startRule(t, MINTED, withTokens)
  const mint = (to: Hex, amount: number) => transfer(NOBODY, to, usdt(amount))
  await mine([
    { logs: [mint(who(2), 500_000), mint(who(3), 900_000), transfer(who(9), who(4), usdt(5_000_000))] },
    { logs: [mint(who(2), 500_000)] },
    { after: 600 - 12, logs: [mint(who(3), 900_000)] },
  ])
  assert.deepEqual(await alerts(), [])
  await mine([{ logs: [mint(who(1), 600_000)] }, { logs: [mint(who(1), 400_000.5)] }])
  const [first] = await tells(1)
  assert.deepEqual(
    [first.type, first.when.key['args.to']!.toLowerCase(), first.when.conditions, first.when.window],
    [
      'alert.confirmed',
      who(1),
      [{ aggregate: 'Sum', name: 'args.value.scaled', value: '1000000.5' }],
      { fromBlock: 106, toBlock: 107, seconds: 600 },
    ],
  )
  await mine([{ after: 588 }])
  const all = await tells(2)
  assert.deepEqual(
    all.map(({ id, type }) => [id, type]),
    [
      [first.id, 'alert.confirmed'],
      [first.id, 'alert.resolved'],
    ],
  )
  assert.equal(told().length, 2)
})

test('a feed that says nothing for a whole window is an alert, told again every six hours, and one that says something in its last second is none', {
  timeout,
}, async t => {
  const { mine, tells, told, alerts, receiver, restart } = await startRule(t, SILENT_FEED)
  const [kept, lost] = SILENT_FEED.when.keys as [string, string]
  const update = (feed: string) =>
    log(feed.toLowerCase(), 'AnswerUpdated(int256,uint256,uint256)', [word('64'), word('1')], word('1'))
  await mine([
    { logs: [update(kept), update(lost)] },
    { after: 3_899, logs: [update(kept), update(lost)] },
    { after: 3_899, logs: [update(kept)] },
  ])
  assert.deepEqual(await alerts(), [])
  await mine([{ after: 1 }])
  const [first] = await tells(1)
  assert.equal(first.when.key.address!.toLowerCase(), lost.toLowerCase())
  assert.deepEqual([first.type, first.entity._type], ['alert.confirmed', 'block'])
  await mine([...times(5, () => ({ after: 3_600, logs: [update(kept)] })), { after: 3_599, logs: [update(kept)] }])
  await restart()
  assert.equal(told().length, 1)
  await mine([{ after: 1 }])
  await tells(2)
  await mine([{ logs: [update(lost), update(kept)] }])
  const all = await tells(3)
  assert.deepEqual(
    all.map(({ id, type, when }) => [id === first.id, type, when.window.toBlock! - first.when.window.toBlock!]),
    [
      [true, 'alert.confirmed', 0],
      [true, 'alert.repeated', 7],
      [true, 'alert.resolved', 0],
    ],
  )
  assert.deepEqual(
    receiver.calls.map(({ headers }) => headers['webhook-id']),
    [first.id, `${first.id}_${all[1]!.when.window.toBlock}`, first.id],
  )
})

test('one sender that pays fifty accounts is an alert; forty-nine, too little or in more blocks is none', {
  timeout,
}, async t => {
  const { mine, tells, alerts } = await startRule(t, MANY_RECEIVERS, withTokens)
  const pay = (from: Hex, count: number, amount: number, first = 0) =>
    times(count, i => transfer(from, who(1_000 + first + i), usdt(amount)))
  await mine([
    { logs: [...pay(who(1), 49, 1_000), ...pay(who(2), 50, 200), ...pay(who(3), 25, 1_000), ...pay(who(1), 1, 1)] },
    ...times(98, (): Mined => ({})),
    {},
    { logs: pay(who(3), 25, 1_000, 25) },
  ])
  assert.deepEqual(await alerts(), [])
  await mine([{ logs: pay(who(4), 49, 201) }, ...times(98, (): Mined => ({})), { logs: pay(who(4), 1, 160, 49) }])
  const [first] = await tells(1)
  assert.equal(first.when.key['args.from']!.toLowerCase(), who(4))
  assert.deepEqual(
    first.when.conditions.map(({ aggregate, value }) => [aggregate, value]),
    [
      ['Distinct', '50'],
      ['Sum', '10009'],
    ],
  )
  assert.equal((await alerts()).length, 1)
})

test('twenty failed transactions after an hour without are an alert, and as many after an hour with sixty are none', {
  timeout,
}, async t => {
  const { mine, tells, alerts } = await startRule(t, FAILING_ROUTER)
  const to = FAILING_ROUTER.targetMap[0]!.value.toLowerCase() as Hex
  const call = (fails: boolean, after?: number): Mined => ({ transaction: { to }, fails, ...(after && { after }) })
  await mine([
    ...times(70, () => call(true, 60)),
    ...times(20, () => call(true)),
    ...times(13, () => call(false, 300)),
    ...times(19, () => call(true)),
  ])
  assert.deepEqual(await alerts(), [])
  await mine([call(true)])
  const [first] = await tells(1)
  assert.deepEqual(
    first.when.conditions.map(({ value }) => value),
    ['20', '20'],
  )
  assert.equal((await alerts()).length, 1)
})

test('an admin method called for the first time in thirty days is an alert, and one called again or elsewhere is none', {
  timeout,
}, async t => {
  const { mine, tells, alerts } = await startRule(t, NEW_ADMIN)
  const to = NEW_ADMIN.targetMap[0]!.value as string
  const call = (from: Hex, signature = 'pause()', contract = to): Mined => ({
    transaction: { from, to: contract.toLowerCase() as Hex, input: selector(signature) },
  })
  await mine([call(who(1))])
  assert.deepEqual(await alerts(), [])
  await mine([
    { after: 30 * 86_400 },
    call(who(1)),
    call(who(1)),
    call(who(2), 'unpause()'),
    call(who(2), 'pause()', TOKEN),
  ])
  const [first] = await tells(1)
  assert.equal(first.when.key.from!.toLowerCase(), who(1))
  await mine([call(who(2)), { after: 30 * 86_400 - 13 }, call(who(2))])
  const all = await tells(2)
  assert.deepEqual([all.length, all[1]!.when.key.from!.toLowerCase()], [2, who(2)])
  assert.equal((await alerts()).length, 2)
})

test('deposits to the accounts of a list are told once in fifty blocks and in one message', { timeout }, async t => {
  const { mine, alerts, tells } = await startRule(t, DEPOSITS, {
    async prepare(server) {
      const { status } = await server.ask('/alerting/lists/customers/', [who(1), who(2)].join('\n'), 'PUT')
      assert.equal(status, 201)
    },
  })
  const pay = (to: Hex, token = USDT) => transfer(who(9), to, 1n, token)
  await mine([
    { logs: [pay(who(1)), pay(who(2)), pay(who(3)), pay(who(1))] },
    ...times(48, (): Mined => ({})),
    { logs: [pay(who(1)), pay(who(1), TOKEN)] },
    { logs: [pay(who(1))] },
  ])
  const [first, ...others] = (await tells(1)) as unknown as Group[]
  assert.deepEqual([first!.type, others], ['alert.group', []])
  const blocks = [103, 103, 152, 153]
  assert.deepEqual(
    first!.alerts.map(({ payload }) => payload.blockNumber.num),
    blocks,
  )
  assert.deepEqual((await alerts()).map(({ block }) => block).reverse(), blocks)
})

test('transfers in or out of a wallet are alerts, and those of others, of too little or of another token are none', {
  timeout,
}, async t => {
  const { mine, tells, alerts } = await startRule(t, IN_OR_OUT)
  await mine([
    {
      logs: [
        transfer(who(1), who(2), 5n, TOKEN),
        transfer(WALLET, who(2), 1n, TOKEN),
        transfer(WALLET, who(2), 5n),
        log(TOKEN, 'Approval(address,address,uint256)', [word(WALLET), word(who(2))], word(1n)),
      ],
    },
    { logs: [transfer(WALLET, who(2), 5n, TOKEN)] },
    { logs: [transfer(who(2), WALLET, 5n, TOKEN)] },
  ])
  await tells(2)
  assert.deepEqual((await alerts()).map(({ block }) => block).reverse(), [104, 105])
})
