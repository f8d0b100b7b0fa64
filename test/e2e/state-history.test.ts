import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { anvilPath, startAnvil } from '../support/anvil.ts'
import { after, chainsieve, serve, succeed, tempFolder, until, untilIs } from './program.ts'

const skip = anvilPath === undefined && 'there is no anvil for this platform'
const NETWORK = 'ethereum/anvil/local'
const WALLET = '0x0D3eB21b6b21833A4939Cfff4810E9AE0758e12C'

const hex = (value: bigint) => `0x${value.toString(16)}`
const coins = (thousandths: number) => hex(BigInt(thousandths) * 10n ** 15n)

interface Simulated {
  total: number
  alerts: number
  fromBlock: number
  complete: boolean
  hits: { _id: string; _type: string; _source: object }[]
  windows?: { open: number; episodes: { key: object; opened: { block: number }; ended: { block: number } | null }[] }
}
interface AlertRow {
  block: number
  entity: { _id: string }
  when?: { key: object; ended?: { block: number } }
}

test('a back-test of state on a real node is what its rules have told, by HTTP, from the command line and in tests of rules', {
  skip,
  timeout: 240_000,
}, async t => {
  const data = tempFolder(t)
  const anvil = await startAnvil({ after: fn => after(t, fn) })
  await anvil.call('anvil_setBalance', WALLET, coins(1_000))
  await anvil.call('anvil_impersonateAccount', WALLET)
  await anvil.call('evm_mine')
  const node = ['--network', NETWORK, '--rpc', anvil.url]
  let server = await serve(t, data, [...node, '--poll-interval', '20ms', '--allow-target', '127.0.0.1/32'])
  await untilIs(() => server.total(NETWORK, 'block'), 2, server.err)
  const ruleOf = (config: object) => ({
    ...{ name: 'Gas money', maxConfirmationCount: 0, technology: 'ethereum', blockchain: 'anvil', network: 'local' },
    config: {
      ...{ targetType: 'State', targetMap: [{ name: 'value.coin', operator: 'Less', value: '0.5' }], ...config },
      alerts: [{ type: 'Webhook (POST)', parameters: { url: 'http://127.0.0.1:1/' } }],
    },
  })
  const create = async (config: object) => {
    const { status, body } = await server.ask<{ id: number; startBlock: number }>('/alerting/rules/', ruleOf(config))
    assert.equal(status, 201, JSON.stringify(body))
    return body
  }
  const each = { read: { balances: [WALLET], every: { blocks: 1 } } }
  const held = {
    read: { balances: [WALLET], every: { blocks: 2 } },
    when: {
      ...{ by: ['address'], hold: { blocks: 3 } },
      resolve: [{ name: 'value.coin', operator: 'Greater or Equal', value: '0.8' }],
    },
  }
  const all = await create({ ...each, targetMap: [{ name: 'blockNumber', operator: 'Greater', value: '0' }] })
  const rules = [await create(each), await create(held)]
  const spend = (thousandths: number) =>
    anvil.send({ from: WALLET, to: anvil.from, value: coins(thousandths), gas: '0x5208', gasPrice: '0x0' })
  const earn = (thousandths: number) => anvil.send({ to: WALLET, value: coins(thousandths) })
  const mine = (blocks: number) => anvil.call('anvil_mine', hex(BigInt(blocks)))
  await anvil.call('anvil_setNextBlockBaseFeePerGas', '0x0')
  // To the bound, and no further; below for too short; for long, up to between both bounds, and to the end.
  for (const [change, blocks] of [
    [-500, 4],
    [-100, 1],
    [200, 3],
    [-300, 8],
    [300, 4],
    [300, 5],
    [-700, 6],
  ] as const) {
    await anvil.call('anvil_setNextBlockBaseFeePerGas', '0x0')
    await (change < 0 ? spend(-change) : earn(change))
    await mine(blocks)
  }
  const top = Number(await anvil.call('eth_blockNumber'))
  const alertsOf = async ({ id }: { id: number }) =>
    (await server.ask<{ alerts: AlertRow[] }>(`/alerting/rules/${id}/alerts/?size=1000`)).body.alerts
  await until(
    () => alertsOf(all),
    found => found.some(({ block }) => block === top),
    server.err,
  )
  const bothRead = async () => (await Promise.all(rules.map(alertsOf))).map(it => it.length)
  let known = ''
  await until(
    async () => {
      const [before, now] = [known, JSON.stringify(await bothRead())]
      known = now
      await new Promise(resolve => setTimeout(resolve, 500))
      return before === now
    },
    isSame => isSame,
    server.err,
  )

  const lived: string[][] = []
  for (const rule of rules) {
    const live = await alertsOf(rule)
    assert.ok(live.length >= 2, JSON.stringify(live))
    const range = { fromBlock: rule.startBlock, size: 1000 }
    const { status, body } = await server.ask<Simulated>(`/alerting/rules/${rule.id}/simulate/`, range)
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual([body.alerts, body.complete], [live.length, true])
    const wanted = live.map(({ block, entity, when }) =>
      JSON.stringify(when ? [block, when.ended?.block ?? null, when.key] : entity._id),
    )
    const found = (body.windows?.episodes ?? body.hits).map(it =>
      JSON.stringify('opened' in it ? [it.opened.block, it.ended?.block ?? null, it.key] : it._id),
    )
    assert.deepEqual(found, wanted)
    lived.push(wanted)
  }
  // One that is not stored, by default over the newest blocks.
  const { body: drafted } = await server.ask<Simulated>('/alerting/rules/simulate/', ruleOf(each))
  assert.deepEqual([drafted.fromBlock, drafted.total > 0], [0, true])

  const file = join(data, 'held.json')
  writeFileSync(file, JSON.stringify(ruleOf(held)))
  const from = ['--from', String(rules[1]!.startBlock)]
  const printed = await succeed(t, ['rules', 'simulate', file, ...from, ...node], { data })
  assert.match(printed, /matches \d+ documents in blocks/)
  assert.match(printed, /That is 2 alerts, 1 of them still open/)
  assert.match(printed, /value\.coin 0\.\d+/)
  assert.match(printed, /balance of 0x0D3eB21b6b21833A4939Cfff4810E9AE0758e12C: 0\.\d+/)
  const without = await chainsieve(t, ['rules', 'simulate', file], { data })
  assert.equal(without.code, 1)
  assert.match(without.err, /add --network ethereum\/anvil\/local --rpc URL or a config file/)
  const alerts = lived[1]!.map(text => {
    const [opened, ended, key] = JSON.parse(text)
    return { key, opened, ended }
  })
  const tested = join(data, 'held.test.json')
  writeFileSync(tested, JSON.stringify({ rule: 'held.json', from: rules[1]!.startBlock, to: top, alerts }))
  assert.match(await succeed(t, ['rules', 'verify', tested, ...node], { data }), /good, 2 alerts/)

  // Without a node, what is stored stays, and its state is not known.
  server.signal('SIGTERM')
  assert.equal((await server.ended).code, 0)
  server = await serve(t, data, [])
  const refused = await server.ask<{ error: { reason: string } }>(`/alerting/rules/${rules[0]!.id}/simulate/`, {})
  assert.equal(refused.status, 400)
  assert.equal(
    refused.body.error.reason,
    'This server has no node of ethereum/anvil/local to read its state from: start it with --network ethereum/anvil/local --rpc URL.',
  )
})
