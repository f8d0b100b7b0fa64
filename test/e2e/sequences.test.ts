import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Hex, RawBlock } from '../../src/chain/wire.ts'
import { keccakHex } from '../../src/lib/keccak.ts'
import { startNode } from '../support/node.ts'
import { bloomOf, hex, makeChain } from '../support/pack.ts'
import { startReceiver } from '../support/receiver.ts'
import { CHANGED_THEN_UPGRADED, SCHEDULED_AND_LEFT } from '../support/sequences.ts'
import { serve, tempFolder, until } from './program.ts'

const NETWORK = 'ethereum/made-up/mainnet'
const PROXY = `0x${'a1'.repeat(20)}`
const OTHER = `0x${'b2'.repeat(20)}`
const TIMELOCK = `0x${'c3'.repeat(20)}`
const DAY = 86_400

const word = (text: string): Hex => `0x${text.replace('0x', '').padStart(64, '0')}`
const words = (...all: string[]): Hex => `0x${all.map(it => word(it).slice(2)).join('')}`
const log = (address: string, signature: string, topics: Hex[], data: Hex = '0x') => ({
  ...{ address: address as Hex, topics: [`0x${keccakHex(signature).replace('0x', '')}` as Hex, ...topics], data },
})
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

interface Told {
  id: string
  type: string
  entity: { _id: string; _type: string }
  when: {
    key: Record<string, string>
    window: Record<string, number>
    steps: ({ block: number; _id: string } | { missing: true })[]
  }
}

interface Mined {
  logs?: ReturnType<typeof log>[]
  /** Seconds after the block before. */
  after?: number
}

/** A chain whose blocks have the given logs in one transaction. */
const scene = async (t: TestContext, rule: object) => {
  const data = tempFolder(t)
  const chain = makeChain({ blocks: 3, from: 100, txs: 1, logs: 0 })
  const node = await startNode(t, chain)
  const receiver = await startReceiver(t)
  const args = ['--network', NETWORK, '--rpc', node.url, '--from', '100', '--poll-interval', '20ms']
  const start = () => serve(t, data, [...args, '--allow-target', '127.0.0.1/32'])
  let server = await start()
  const stored = (block: number) =>
    until(
      () => server.total(NETWORK, 'block', { range: { 'number.num': { gte: block } } }),
      total => total > 0,
    )
  await stored(102)
  const { status, body } = await server.ask<{ id: number }>('/alerting/rules/', {
    ...{ name: 'steps', maxConfirmationCount: 0, technology: 'ethereum', blockchain: 'made-up', network: 'mainnet' },
    config: { ...rule, alerts: [{ type: 'Webhook (POST)', parameters: { url: `${receiver.url}/hook` } }] },
  })
  assert.equal(status, 201, JSON.stringify(body))
  let salt = 0
  const mine = async (blocks: readonly Mined[]) => {
    const fresh = blocks.map(({ logs = [], after = 12 }) => {
      const parent = chain.at(-1)!
      const [raw] = makeChain({ blocks: 1, parent, txs: 1, logs: 0, salt: String(salt++) }) as [RawBlock]
      const [receipt] = raw.receipts
      const { blockHash, blockNumber, transactionIndex, transactionHash } = receipt!
      const where = { blockHash, blockNumber, transactionIndex, transactionHash, removed: false }
      Object.assign(receipt!, { logs: logs.map((it, i) => ({ ...it, ...where, logIndex: hex(i) })) })
      const timestamp = hex(Number(parent.block.timestamp) + after)
      Object.assign(raw.block, { timestamp, logsBloom: bloomOf(raw.receipts) })
      chain.push(raw)
      return raw
    })
    node.extend(fresh)
    await stored(Number(chain.at(-1)!.block.number))
  }
  return {
    mine,
    reorganise(depth: number, blocks: readonly Mined[]) {
      chain.length -= depth
      return mine(blocks)
    },
    async restart() {
      server.signal('SIGKILL')
      await server.ended
      server = await start()
    },
    alerts: async () => (await server.ask<{ alerts: unknown[] }>(`/alerting/rules/${body.id}/alerts/`)).body.alerts,
    told: (count: number) =>
      until(
        () => receiver.calls.map(({ body }) => JSON.parse(body) as Told),
        all => all.length >= count,
      ),
  }
}

const quiet = (count: number): Mined[] => Array.from({ length: count }, () => ({}))

test('an upgrade within 300 blocks of a change of owner is an alert, also over a kill', {
  timeout: 240_000,
}, async t => {
  const { mine, told, restart, reorganise } = await scene(t, CHANGED_THEN_UPGRADED)
  await mine([{ logs: [changed(PROXY), changed(OTHER)] }, ...quiet(150)])
  await restart()
  await mine([...quiet(148), { logs: [upgraded(PROXY)] }])
  const [first] = (await told(1)) as [Told]
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
    (await told(2)).map(({ id, type }) => [id, type]),
    [
      [first.id, 'alert.confirmed'],
      [first.id, 'alert.retracted'],
    ],
  )
})

test('an upgrade that comes too late, of another contract, before the change or by a timelock is none', {
  timeout: 240_000,
}, async t => {
  const { mine, alerts } = await scene(t, CHANGED_THEN_UPGRADED)
  await mine([{ logs: [upgraded(PROXY), changed(PROXY)] }, { logs: [upgraded(OTHER)] }, ...quiet(298)])
  await mine([{ logs: [upgraded(PROXY)] }])
  await mine([{ logs: [changed(OTHER)] }, { logs: [scheduled('1', OTHER)] }, { logs: [upgraded(OTHER)] }])
  assert.deepEqual(await alerts(), [])
})

test('what is scheduled, and neither executed nor cancelled after three days, is an alert', {
  timeout: 120_000,
}, async t => {
  const { mine, told, restart } = await scene(t, SCHEDULED_AND_LEFT)
  await mine([{ logs: [scheduled('1', OTHER), scheduled('2', OTHER)] }, { after: DAY }])
  await restart()
  await mine([{ after: DAY, logs: [executed('2')] }, { after: DAY - 1 }, { after: 1 }])
  const [first, ...others] = (await told(1)) as [Told]
  assert.deepEqual([first.type, others], ['alert.confirmed', []])
  assert.equal(first.when.key['args.id'], word('1'))
  assert.deepEqual(first.when.window, { fromBlock: 103, toBlock: 107, seconds: 3 * DAY })
  assert.deepEqual([first.entity._type, first.when.steps.length, first.when.steps[1]], ['block', 2, { missing: true }])
})

test('what is executed or cancelled in time is none', { timeout: 120_000 }, async t => {
  const { mine, alerts } = await scene(t, SCHEDULED_AND_LEFT)
  await mine([{ logs: [scheduled('1', OTHER), scheduled('2', OTHER)] }])
  await mine([
    { after: 2 * DAY, logs: [cancelled('1')] },
    { after: DAY - 1, logs: [executed('2')] },
    { after: 2 * DAY },
  ])
  assert.deepEqual(await alerts(), [])
})
