import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sameAnswer, sameNumbers } from '../../scripts/clients/compare.ts'
import { RECORDINGS, readRecordings } from '../../scripts/clients/recordings.ts'
import { replayBodies, replayClients, replayPanels, type Server } from '../../scripts/clients/replay.ts'
import { startDemo, startDemoInCluster, summary } from '../../scripts/clients/run.ts'
import { OPENSEARCH_URL, withoutCluster } from '../support/cluster-fill.ts'

/** Of the calls of each client that Elasticsearch answers, so many are accepted here at least. */
const LEAST: Record<string, number> = {
  ...{ es7: 65, es713: 65, es8: 65, es9: 65, os2: 64, os3: 65, eslegacy: 44 },
  ...{ 'py-es7': 46, 'py-es8': 44, 'py-es9': 43, 'py-os': 44 },
  ...{ 'java-hlrc': 23, 'elasticsearch-java': 22, 'opensearch-java': 20, 'go-olivere': 26, go: 15 },
  ...{ eland: 13, elasticdump: 4, 'elasticsearch-dbapi': 1, bodies: 105, grafana: 18, 'opensearch-dashboards': 2 },
}

/** Of these a network in a cluster refuses two, and orders terms by estimates. */
const LEAST_IN_CLUSTER: Record<string, number> = { ...LEAST, bodies: 103, grafana: 16 }
/** A cluster estimates percentiles, each time otherwise. */
const ESTIMATED = /percentile/

const recordings = readRecordings()
const withoutRecordings = recordings ? false : `there are no recordings at ${RECORDINGS}`

test(
  'what unmodified clients send is answered as Elasticsearch 7.17 does',
  {
    skip: withoutRecordings,
  },
  async t => check(await startDemo(t), LEAST),
)

test('the same where documents lie in a cluster', { skip: withoutRecordings || withoutCluster }, async t =>
  check(await startDemoInCluster(t, OPENSEARCH_URL!), LEAST_IN_CLUSTER, ESTIMATED),
)

const check = async (server: Server, least: Record<string, number>, accepted?: RegExp) => {
  const outcomes = [
    ...(await replayClients(server, recordings!)),
    ...(await replayBodies(server, recordings!)),
    ...(await replayPanels(server, recordings!)),
  ].map(it => (it.fault !== undefined && accepted?.test(it.fault) ? { ...it, fault: undefined } : it))
  const rows = summary(outcomes)
  assert.deepEqual([...rows.keys()].sort(), Object.keys(LEAST).sort())
  for (const [client, { here }] of rows) {
    const faults = outcomes.filter(it => it.client === client && it.fault).map(it => `${it.call}: ${it.fault}`)
    assert.ok(here >= least[client]!, `${client}: ${here} of at least ${least[client]}\n${faults.join('\n')}`)
  }
}

test('what differs is seen', () => {
  const hits = (total: number, ...ids: string[]) => ({
    hits: { total: { value: total, relation: 'eq' }, hits: ids.map(_id => ({ _id })) },
  })
  assert.equal(sameAnswer({}, hits(2, 'a', 'b'), hits(2, 'b', 'a')), undefined)
  assert.equal(sameAnswer({}, hits(2, 'a', 'b'), hits(2, 'a', 'c')), 'hits: other ids')
  const sorted = (...hits: [id: string, ...sort: number[]][]) => ({
    hits: { total: 9, hits: hits.map(([_id, ...sort]) => ({ _id, sort })) },
  })
  const body = { sort: ['n'] }
  const page = sorted(['a', 1], ['b', 2], ['c', 2], ['d', 3])
  assert.equal(sameAnswer(body, page, sorted(['a', 1], ['c', 2], ['b', 2], ['e', 3])), undefined)
  assert.equal(sameAnswer(body, page, sorted(['a', 1], ['b', 2], ['d', 2], ['e', 3])), 'hits: other ids')
  const inside = (...ids: string[]) => ({
    aggregations: { a: { hits: { total: 2, hits: ids.map(_id => ({ _id })) } } },
  })
  assert.equal(sameAnswer({}, inside('a', 'b'), inside('b', 'a')), undefined)
  assert.match(sameAnswer({}, inside('a', 'b'), inside('a', 'c'))!, /other ids/)
  assert.equal(sameAnswer({}, inside('a'), inside('b')), undefined)
  const range = (from: number) => ({ aggregations: { a: { buckets: [{ from, doc_count: 1 }] } } })
  assert.match(sameAnswer({}, range(1), range(2))!, /from/)
  assert.equal(sameAnswer({ from: 'now-1d' } as object, range(1), range(2)), undefined)
  assert.match(sameAnswer({}, hits(2, 'a'), hits(3, 'a'))!, /^hits\.total/)
  assert.equal(sameNumbers({ a: [1, 2] }, { a: [1, 2.0000000001] }, ''), undefined)
  assert.match(sameNumbers({ a: [1, 2] }, { a: [1, 2.1] }, '')!, /^\.a\[1\]: 2, here 2.1/)
  assert.match(sameNumbers({ a: 1 }, { a: 1, b: 1 }, '')!, /not in the reference/)
  assert.equal(sameNumbers({ values: { '50.0': 100 } }, { values: { '50.0': 101 } }, ''), undefined)
})
