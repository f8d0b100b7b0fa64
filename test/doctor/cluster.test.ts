import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { DEFAULT_CLUSTER } from '../../src/cluster/connection/cluster.ts'
import { indexBody } from '../../src/cluster/indices/template.ts'
import { checkClusters } from '../../src/doctor/store.ts'
import { configOf, linesOf, type Test } from './support.ts'

const NETWORK = 'a/b/c'

/** Answers each path with JSON, or a status. */
const startCluster = async (t: Test, answers: Record<string, object | number>): Promise<string> => {
  const server = createServer((request, response) => {
    const answer = answers[request.url!.split('?')[0]!] ?? {}
    response.writeHead(typeof answer === 'number' ? answer : 200, { 'content-type': 'application/json' })
    response.end(typeof answer === 'number' ? '{}' : JSON.stringify(answer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
const diagnose = (url: string) =>
  linesOf(checkClusters(configOf({ network: NETWORK, store: 'opensearch', opensearchUrl: [url] })))

const health = { status: 'green', number_of_nodes: 3, unassigned_shards: 0, number_of_pending_tasks: 0 }
const version = { version: { distribution: 'opensearch', number: '3.3.2' } }

test('a cluster that is well is told so, and a network without one is not looked at', async t => {
  const url = await startCluster(t, { '/': version, '/_cluster/health/chainsieve-a-b-c-*': health })
  assert.deepEqual(await diagnose(url), [
    'ok cluster: runs OpenSearch 3.3.2',
    'warn cluster: cannot restore its indices from snapshots, since they are sorted',
    'ok cluster: is green, with 3 nodes and 0 unassigned shards',
    'ok cluster: its indices are as they must be, or are not created yet',
  ])
  assert.deepEqual(await linesOf(checkClusters(configOf({ network: NETWORK }))), [])
})

test('what is wrong with one is told', async t => {
  const name = 'chainsieve-a-b-c-tx-000000'
  const index = structuredClone(indexBody('tx', NETWORK, { ...DEFAULT_CLUSTER, urls: [], blocksPerIndex: 7 }))
  const url = await startCluster(t, {
    '/': { version: { number: '8.1.0' } },
    '/_cluster/health/chainsieve-a-b-c-*': { ...health, status: 'red', unassigned_shards: 1, number_of_nodes: 1 },
    '/_nodes/stats/fs,thread_pool': {
      nodes: { a: { fs: { total: { total_in_bytes: 100, available_in_bytes: 1 } } } },
    },
    '/chainsieve-a-b-c-*': {
      [name]: {
        ...index,
        aliases: {},
        settings: {
          'index.number_of_replicas': '1',
          'index.sort.field': 'chainsieve.position',
          'index.sort.order': 'desc',
          'index.analysis.normalizer.lower_case.filter': ['lowercase'],
        },
      },
    },
  })
  assert.deepEqual(await diagnose(url), [
    'warn cluster: runs Elasticsearch 8.1.0: Chainsieve was tried with OpenSearch 2.11, OpenSearch 2.19, OpenSearch 3.3, OpenSearch 3.4, Elasticsearch 7.17, Elasticsearch 8.19',
    'fail cluster: is red, with 1 node and 1 unassigned shard',
    'fail cluster: has a node whose disk is so full that nothing is written',
    `fail cluster: its indices are not as they must be: opensearch-blocks (_meta.blocksPerIndex) is 7, not 1000000 (${name})`,
  ])
  const old = await startCluster(t, { '/': { version: { number: '6.8.0' } } })
  assert.deepEqual(await diagnose(old), [
    'fail cluster: the cluster runs Elasticsearch 6.8.0: upgrade it to Elasticsearch 8',
  ])
  const closed = await startCluster(t, { '/': 401 })
  assert.match(
    (await diagnose(closed))[0]!,
    /^fail cluster: the cluster cannot report its version .* check opensearch-user/,
  )
  assert.match(
    (await diagnose('http://127.0.0.1:1'))[0]!,
    /^fail cluster: the cluster http:\/\/127.0.0.1:1 does not answer/,
  )
})
