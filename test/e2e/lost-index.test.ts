import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect } from '../../src/cluster/client.ts'
import { DEFAULT_CLUSTER } from '../../src/cluster/options.ts'
import { startNode } from '../support/node.ts'
import { runOpenSearch, withoutOpenSearch } from '../support/real-opensearch.ts'
import { demoBlocks } from '../support/store.ts'
import { after, pause, type SearchAnswer, serve, succeed, tempFolder } from './program.ts'

const NETWORK = 'ethereum/made-up/mainnet'
const HEAD = 380
/** Of blocks whose documents have left the file. */
const [FROM, TO] = [20, 109]
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
  node.head = HEAD + 10
  while ((await server.total(NETWORK, 'block')) !== node.head + 1) await pause(200)

  await succeed(t, ['prune', ...place, '--lost'], { data })
  while ((await logs()) !== whole) await pause(200)
  while ((await server.total(NETWORK, 'block')) !== node.head + 1) await pause(200)
  while ((await ready()).includes('cluster_lost')) await pause(200)
})
