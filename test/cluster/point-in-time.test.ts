import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterRequest } from '../../src/cluster/connection/cluster.ts'
import { closePoint, openPoint } from '../../src/cluster/pages.ts'
import { createQueryClient } from '../../src/cluster/query-client.ts'

const options = { deadline: Number.POSITIVE_INFINITY }

/** What a program of this kind was asked until a point in time was opened and closed. */
const askedOf = async (program: 'OpenSearch' | 'Elasticsearch', unknown = 'no handler found for uri [/x]') => {
  const asked: string[] = []
  const isKnown = (path: string) => path.endsWith('/_pit') === (program === 'Elasticsearch')
  const cluster = {
    async ask({ method, path, query, body }: ClusterRequest) {
      asked.push(`${method} ${path} ${JSON.stringify(query ?? body)}`)
      const no = { status: 400, text: JSON.stringify({ error: unknown }) }
      return isKnown(path) ? { status: 200, text: '{"pit_id":"p","id":"p"}' } : no
    },
    close: async () => {},
  }
  const asker = createQueryClient({ cluster, naming: { prefix: 'x', blocksPerIndex: 1 }, network: 'a/b/c' })
  const point = await openPoint(asker, ['tx', 'log'], options)
  assert.equal(point.id, 'p')
  closePoint(asker, point)
  return asked
}

test('a point in time is asked for as the program of the cluster has it', async () => {
  const query = '{"keep_alive":"2m","ignore_unavailable":true}'
  assert.deepEqual(await askedOf('OpenSearch'), [
    `POST /x-a-b-c-tx,x-a-b-c-log/_search/point_in_time ${query}`,
    'DELETE /_search/point_in_time {"pit_id":["p"]}',
  ])
  for (const unknown of [undefined, 'request body is required'])
    assert.deepEqual(await askedOf('Elasticsearch', unknown), [
      `POST /x-a-b-c-tx,x-a-b-c-log/_search/point_in_time ${query}`,
      `POST /x-a-b-c-tx,x-a-b-c-log/_pit ${query}`,
      'DELETE /_pit {"id":"p"}',
    ])
})

test('what else is answered stays as it is', async () => {
  const cluster = { ask: async () => ({ status: 404, text: '{"error":"gone"}' }), close: async () => {} }
  const asker = createQueryClient({ cluster, naming: { prefix: 'x', blocksPerIndex: 1 }, network: 'a/b/c' })
  await assert.rejects(openPoint(asker, ['tx'], options), { code: 'cluster_unavailable' })
})
