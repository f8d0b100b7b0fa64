import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { anvilPath, startAnvil } from '../support/anvil.ts'
import { startReceiver } from '../support/receiver.ts'
import { LOW_HEALTH_FACTOR, RELAYER_WITHOUT_GAS } from '../support/worked-rules.ts'
import { after, pause, serve, tempFolder, until, untilIs } from './program.ts'

const skip = anvilPath === undefined && 'there is no anvil for this platform'
const NETWORK = 'ethereum/anvil/local'
const WALLET = '0x0D3eB21b6b21833A4939Cfff4810E9AE0758e12C'
const FEED = '0x1454168e82efA260f49a6F86612cc6414Ba633e9'
/** Answers its slot 0 to any call, and reverts while that is 0. */
const FEED_CODE = '0x60005480600b57600080fd5b60005260206000f3'

const hex = (value: bigint) => `0x${value.toString(16)}`
const coins = (tenths: number) => hex(BigInt(tenths) * 10n ** 17n)

interface AlertRow {
  block: number
  blockHash: string
  state: string
}
interface Body {
  id: string
  type: string
  rule: { name: string }
  entity: { _id: string }
  when: { window: { toBlock: number }; conditions: { value: string }[] }
  payload: Record<string, unknown> & { blockNumber: { num: number }; value?: { coin: number } }
}

test('state that rules read: a balance that falls, a feed that reverts, over a restart and a reorganisation', {
  skip,
}, async t => {
  const data = tempFolder(t)
  const anvil = await startAnvil({ after: fn => after(t, fn) })
  const receiver = await startReceiver(t)
  let everyBlock: { id: number } | undefined
  /** Mines a block, and waits until it is read: what anvil is told to change changes its newest block, too. */
  const mine = async () => {
    await anvil.call('evm_mine')
    const number = Number(await anvil.call('eth_blockNumber'))
    const rule = everyBlock
    if (rule === undefined) return number
    await until(
      () => alertsOf(rule),
      found => found.some(({ block }) => block === number),
      server.err,
    )
    await pause(200)
    return number
  }
  await anvil.call('anvil_setBalance', WALLET, coins(10))
  await anvil.call('anvil_setCode', FEED, FEED_CODE)
  const feed = (value: bigint) =>
    anvil.call('anvil_setStorageAt', FEED, hex(0n).padEnd(66, '0'), `0x${value.toString(16).padStart(64, '0')}`)
  await feed(120n)
  const args = ['--network', NETWORK, '--rpc', anvil.url, '--poll-interval', '20ms', '--allow-target', '127.0.0.1/32']
  let server = await serve(t, data, args)
  await mine()
  await untilIs(() => server.total(NETWORK, 'block'), 2, server.err)

  const create = async (name: string, config: object) => {
    const { status, body } = await server.ask<{ id: number; startBlock: number; warnings: string[] }>(
      '/alerting/rules/',
      {
        ...{ name, maxConfirmationCount: 0, technology: 'ethereum', blockchain: 'anvil', network: 'local' },
        config: {
          ...{ targetType: 'State', ...config },
          alerts: [{ type: 'Webhook (POST)', parameters: { url: receiver.url } }],
        },
      },
    )
    assert.equal(status, 201, JSON.stringify(body))
    assert.deepEqual(body.warnings, [])
    return body
  }
  const wallet = await create('Gas money', {
    targetMap: [{ name: 'value.coin', operator: 'Less', value: '0.5' }],
    read: { balances: [WALLET], every: { blocks: 1 } },
  })
  const call = 'function price(uint256 round) view returns (uint256 price)'
  const price = await create('Price', {
    targetMap: [
      { name: 'result.price.scaled', operator: 'Less', value: '1.05' },
      { name: 'changed', operator: 'Equals', value: 'true' },
    ],
    read: { address: FEED, call, args: ['7'], decimals: 2, every: { blocks: 2 } },
  })
  const reverts = await create('Feed reverts', {
    targetMap: [{ name: 'error', operator: 'Greater', value: '' }],
    read: { address: FEED, call, args: ['7'], every: { blocks: 1 } },
  })
  everyBlock = await create('Every block', {
    targetMap: [{ name: 'blockNumber', operator: 'Greater', value: '0' }],
    read: { balances: [FEED], every: { blocks: 1 } },
  })
  const alertsOf = async ({ id }: { id: number }) =>
    (await server.ask<{ alerts: AlertRow[] }>(`/alerting/rules/${id}/alerts/?size=1000`)).body.alerts.reverse()
  const shown = async (rule: { id: number }) => (await alertsOf(rule)).map(({ block, state }) => `${block} ${state}`)
  const bodies = (name: string) =>
    receiver.calls.map(({ body }) => JSON.parse(body) as Body).filter(it => it.rule.name === name)

  await mine()
  await mine()
  await anvil.call('anvil_setBalance', WALLET, coins(4))
  await feed(100n)
  const low = await mine()
  await mine()
  await until(
    () => shown(wallet),
    found => found.length === 2,
    server.err,
  )
  assert.deepEqual(await shown(wallet), [`${low} confirmed`, `${low + 1} confirmed`])
  const told = await until(
    () => bodies('Gas money'),
    found => found.length === 2,
  )
  const { payload, entity } = told.find(({ payload }) => payload.blockNumber.num === low)!
  assert.match(entity._id, new RegExp(`^0x[0-9a-f]{64}_s_${WALLET}$`))
  const { blockHash, timestamp, datetime, ...rest } = payload
  assert.ok(blockHash && timestamp && datetime)
  assert.deepEqual(rest, {
    address: WALLET,
    call: 'balance',
    args: [],
    blockNumber: { num: low, raw: `0x${low.toString(16)}` },
    value: { coin: 0.4, num: 400000000000000000, raw: coins(4) },
    previous: {
      blockNumber: { num: low - 1, raw: `0x${(low - 1).toString(16)}` },
      value: { coin: 1, num: 1000000000000000000, raw: coins(10) },
      error: null,
    },
    changed: true,
    error: null,
  })
  assert.deepEqual(told.map(({ payload }) => payload.changed).sort(), [false, true])
  // Only even blocks are read, and the price fell once.
  const even = low + (low % 2)
  assert.deepEqual(
    await until(
      () => shown(price),
      found => found.length === 1,
    ),
    [`${even} confirmed`],
  )

  await feed(0n)
  const reverted = await mine()
  assert.deepEqual(
    await until(
      () => shown(reverts),
      found => found.length === 1,
      server.err,
    ),
    [`${reverted} confirmed`],
  )
  const [failed] = await until(
    () => bodies('Feed reverts'),
    found => found.length === 1,
  )
  assert.match(String(failed!.payload.error), /revert/)
  assert.deepEqual([failed!.payload.result, failed!.payload.changed], [undefined, true])

  // While the server is down, a block comes: it is read later, and compared with the one before.
  await until(
    () => shown(wallet),
    found => found.length === 3,
  )
  server.signal('SIGTERM')
  assert.equal((await server.ended).code, 0)
  await anvil.call('anvil_impersonateAccount', WALLET)
  const missed = Number((await anvil.send({ from: WALLET, to: anvil.from, value: coins(1) })).blockNumber)
  server = await serve(t, data, args)
  const last = await mine()
  await until(
    () => shown(wallet),
    found => found.length === 5,
    server.err,
  )
  const blocks = (await alertsOf(wallet)).map(({ block }) => block)
  assert.deepEqual(blocks, [low, low + 1, reverted, missed, last])
  const late = await until(
    () => bodies('Gas money').find(({ payload }) => payload.blockNumber.num === missed),
    found => found !== undefined,
  )
  assert.deepEqual((late!.payload.previous as { value: { coin: number } }).value.coin, 0.4)

  // Blocks are replaced by ones in which the balance is another: their alerts are taken back.
  const before = await alertsOf(wallet)
  await anvil.call('anvil_reorg', 2, [])
  const after1 = await mine()
  const now = await until(
    () => alertsOf(wallet),
    found => found.filter(({ state }) => state === 'retracted').length === 2 && found.at(-1)!.block === after1,
    server.err,
  )
  const gone = before.slice(-2).map(it => it.blockHash)
  for (const it of now)
    assert.equal(it.state, gone.includes(it.blockHash) ? 'retracted' : 'confirmed', JSON.stringify(now))
  const stayed = now.filter(({ state }) => state === 'confirmed')
  assert.deepEqual(
    stayed.map(({ block }) => block),
    [low, low + 1, reverted, missed, last, after1],
  )
  for (const { block, blockHash } of stayed)
    assert.equal(
      (await anvil.call<{ hash: string }>('eth_getBlockByNumber', `0x${block.toString(16)}`, false)).hash,
      blockHash,
    )
  await until(
    () => bodies('Gas money').filter(({ type }) => type === 'alert.retracted').length,
    found => found === 2,
  )

  assert.equal((await server.ask(`/alerting/rules/${wallet.id}/test/`, {})).status, 400)
  assert.deepEqual((await server.ask<{ warnings: string[] }>(`/alerting/rules/${price.id}/`)).body.warnings, [])
})

const POOL = LOW_HEALTH_FACTOR.read.address
/** Answers five zeros and its slot 0. */
const POOL_CODE = '0x60005460a05260c06000f3'
/** A server with rules that read an anvil, whose blocks are read one after another. */
const readingScene = async (t: TestContext) => {
  const data = tempFolder(t)
  const anvil = await startAnvil({ after: fn => after(t, fn) })
  const receiver = await startReceiver(t)
  const args = ['--network', NETWORK, '--rpc', anvil.url, '--poll-interval', '20ms', '--allow-target', '127.0.0.1/32']
  const balance = (of: string, tenths: number) => anvil.call('anvil_setBalance', of, coins(tenths))
  await balance(WALLET, 10)
  await balance(FEED, 10)
  let server = await serve(t, data, args)
  await anvil.call('evm_mine')
  await untilIs(() => server.total(NETWORK, 'block'), 2, server.err)
  const create = async (name: string, config: object) => {
    const { status, body } = await server.ask<{ id: number; warnings: string[] }>('/alerting/rules/', {
      ...{ name, maxConfirmationCount: 0, technology: 'ethereum', blockchain: 'anvil', network: 'local' },
      config: { ...config, alerts: [{ type: 'Webhook (POST)', parameters: { url: receiver.url } }] },
    })
    assert.equal(status, 201, JSON.stringify(body))
    assert.deepEqual(body.warnings, [])
    return body
  }
  const everyBlock = await create('Every block', {
    ...{ targetType: 'State', targetMap: [{ name: 'blockNumber', operator: 'Greater', value: '0' }] },
    read: { balances: [POOL], every: { blocks: 1 } },
  })
  const alertsOf = async ({ id }: { id: number }) =>
    (
      await server.ask<{ alerts: (AlertRow & { when?: { key: object; conditions: unknown[]; ended?: object } })[] }>(
        `/alerting/rules/${id}/alerts/?size=1000`,
      )
    ).body.alerts.reverse()
  const shown = async (rule: { id: number }) => (await alertsOf(rule)).map(({ block, state }) => `${block} ${state}`)
  /** Mines up to a block, which all rules then have read: what anvil is told to change changes its newest block, too. */
  const mineTo = async (to: number) => {
    const now = Number(await anvil.call('eth_blockNumber'))
    await anvil.call('anvil_mine', hex(BigInt(to - now)))
    await until(
      () => alertsOf(everyBlock),
      found => found.some(({ block, state }) => block === to && state === 'confirmed'),
      server.err,
    )
    await pause(400)
  }
  const bodiesOf = (name: string) =>
    receiver.calls.map(({ body }) => JSON.parse(body) as Body).filter(it => it.rule.name === name)
  const told = (name: string, ...types: string[]) =>
    untilIs(
      () =>
        bodiesOf(name)
          .map(({ type }) => type)
          .join(),
      types.join(),
      server.err,
    )
  const restart = async () => {
    server.signal('SIGTERM')
    assert.equal((await server.ended).code, 0)
    server = await serve(t, data, args)
  }
  const err = () => server.err()
  return { anvil, receiver, balance, create, alertsOf, shown, mineTo, bodiesOf, told, restart, err }
}

test('state that must hold for some blocks: a relayer without gas money and a health factor, over a restart and reorganisations', {
  skip,
}, async t => {
  const { anvil, balance, create, alertsOf, shown, mineTo, told, restart, err } = await readingScene(t)
  const health = (hundredths: number) => {
    const value = BigInt(hundredths) * 10n ** 16n
    return anvil.call('anvil_setStorageAt', POOL, hex(0n).padEnd(66, '0'), `0x${value.toString(16).padStart(64, '0')}`)
  }
  await anvil.call('anvil_setCode', POOL, POOL_CODE)
  await health(120)
  const relayer = await create('Relayer', RELAYER_WITHOUT_GAS)
  const factor = await create('Health factor', LOW_HEALTH_FACTOR)

  // Nine blocks of it are not enough.
  await mineTo(4)
  await health(104)
  await mineTo(13)
  await health(106)
  await mineTo(24)
  assert.deepEqual(await shown(factor), [])
  // One account falls, and the other one not far enough.
  await balance(WALLET, 4)
  await balance(FEED, 6)
  await health(104)
  await mineTo(29)
  assert.deepEqual(await shown(relayer), [])
  await restart()
  await mineTo(33)
  await told('Relayer', 'alert.confirmed')
  const [low] = await alertsOf(relayer)
  assert.deepEqual([low!.block, low!.when!.key], [30, { address: WALLET }])
  assert.deepEqual(low!.when!.conditions, [{ name: 'value.coin', value: '0.4' }])
  assert.deepEqual(await shown(factor), [])
  await mineTo(36)
  await told('Health factor', 'alert.confirmed')
  // Between both bounds an episode goes on.
  await health(110)
  await balance(WALLET, 7)
  await mineTo(51)
  assert.deepEqual(await shown(relayer), ['30 confirmed'])
  // On a busy machine block 24 was read only after it had been changed.
  assert.match((await shown(factor)).join(), /^3[45] confirmed$/)
  await balance(WALLET, 12)
  await health(115)
  await mineTo(76)
  await told('Relayer', 'alert.confirmed', 'alert.resolved')
  await told('Health factor', 'alert.confirmed', 'alert.resolved')
  assert.deepEqual(await shown(relayer), ['30 resolved'])

  // The blocks of the end go, and both are open again; then those of the beginning.
  await anvil.call('anvil_reorg', 30, [])
  await anvil.call('evm_mine')
  await told('Health factor', 'alert.confirmed', 'alert.resolved', 'alert.confirmed')
  await told('Relayer', 'alert.confirmed', 'alert.resolved', 'alert.confirmed')
  assert.deepEqual(await shown(relayer), ['30 confirmed'])
  await anvil.call('anvil_reorg', 49, [])
  await anvil.call('evm_mine')
  for (const rule of [relayer, factor])
    await until(
      () => alertsOf(rule),
      ([first]) => first!.state === 'retracted',
      err,
    )
})

test('a relayer without gas money is told again after a day, once it has less, and not where it has as much', {
  skip,
}, async t => {
  const { anvil, receiver, balance, create, mineTo, bodiesOf, told } = await readingScene(t)
  await create('Relayer', RELAYER_WITHOUT_GAS)
  const later = (seconds: number) => anvil.call('evm_increaseTime', seconds)
  await mineTo(4)
  await balance(WALLET, 4)
  await mineTo(33)
  await told('Relayer', 'alert.confirmed')
  // It has less, but a day has not passed.
  await balance(WALLET, 3)
  await later(86_000)
  await mineTo(52)
  await told('Relayer', 'alert.confirmed')
  await later(1_000)
  await mineTo(73)
  await told('Relayer', 'alert.confirmed', 'alert.repeated')
  // A day has passed, but it has as much.
  await later(90_000)
  await mineTo(112)
  await told('Relayer', 'alert.confirmed', 'alert.repeated')
  await balance(WALLET, 2)
  await mineTo(126)
  await told('Relayer', 'alert.confirmed', 'alert.repeated', 'alert.repeated')
  await balance(WALLET, 12)
  await mineTo(151)
  await told('Relayer', 'alert.confirmed', 'alert.repeated', 'alert.repeated', 'alert.resolved')
  const all = bodiesOf('Relayer')
  assert.equal(new Set(all.map(({ id }) => id)).size, 1)
  assert.deepEqual(
    all.slice(0, 3).map(({ when, payload }) => [when.window.toBlock, when.conditions[0]!.value, payload.value!.coin]),
    [
      [30, '0.4', 0.4],
      [53, '0.3', 0.3],
      [125, '0.2', 0.2],
    ],
  )
  const ids = receiver.calls
    .filter(({ body }) => body.includes('"Relayer"'))
    .map(({ headers }) => headers['webhook-id'])
  assert.deepEqual(ids, [all[0]!.id, `${all[0]!.id}_53`, `${all[0]!.id}_125`, all[0]!.id])
})
