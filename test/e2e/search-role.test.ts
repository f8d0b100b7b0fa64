import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { connect, DEFAULT_CLUSTER } from '../../src/cluster/connection/cluster.ts'
import { startNode } from '../support/node.ts'
import { runOpenSearch, withoutOpenSearch } from '../support/real-opensearch.ts'
import { random, serveLogs, unevenChain } from '../support/scoped.ts'
import { after, chainsieve, pause, type Server, serve, succeed } from './program.ts'

const NETWORK = 'ethereum/demo/mainnet'
const PACK = fileURLToPath(new URL('../../data/demo.ndjson.gz', import.meta.url))

test('a server that only searches says what it needs', async t => {
  const data = folderOf(t)
  const none = await chainsieve(t, ['serve', '--role', 'search'], { data })
  assert.match(none.err, /--role search: which network\? Add --network T\/B\/N/)
  const bare = await chainsieve(t, ['serve', '--role', 'search', '--network', NETWORK], { data })
  assert.match(bare.err, /ethereum\/demo\/mainnet has none: add --store opensearch and --opensearch-url URL/)
  assert.deepEqual([none.code, bare.code], [2, 2])
})

test('a server that only searches answers as the one that indexes', { skip: withoutOpenSearch }, async t => {
  const cluster = await runOpenSearch()
  after(t, cluster.stop)
  const prefix = `role-${randomBytes(6).toString('hex')}`
  after(t, () => removeIndices(cluster.url, prefix))
  const place = ['--network', NETWORK, '--store', 'opensearch', '--opensearch-url', cluster.url]
  const args = [...place, '--opensearch-prefix', prefix, '--opensearch-replicas', '0']
  const [data, other] = [folderOf(t), folderOf(t)]
  await succeed(t, ['import', ...args, PACK], { data })
  const indexing = await serve(t, data, args)
  const searching = await serve(t, other, [...args, '--role', 'search'])
  const requests: [string, object][] = [
    ['tx', { size: 3, sort: { 'value.coin': 'desc' }, aggs: { by: { terms: { field: 'method' } } } }],
    ['event', { size: -1, query: { term: { 'event.raw': 'Transfer' } }, _source: ['event', 'args'] }],
    ['block,log', { from: 5, size: 5, query: { range: { timestamp: { gte: 0 } } } }],
  ]
  for (const [kinds, body] of requests) {
    const [there, here] = [indexing, searching].map(server => server.ask(`/${NETWORK}/es/${kinds}/search/`, body))
    assert.deepEqual({ ...((await here)!.body as object), took: 0 }, { ...((await there)!.body as object), took: 0 })
  }
  // They share the key by which ids of cursors are signed.
  type Page = { _scroll_id: string; hits: { total: { value: number }; hits: { _id: string }[] } }
  const first = await indexing.ask<Page>(`/${NETWORK}/es/block/_search?scroll=1m`, { size: 400 })
  const scroll_id = first.body._scroll_id
  const second = await searching.ask<Page>(`/${NETWORK}/es/_search/scroll`, { scroll_id, scroll: '1m' })
  const pages = [first, second].flatMap(({ body }) => body.hits.hits.map(({ _id }) => _id))
  assert.deepEqual([pages.length, new Set(pages).size], [421, 421])
  const { status, body } = await searching.ask<{ error: { reason: string } }>(`/${NETWORK}/es/suggest/?q=tok`)
  assert.equal(status, 400)
  assert.match(JSON.stringify(body), /ask the server that indexes ethereum\/demo\/mainnet/)
  assert.deepEqual((await searching.status()).networks[0]!.ranges, [{ from: 0, to: 420 }])
  assert.equal((await searching.ask('/alerting/rules/')).status, 404)
})

test('it tells what scopes cover, and follows it where nothing is found', { skip: withoutOpenSearch }, async t => {
  const cluster = await runOpenSearch()
  after(t, cluster.stop)
  const prefix = `role-${randomBytes(6).toString('hex')}`
  after(t, () => removeIndices(cluster.url, prefix))
  const chain = unevenChain(60, random(5), 0)
  const node = await startNode({ after: fn => after(t, fn) }, chain)
  serveLogs(node)
  const last = Number(chain.at(-1)!.block.number)
  node.head = last - 10
  const [contract] = chain.flatMap(({ receipts }) => receipts.flatMap(({ logs }) => logs.map(({ address }) => address)))
  const place = ['--network', NETWORK, '--store', 'opensearch', '--opensearch-url', cluster.url]
  const args = [...place, '--opensearch-prefix', prefix, '--opensearch-replicas', '0']
  const scoped = [...args, '--rpc', node.url, '--contract', contract!, '--from', '0', '--poll-interval', '50ms']
  const indexing = await serve(t, folderOf(t), scoped)
  const searching = await serve(t, folderOf(t), [...args, '--role', 'search'])
  const kinds = ['block', 'tx', 'log', 'event']
  const shown = async (server: Server) => {
    const answers = kinds.map(async kind => {
      const response = await server.send(`/${NETWORK}/es/${kind}/search/`, { size: 100 })
      const body = (await response.json()) as { hits: { total: number } }
      return [response.headers.get('chainsieve-coverage'), { ...body, took: 0 }] as const
    })
    const { ranges, coverage } = (await server.status()).networks[0]!
    return { answers: await Promise.all(answers), ranges, coverage }
  }
  const isLookedAt = async (server: Server, to: number) => {
    const end = async () => (await server.status()).networks[0]!.coverage?.[0]?.ranges.at(-1)?.to
    while ((await end()) !== to) await pause(200)
  }
  for (const head of [last - 10, last - 9, last]) {
    node.head = head
    await isLookedAt(indexing, head)
    while ((await indexing.status()).networks[0]!.shipping?.blocksLeft !== 0) await pause(200)
    await isLookedAt(searching, head)
    // What was written last may be told a moment later, by both.
    let expected = await shown(indexing)
    const total = () => expected.answers[2]![1].hits.total
    while (total() === 0 || JSON.stringify(await shown(searching)) !== JSON.stringify(expected)) {
      await pause(200)
      expected = await shown(indexing)
    }
    assert.equal(expected.answers[0]![0], `partial; whole=none; filters=1; looked=0-${head}`)
  }
})

const folderOf = (t: Parameters<typeof after>[0]): string => {
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-role-'))
  after(t, () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const removeIndices = async (url: string, prefix: string) => {
  const cluster = connect({ ...DEFAULT_CLUSTER, urls: [url], prefix })
  for (const path of [`/${prefix}-*`, `/_index_template/${prefix}-*`]) await cluster.ask({ method: 'DELETE', path })
  await cluster.close()
}
