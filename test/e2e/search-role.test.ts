import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { connect } from '../../src/cluster/client.ts'
import { DEFAULT_CLUSTER } from '../../src/cluster/options.ts'
import { runOpenSearch, withoutOpenSearch } from '../support/real-opensearch.ts'
import { after, chainsieve, serve, succeed } from './program.ts'

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
    ['event', { size: -1, query: { term: { event: 'Transfer' } }, _source: ['event', 'args'] }],
    ['block,log', { from: 5, size: 5, query: { range: { timestamp: { gte: 0 } } } }],
  ]
  for (const [kinds, body] of requests) {
    const [there, here] = [indexing, searching].map(server => server.ask(`/${NETWORK}/es/${kinds}/search/`, body))
    assert.deepEqual({ ...((await here)!.body as object), took: 0 }, { ...((await there)!.body as object), took: 0 })
  }
  const { status, body } = await searching.ask<{ error: { reason: string } }>(`/${NETWORK}/es/suggest/?q=tok`)
  assert.equal(status, 400)
  assert.match(JSON.stringify(body), /ask the server that indexes ethereum\/demo\/mainnet/)
  assert.deepEqual((await searching.status()).networks[0]!.ranges, [{ from: 0, to: 420 }])
  assert.equal((await searching.ask('/alerting/rules/')).status, 404)
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
