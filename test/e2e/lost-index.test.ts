import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect } from '../../src/cluster/client.ts'
import { DEFAULT_CLUSTER } from '../../src/cluster/options.ts'
import { startNode } from '../support/node.ts'
import { runOpenSearch, withoutOpenSearch } from '../support/real-opensearch.ts'
import { demoBlocks } from '../support/store.ts'
import { after, type Server, serve, succeed, tempFolder, until } from './program.ts'

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
  const place = ['--network', NETWORK, '--store', 'opensearch', '--opensearch-url', url, '--opensearch-prefix', prefix]
  const args = [...place, '--opensearch-replicas', '0', '--opensearch-blocks', '50', '--rpc', node.url]
  await succeed(t, ['index', ...args, '--from', '0', '--to', `${HEAD}`, '--store-batch', '20'], { data })

  const begin = () => serve(t, data, [...args, '--from', '0'])
  const end = async (server: Server) => {
    server.signal('SIGTERM')
    await server.ended
  }
  const expected = await (async () => {
    const server = await begin()
    const answer = await server.search(NETWORK, 'log', OLD)
    await end(server)
    return answer
  })()
  const [index, copy] = [`${prefix}-ethereum-made-up-mainnet-log-000001`, `${prefix}-copy`]
  const copyTo = async (from: string, to: string, aliases: object) => {
    await ask('PUT', `/${from}/_settings`, { 'index.blocks.write': true })
    await ask('PUT', `/${from}/_clone/${to}`, { settings: { 'index.blocks.write': null }, aliases })
  }
  await copyTo(index, copy, {})
  await ask('DELETE', `/${index}`)

  const searchLogs = async (server: Server) => {
    const { status, body } = await server.ask<{ error?: { reason: string } }>(`/${NETWORK}/es/log/search/`, OLD)
    return status === 200 ? { ...body, took: 0 } : `${status} ${body.error?.reason}`
  }
  const ready = async (server: Server) => {
    const { reasons } = (await server.ask<{ reasons?: { type: string }[] }>('/ready')).body
    return (reasons ?? []).map(({ type }) => type)
  }
  const isLost = async (server: Server) => {
    const answer = await searchLogs(server)
    assert.match(String(answer), new RegExp(`^503 .*${index}.*blocks 50 to 99.*chainsieve prune --lost`))
    assert.equal(await server.total(NETWORK, 'tx', OLD.query), expected.hits.total > 0 ? await txs(server) : 0)
    await until(
      () => ready(server),
      reasons => reasons.includes('cluster_lost'),
      server.err,
    )
  }
  const txs = (server: Server) => server.total(NETWORK, 'tx', OLD.query)

  const server = await begin()
  await isLost(server)
  node.head = HEAD + 10
  const top = (server: Server) => server.total(NETWORK, 'block')
  await until(
    () => top(server),
    total => total === node.head + 1,
    server.err,
  )
  await copyTo(copy, index, { [index.slice(0, -7)]: {} })
  const whole = { ...expected, took: 0 }
  await until(
    () => searchLogs(server),
    answer => typeof answer === 'object',
    server.err,
  )
  assert.deepEqual(await searchLogs(server), whole)
  await until(
    () => ready(server),
    reasons => !reasons.includes('cluster_lost'),
    server.err,
  )
  await end(server)

  await ask('DELETE', `/${index}`)
  const again = await begin()
  await isLost(again)
  assert.match(await succeed(t, ['prune', ...args, '--lost'], { data }), /removed|in the background/)
  await until(
    () => searchLogs(again),
    answer => JSON.stringify(answer) === JSON.stringify(whole),
    again.err,
  )
  assert.equal(await top(again), node.head + 1)
  await until(
    () => ready(again),
    reasons => !reasons.includes('cluster_lost'),
    again.err,
  )
  await end(again)

  // Without a server, the command does it, and what is missing is indexed as any other.
  await ask('DELETE', `/${index}`)
  assert.match(await succeed(t, ['prune', ...args, '--lost'], { data }), /: removed \d+-\d+ \(\d+ blocks\)\. A server/)
  assert.match(
    await succeed(t, ['prune', ...args, '--lost'], { data }),
    /the file has all that the cluster lost, if any/,
  )
  await succeed(t, ['index', ...args, '--from', '0', '--to', `${HEAD}`], { data })
  const last = await begin()
  assert.deepEqual(await searchLogs(last), whole)
})

/** Of blocks whose documents have left the file. */
const OLD = { query: { range: { 'blockNumber.num': { gte: 20, lt: 110 } } }, size: 500, sort: ['_doc'] }
