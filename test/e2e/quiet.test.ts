import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startNode } from '../support/node.ts'
import { startReceiver } from '../support/receiver.ts'
import { demoBlocks } from '../support/store.ts'
import { connect, start, succeed, tempFolder, until } from './program.ts'

const NETWORK = 'ethereum/test/net'
const [FIRST, LAST] = [150, 260]
const BLOCKS = 10

interface EventHit {
  _id: string
  _source: { address: string; blockNumber: { num: number }; args: { name: string; value: unknown }[] }
}
interface AlertAnswer {
  block: number
  entity: { _id: string }
}

test('deposits of a receiver are told once in a while, in history and as blocks arrive', async t => {
  const data = tempFolder(t)
  const blocks = demoBlocks()
  const node = await startNode(t, blocks.slice(0, FIRST + 1))
  const receiver = await startReceiver(t)
  const token = (await succeed(t, ['token', 'create', '--account', 'ops'], { data })).trim()
  await succeed(t, ['abi', 'add', fileURLToPath(new URL('../../data/demo-abi.json', import.meta.url))], { data })
  const program = start(
    t,
    [
      ...['serve', '--port', '0', '--network', NETWORK, '--rpc', node.url, '--from', '0'],
      ...['--poll-interval', '50ms', '--allow-target', '127.0.0.1/32'],
    ],
    { data },
  )
  const server = await connect(program, token)
  const stored = (block: number) =>
    until(
      () => server.total(NETWORK, 'block', { match_all: {} }),
      total => total === block + 1,
    )
  await stored(FIRST)
  const { status, body: rule } = await server.ask('/alerting/rules/', {
    ...{ name: 'Deposits', maxConfirmationCount: 0, technology: 'ethereum', blockchain: 'test', network: 'net' },
    startBlock: 0,
    config: {
      targetType: 'Event',
      targetMap: [{ name: 'event', operator: 'Equals', value: 'Transfer' }],
      alerts: [{ type: 'Webhook (POST)', parameters: { url: receiver.url } }],
      notify: { quiet: { by: ['args.to', 'address'], blocks: BLOCKS } },
    },
  })
  assert.equal(status, 201, JSON.stringify(rule))

  const expectedTo = async (block: number): Promise<string[]> => {
    const query = {
      bool: { filter: [{ term: { 'event.raw': 'Transfer' } }, { range: { 'blockNumber.num': { lte: block } } }] },
    }
    const found = await server.ask<{ hits: { hits: EventHit[] } }>(`/${NETWORK}/es/event/search/`, {
      ...{ query, size: 10_000, sort: ['_doc'] },
    })
    const last = new Map<string, number>()
    return found.body.hits.hits.flatMap(({ _id, _source: { address, blockNumber, args } }) => {
      const key = JSON.stringify([args.find(({ name }) => name === 'to')?.value, address])
      const before = last.get(key)
      if (before !== undefined && blockNumber.num - before < BLOCKS) return []
      last.set(key, blockNumber.num)
      return [_id]
    })
  }
  const alerts = async () =>
    (await server.ask<{ alerts: AlertAnswer[] }>('/alerting/rules/1/alerts/?size=1000')).body.alerts
      .map(({ entity }) => entity._id)
      .reverse()
  for (const block of [FIRST, LAST]) {
    if (block > FIRST) node.extend(blocks.slice(FIRST + 1, block + 1))
    await stored(block)
    const expected = await expectedTo(block)
    const total = await server.total(NETWORK, 'event', { term: { 'event.raw': 'Transfer' } })
    assert.ok(expected.length > 5 && expected.length < total, `${expected.length} of ${total}`)
    await until(alerts, found => found.length >= expected.length)
    assert.deepEqual((await alerts()).sort(), expected.sort())
  }
})
