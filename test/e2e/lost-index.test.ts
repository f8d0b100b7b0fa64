import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect, DEFAULT_CLUSTER } from '../../src/cluster/connection/cluster.ts'
import { startNode } from '../support/node.ts'
import { runOpenSearch, withoutOpenSearch } from '../support/real-opensearch.ts'
import { ruleBody, ruleConfig } from '../support/rules.ts'
import { demoBlocks } from '../support/store.ts'
import { after, pause, type SearchAnswer, serve, succeed, tempFolder } from './program.ts'

const NETWORK = 'ethereum/made-up/mainnet'
const HEAD = 380
/** Of blocks whose documents have left the file. */
const [FROM, TO] = [20, 109]
const byNumber = (a: number, b: number) => a - b
const OLD = { query: { range: { 'blockNumber.num': { gte: FROM, lte: TO } } }, size: 0 }

test('a server starts without an index of the cluster, follows the head, and fetches what was lost on request', {
  skip: withoutOpenSearch,
}, async t => {
  const { url, stop } = await runOpenSearch()
  after(t, stop)
  const prefix = `lost-${randomBytes(6).toString('hex')}`
  const cluster = connect({ ...DEFAULT_CLUSTER, urls: [url], prefix })
  after(t, async () => {
    for (const path of [`/${prefix}-*`, `/_index_template/${prefix}-*`]) await cluster.ask({ method: 'DELETE', path })
    await cluster.close()
  })
  const chain = demoBlocks()
  const receipts = chain.slice(FROM, TO + 1).flatMap(block => block.receipts)
  const [txs, logsDue] = [receipts.length, receipts.reduce((sum, { logs }) => sum + logs.length, 0)]
  const node = await startNode({ after: fn => after(t, fn) }, chain)
  node.head = HEAD
  const data = join(tempFolder(t), 'data')
  const store = ['--store', 'opensearch', '--opensearch-url', url, '--opensearch-prefix', prefix]
  const place = ['--network', NETWORK, ...store, '--opensearch-replicas', '0', '--opensearch-blocks', '50']
  const args = [...place, '--rpc', node.url]
  await succeed(t, ['index', ...args, '--from', '0', '--to', `${HEAD}`, '--store-batch', '20'], { data })

  const [alias, range] = [`${prefix}-ethereum-made-up-mainnet-log`, '000001']
  await cluster.ask({ method: 'DELETE', path: `/${alias}-${range}` })
  const server = await serve(t, data, [...args, '--from', '0'])
  const logs = async () => {
    const { status, body } = await server.ask<SearchAnswer & { error?: { reason: string } }>(
      `/${NETWORK}/es/log/search/`,
      OLD,
    )
    return status === 200 ? body.hits.total : `${status} ${body.error?.reason}`
  }
  const ready = async () => {
    const { reasons } = (await server.ask<{ reasons?: { type: string }[] }>('/ready')).body
    return (reasons ?? []).map(({ type }) => type)
  }
  const [reason, whole] = [new RegExp(`^503 .*${alias}-${range}.*blocks 50 to 99.*chainsieve prune --lost`), logsDue]
  assert.match(String(await logs()), reason)
  assert.equal(await server.total(NETWORK, 'tx', OLD.query), txs)
  while (!(await ready()).includes('cluster_lost')) await pause(200)
  // Rules go on for what comes, and those that need what is lost say so, or wait.
  const rule = (targetType: string, startBlock?: number) => {
    const [technology, blockchain, network] = NETWORK.split('/')
    const targetMap = [{ name: 'blockNumber.num', operator: 'Greater', value: `${startBlock ?? HEAD}` }]
    const config = ruleConfig({ targetType, targetMap })
    return ruleBody({ technology, blockchain, network, config, maxConfirmationCount: 0, startBlock })
  }
  const create = async (body: object) => {
    const { status, body: created } = await server.ask<{ id: number }>('/alerting/rules/', body)
    assert.equal(status, 201, JSON.stringify(created))
    return created.id
  }
  const alertsOf = async (id: number) => {
    const { alerts } = (await server.ask<{ alerts: { block: number }[] }>(`/alerting/rules/${id}/alerts/?size=1000`))
      .body
    return alerts.map(({ block }) => block)
  }
  const blocksWith = (count: (block: (typeof chain)[number]) => number, from: number, to: number) =>
    chain.slice(from, to + 1).flatMap((block, i) => Array.from({ length: count(block) }, () => from + i))
  const logCount = ({ receipts }: (typeof chain)[number]) => receipts.reduce((sum, { logs }) => sum + logs.length, 0)
  const simulate = async (targetType: string) => {
    const { status, body } = await server.ask<object>('/alerting/rules/simulate', {
      ...rule(targetType, FROM),
      ...{ lastBlocks: HEAD, size: 1 },
    })
    return `${status} ${JSON.stringify(body)}`
  }
  assert.match(await simulate('Log'), reason)
  assert.match(await simulate('Transaction'), /^200 /)
  const [fresh, back] = [await create(rule('Log')), await create(rule('Log', FROM))]
  node.head = HEAD + 10
  const due = blocksWith(logCount, HEAD + 1, HEAD + 10)
  assert.ok(due.length > 0)
  while ((await alertsOf(fresh)).length < due.length) await pause(200)
  assert.deepEqual((await alertsOf(fresh)).toSorted(byNumber), due)
  assert.deepEqual(
    (await alertsOf(back)).filter(block => block >= 50 && block < 100),
    [],
  )
  while ((await server.total(NETWORK, 'block')) !== node.head + 1) await pause(200)

  await succeed(t, ['prune', ...place, '--lost'], { data })
  while ((await logs()) !== whole) await pause(200)
  while ((await server.total(NETWORK, 'block')) !== node.head + 1) await pause(200)
  while ((await ready()).includes('cluster_lost')) await pause(200)
})
