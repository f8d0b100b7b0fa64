import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect, DEFAULT_CLUSTER } from '../../src/cluster/connection/cluster.ts'
import { startNode } from '../support/node.ts'
import { runOpenSearch, withoutOpenSearch } from '../support/real-opensearch.ts'
import { demoBlocks } from '../support/store.ts'
import { after, chainsieve, type Server, serve, succeed, tempFolder, until, untilIs, writePack } from './program.ts'

const NETWORK = 'ethereum/made-up/mainnet'
const FIRST = 380

test('documents come back from a cluster and go there again beside a server that follows the head', {
  skip: withoutOpenSearch,
}, async t => {
  const { url, stop } = await runOpenSearch()
  after(t, stop)
  const prefix = `move-${randomBytes(6).toString('hex')}`
  after(t, () => removeIndices(url, prefix))
  const blocks = demoBlocks()
  const node = await startNode({ after: fn => after(t, fn) }, blocks)
  node.head = FIRST - 1
  const folder = tempFolder(t)
  const data = join(folder, 'data')
  const cluster = ['--opensearch-url', url, '--opensearch-prefix', prefix, '--opensearch-replicas', '0']
  const place = (store: string) => ['--network', NETWORK, '--store', store, ...cluster]
  const pack = writePack(join(folder, 'pack.ndjson'), blocks.slice(0, FIRST))
  await succeed(t, ['import', ...place('opensearch'), '--store-batch', '40', pack], { data })

  const alone = await chainsieve(t, ['move', '--network', NETWORK, '--to', 'sqlite'], { data })
  assert.match(alone.err, /the cluster alone has documents of \S+: name the config file/)
  assert.equal(alone.code, 1)

  /** Searches again and again while the documents move; the head goes on meanwhile. */
  const moving = async (store: 'sqlite' | 'opensearch', head: number) => {
    const server = await serve(t, data, [...place(store), '--rpc', node.url])
    const expected = await answersOf(server)
    const move = chainsieve(t, ['move', ...place(store), '--to', store], { data })
    node.head = head
    let asked = 0
    let isMoved = false
    void move.then(() => {
      isMoved = true
    })
    for (; !isMoved; asked++) assert.deepEqual(await answersOf(server), expected)
    const { code, out, err } = await move
    assert.equal(code, 0, err)
    assert.match(out, store === 'sqlite' ? /: searches ask the file\./ : /: searches ask the cluster\./)
    assert.deepEqual(await answersOf(server), expected)
    await untilIs(() => server.total(NETWORK, 'block'), head + 1, server.err)
    // The threads report it a moment later.
    const status = await until(
      async () => (await server.status()).networks[0]!,
      ({ moving }) => moving === undefined,
    )
    assert.equal(status.shipping?.trouble ?? null, null)
    assert.ok(store === 'sqlite' || status.cluster?.indices.startsWith(prefix))
    server.signal('SIGTERM')
    await server.ended
    assert.ok(asked > 0)
    return expected
  }

  const back = await moving('sqlite', 400)
  assert.deepEqual(await moving('opensearch', 420), back)
})

/** Of blocks that do not change. */
const answersOf = async (server: Server) => {
  const query = { range: { 'blockNumber.num': { lt: FIRST } } }
  const bodies: [string, object][] = [
    ['tx', { query, size: 3, sort: { 'value.coin': 'desc' }, aggs: { by: { terms: { field: 'method' } } } }],
    ['event', { query, size: -1, _source: ['event', 'args', 'str'] }],
    ['log,call', { query, size: 20, from: 30 }],
  ]
  return Promise.all(bodies.map(async ([kinds, body]) => ({ ...(await server.search(NETWORK, kinds, body)), took: 0 })))
}

const removeIndices = async (url: string, prefix: string) => {
  const cluster = connect({ ...DEFAULT_CLUSTER, urls: [url], prefix })
  for (const path of [`/${prefix}-*`, `/_index_template/${prefix}-*`]) await cluster.ask({ method: 'DELETE', path })
  await cluster.close()
}
