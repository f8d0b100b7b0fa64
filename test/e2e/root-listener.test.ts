import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from '@opensearch-project/opensearch'
import { after, chainsieve, connect, start, tempFolder, tokenOf, untilIs } from './program.ts'

const NETWORK = 'ethereum/demo/local'

/** A client that drops the path of its URL finds the network at the root of a listener. */
test('one network at the root, and paths without a network', async t => {
  const data = tempFolder(t)
  const program = start(t, ['serve', '--port', '0', '--es-listen', `127.0.0.1:0=${NETWORK}`], { data })
  const [, root = ''] = await program.says(/Serves a network at the root +url=(\S+)/)
  const server = await connect(program, tokenOf(data))
  await untilIs(() => server.total(NETWORK, 'block'), 421)

  const client = new Client({ node: root, auth: { username: 'any', password: server.token } })
  after(t, () => client.close())
  assert.match((await client.info()).body.version.number, /^7\./)
  assert.equal((await client.count({ index: 'block' })).body.count, 421)
  const histogram = { field: 'timestamp', calendar_interval: 'year', format: 'yyyy-MM-dd hh:mm:ss a' } as const
  const found = await client.search({ index: 'tx', body: { size: 0, aggs: { years: { date_histogram: histogram } } } })
  const { buckets } = found.body.aggregations!.years as { buckets: { key_as_string: string; doc_count: number }[] }
  assert.match(buckets[0]!.key_as_string, /^\d{4}-01-01 12:00:00 AM$/)
  const refused = new Client({ node: root, auth: { username: 'any', password: 'cs_wrong' } })
  after(t, () => refused.close())
  await assert.rejects(refused.info(), { statusCode: 401 })

  for (const path of ['/es/block/search', '/demo/local/es/block/search/', '/demo/es/block/_count', '/local/gasprice'])
    assert.equal((await server.ask(path)).status, 200, path)
  const unknown = await server.ask<{ error: { reason: string } }>('/poa/xdai/es/block/search')
  assert.equal(unknown.status, 404)
  assert.match(unknown.body.error.reason, /no network is called \[poa\/xdai\].*ethereum\/demo\/local/)
})

test('an address that cannot be listened on is refused by its setting', async t => {
  const data = tempFolder(t)
  const bad = await chainsieve(t, ['serve', '--port', '0', '--es-listen', '127.0.0.1=demo'], { data })
  assert.equal(bad.code, 2)
  assert.match(bad.err, /--es-listen takes an address, a port and a network, such as 127\.0\.0\.1:9200=/)
  const elsewhere = await chainsieve(t, ['serve', '--port', '0', '--es-listen', `192.0.2.1:0=${NETWORK}`], { data })
  assert.equal(elsewhere.code, 1)
  assert.match(elsewhere.err, /192\.0\.2\.1 is not an address of this machine: choose another with --es-listen/)
})
