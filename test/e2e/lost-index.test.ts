import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect } from '../../src/cluster/client.ts'
import { DEFAULT_CLUSTER } from '../../src/cluster/options.ts'
import { startNode } from '../support/node.ts'
import { runOpenSearch, withoutOpenSearch } from '../support/real-opensearch.ts'
import { demoBlocks } from '../support/store.ts'
import { after, type SearchAnswer, type Server, serve, succeed, tempFolder, until } from './program.ts'

const NETWORK = 'ethereum/made-up/mainnet'
const HEAD = 380

test('a server starts without an index of the cluster, and has it back by a copy or by the chain', {
  skip: withoutOpenSearch,
}, async t => {
  const { url, stop } = await runOpenSearch()
  after(t, stop)
  const prefix = `lost-${randomBytes(6).toString('hex')}`
  const cluster = connect({ ...DEFAULT_CLUSTER, urls: [url], prefix })
  const ask = async (method: 'PUT' | 'POST' | 'DELETE', path: string, body?: object) => {
    const { status, text } = await cluster.ask({ method, path, ...(body && { body }) })
    assert.ok(status < 300, text)
  }
  after(t, async () => {
    for (const path of [`/${prefix}-*`, `/_index_template/${prefix}-*`]) await cluster.ask({ method: 'DELETE', path })
    await cluster.close()
  })
  const node = await startNode({ after: fn => after(t, fn) }, demoBlocks())
  node.head = HEAD
  const data = join(tempFolder(t), 'data')
  const store = ['--store', 'opensearch', '--opensearch-url', url, '--opensearch-prefix', prefix]
  const place = ['--network', NETWORK, ...store, '--opensearch-replicas', '0', '--opensearch-blocks', '50']
  const args = [...place, '--rpc', node.url]
  await succeed(t, ['index', ...args, '--from', '0', '--to', `${HEAD}`, '--store-batch', '20'], { data })

  const begin = () => serve(t, data, [...args, '--from', '0'])
  const end = async (server: Server) => {
    server.signal('SIGTERM')
    await server.ended
  }
  const first = await begin()
  const whole = { ...(await first.search(NETWORK, 'log', OLD)), took: 0 }
  const txs = await first.total(NETWORK, 'tx', OLD.query)
  await end(first)
  const [index, copy] = [`${prefix}-ethereum-made-up-mainnet-log-000001`, `${prefix}-copy`]
  const copyTo = async (from: string, to: string, aliases: object) => {
    await ask('PUT', `/${from}/_settings`, { 'index.blocks.write': true })
    await ask('PUT', `/${from}/_clone/${to}`, { settings: { 'index.blocks.write': null }, aliases })
  }
  await copyTo(index, copy, {})
  await ask('DELETE', `/${index}`)

  const searchLogs = async (server: Server) => {
    const { status, body } = await server.ask<SearchAnswer & { error?: { reason: string } }>(
      `/${NETWORK}/es/log/search/`,
      OLD,
    )
    return status === 200 ? { ...body, took: 0 } : `${status} ${body.error?.reason}`
  }
  const ready = async (server: Server) => {
    const { reasons } = (await server.ask<{ reasons?: { type: string }[] }>('/ready')).body
    return (reasons ?? []).map(({ type }) => type)
  }
  const isLost = async (server: Server) => {
    const reason = new RegExp(`^503 .*${index}.*blocks 50 to 99.*chainsieve prune --lost`)
    // An answer may be kept for some seconds.
    await until(
      () => searchLogs(server),
      answer => typeof answer === 'string' && reason.test(answer),
      server.err,
    )
    assert.equal(await server.total(NETWORK, 'tx', OLD.query), txs)
    await until(
      () => ready(server),
      reasons => reasons.includes('cluster_lost'),
      server.err,
    )
  }

  // It starts, follows the head, and finds out by itself that the index is back.
  const server = await begin()
  await isLost(server)
  node.head = HEAD + 10
  const total = () => server.total(NETWORK, 'block')
  await until(total, total => total === node.head + 1, server.err)
  await copyTo(copy, index, { [index.slice(0, -7)]: {} })
  const isWhole = async (server: Server) => {
    await until(
      () => searchLogs(server),
      answer => typeof answer === 'object' && answer.hits.total === whole.hits.total,
      server.err,
    )
    assert.deepEqual(await searchLogs(server), whole)
    await until(
      () => ready(server),
      reasons => !reasons.includes('cluster_lost'),
      server.err,
    )
  }
  await isWhole(server)

  await ask('DELETE', `/${index}`)
  await isLost(server)
  await succeed(t, ['prune', ...place, '--lost'], { data })
  await isWhole(server)
  assert.equal(await total(), node.head + 1)
  await end(server)

  // Without a server, the command does it.
  await ask('DELETE', `/${index}`)
  assert.match(await succeed(t, ['prune', ...place, '--lost'], { data }), /: removed \d+-\d+ \(\d+ blocks\)\. A server/)
  assert.match(
    await succeed(t, ['prune', ...place, '--lost'], { data }),
    /the file has all that the cluster lost, if any/,
  )
  await succeed(t, ['index', ...args, '--from', '0', '--to', `${HEAD}`], { data })
  await isWhole(await begin())
})

/** Of blocks whose documents have left the file. */
const OLD = { query: { range: { 'blockNumber.num': { gte: 20, lt: 110 } } }, size: 500, sort: ['_doc'] }
