import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Anvil, anvilPath, startAnvil } from '../support/anvil.ts'
import { startReceiver } from '../support/receiver.ts'
import { after, pause, serve, tempFolder, until } from './program.ts'

const skip = anvilPath === undefined && 'there is no anvil for this platform'
const ONE = 'ethereum/anvil/one'
const TWO = 'ethereum/anvil/two'
const WALLET = '0x0d3eb21b6b21833a4939cfff4810e9ae0758e12c'
const OTHER = '0x1454168e82efa260f49a6f86612cc6414ba633e9'
const START = 1_700_000_000

const paid = (to: string) => ({
  targetType: 'Transaction',
  targetMap: [
    { name: 'value', operator: 'Greater', value: '0' },
    { name: 'to', operator: 'Equals any (ignore case)', value: [to, OTHER] },
  ],
})

interface Told {
  id: string
  type: string
  network: string
  entity: { _id: string }
  when: {
    window: Record<string, number>
    conditions: { value: string }[]
    steps?: { network: string; block: number; _id: string }[]
    ended?: { network: string; block: number }
  }
}

/** Two chains, and a rule over both. */
const scene = async (t: TestContext, config: object, { confirmations = 0 } = {}) => {
  const data = tempFolder(t)
  const own = { after: (fn: () => Promise<void>) => after(t, fn) }
  const chains = [
    await startAnvil(own, ['--no-mining', '--timestamp', String(START)]),
    await startAnvil(own, ['--no-mining', '--timestamp', String(START)]),
  ] as const
  const receiver = await startReceiver(t)
  const networks = chains.map(
    ({ url }, i) =>
      `[[networks]]\nnetwork = "${[ONE, TWO][i]}"\nrpc = ["${url}"]\nfinality = 8\npoll-interval = "20ms"\n`,
  )
  writeFileSync(join(data, 'chainsieve.toml'), `allow-target = ["127.0.0.1/32"]\n${networks.join('\n')}`)
  const start = () => serve(t, data, ['--config', join(data, 'chainsieve.toml')])
  let server = await start()
  const stored = async (i: number) => {
    const { hash } = await chains[i]!.call<{ hash: string }>('eth_getBlockByNumber', 'latest', false)
    const query = { size: 1, sort: [{ 'number.num': 'desc' }] }
    await until(
      // A busy machine may refuse a search.
      () => server.search([ONE, TWO][i]!, 'block', query).catch(() => undefined),
      found => found?.hits.hits[0]?._id === hash,
      server.err,
    )
  }
  /** Mines a block at so many seconds, with a payment of so many coins. */
  const mine = async (i: 0 | 1, seconds: number, payment?: { to: string; coins: number }) => {
    const chain: Anvil = chains[i]
    if (payment) {
      const value = `0x${(BigInt(payment.coins) * 10n ** 18n).toString(16)}`
      await chain.call('eth_sendTransaction', { from: chain.from, to: payment.to, value, gas: '0x5208' })
    }
    await chain.call('evm_setNextBlockTimestamp', START + seconds)
    await chain.call('evm_mine')
    await stored(i)
  }
  await mine(0, 10)
  await mine(1, 10)
  const { status, body } = await server.ask<{ id: number; warnings: string[] }>('/alerting/rules/', {
    ...{ name: 'both', maxConfirmationCount: confirmations, technology: 'ethereum', blockchain: 'anvil', network: '*' },
    config: { ...config, alerts: [{ type: 'Webhook (POST)', parameters: { url: receiver.url } }] },
  })
  assert.equal(status, 201, JSON.stringify(body))
  await pause(500)
  await mine(0, 20)
  await mine(1, 20)
  return {
    ...{ chains, mine },
    async restart() {
      server.signal('SIGKILL')
      await server.ended
      server = await start()
    },
    alerts: async () =>
      (await server.ask<{ alerts: { state: string; network: string }[] }>(`/alerting/rules/${body.id}/alerts/`)).body
        .alerts,
    warnings: async () => (await server.ask<{ warnings: string[] }>(`/alerting/rules/${body.id}/`)).body.warnings,
    told: (count: number) =>
      until(
        () => receiver.calls.map(({ body }) => JSON.parse(body) as Told),
        all => all.length >= count,
        server.err,
      ),
  }
}

const PAIR = {
  ...paid(WALLET),
  when: {
    steps: [
      { by: ['to'], network: ONE },
      { ...paid(WALLET), by: ['to'], network: TWO },
    ],
    within: { seconds: 60 },
  },
}

test('a payment on one chain and one on the other within a minute are one alert, which a reorganisation of the first retracts', {
  skip,
  timeout: 240_000,
}, async t => {
  const { mine, told, restart, chains, warnings } = await scene(t, PAIR)
  const snapshot = await chains[0].call('evm_snapshot')
  await mine(0, 30, { to: WALLET, coins: 1 })
  // Too late for this one, and in the wrong order for the other.
  await mine(1, 40, { to: OTHER, coins: 1 })
  await mine(0, 50, { to: OTHER, coins: 1 })
  await restart()
  await mine(1, 80, { to: WALLET, coins: 2 })
  await mine(0, 400)
  await until(warnings, all => all.some(it => it.startsWith(`It waits for ${TWO}, whose newest block is of `)))
  await mine(1, 400, { to: OTHER, coins: 2 })
  await mine(1, 410)
  const [first] = (await told(1)) as [Told]
  assert.deepEqual([first.type, first.network], ['alert.confirmed', TWO])
  assert.deepEqual(first.when.window, { fromTime: START + 30, toTime: START + 80, seconds: 60 })
  assert.deepEqual(
    first.when.steps?.map(({ network, block }) => [network, block]),
    [
      [ONE, 3],
      [TWO, 4],
    ],
  )
  assert.equal(first.entity._id, first.when.steps![1]!._id)

  await chains[0].call('evm_revert', snapshot)
  for (const seconds of [31, 51, 401, 402]) await mine(0, seconds)
  const all = await told(2)
  assert.deepEqual(
    all.map(({ id, type }) => [id, type]),
    [
      [first.id, 'alert.confirmed'],
      [first.id, 'alert.retracted'],
    ],
  )
})

test('what is paid on both chains together is summed, and the alert waits for both to be deep enough', {
  skip,
  timeout: 240_000,
}, async t => {
  const config = {
    ...paid(WALLET),
    when: {
      ...{ by: ['to'], across: true, within: { seconds: 100 } },
      conditions: [{ aggregate: 'Sum', name: 'value', operator: 'Greater', value: '5000000000000000000' }],
    },
    notify: { resolved: true },
  }
  const { mine, told, alerts } = await scene(t, config, { confirmations: 2 })
  await mine(0, 130, { to: WALLET, coins: 3 })
  await mine(1, 140, { to: WALLET, coins: 2 })
  await mine(1, 150, { to: OTHER, coins: 3 })
  await mine(0, 160, { to: WALLET, coins: 1 })
  for (const seconds of [170, 180]) await mine(0, seconds)
  await mine(1, 181)
  const states = async () => (await alerts()).map(({ state, network }) => `${state} ${network}`)
  await until(states, all => all.length === 1)
  await pause(500)
  assert.deepEqual(await states(), [`pending ${ONE}`])
  await mine(1, 182)
  const [first] = (await told(1)) as [Told]
  assert.deepEqual(
    [first.type, first.network, first.when.conditions[0]!.value],
    ['alert.confirmed', ONE, '6000000000000000000'],
  )
  assert.deepEqual(first.when.window, { fromTime: START + 130, toTime: START + 160, seconds: 100 })
  for (const seconds of [231, 240, 250]) {
    await mine(1, seconds)
    await mine(0, seconds + 1)
  }
  const [, second] = (await told(2)) as [Told, Told]
  assert.deepEqual([second.id, second.type], [first.id, 'alert.resolved'])
  assert.equal(second.when.ended?.network, TWO)
})
