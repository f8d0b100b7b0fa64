import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cluster } from '../../src/cluster/connection/cluster.ts'
import { guardMissingIndices } from '../../src/cluster/indices/lost-indices.ts'
import { aliasOf, indexNameOf } from '../../src/cluster/indices/names.ts'
import { KINDS } from '../../src/mapping/index.ts'

const NETWORK = 'a/b/c'
const naming = { prefix: 'p', blocksPerIndex: 100 }
const indices = KINDS.flatMap(kind => [0, 100].map(block => indexNameOf(naming, NETWORK, kind, block)))
const log = aliasOf(naming, NETWORK, 'log')

/** A cluster that tells of indices of two shards each. */
const fake = (between = '') => {
  const there = new Map([...new Set(indices)].map(index => [index, index.slice(0, index.lastIndexOf('-'))]))
  let looks = 0
  const cluster: Cluster = {
    async ask({ method, path, query }) {
      if (method === 'GET') {
        looks++
        const told = Array.from(there, ([index, alias]) => [
          index,
          { aliases: { [alias]: {} }, settings: { index: { number_of_shards: '2' } } },
        ])
        return { status: 200, text: JSON.stringify(Object.fromEntries(told)) }
      }
      const aliases = path.split('/')[1]!.split(',')
      const total = 2 * [...there.values()].filter(alias => aliases.includes(alias)).length
      const shards = `"_shards":{"total":${total},"successful":${total},"skipped":0,"failed":0}`
      if (query?.id) return { status: 200, text: query.isSilent ? `{${query.id}}` : `{${query.id},${shards}}` }
      return { status: 200, text: `{"took":1,"timed_out":false,${between}${shards},"hits":{}}` }
    },
    close: async () => {},
  }
  const visible = () => ({ hidden: [], ranges: [{ from: 0, to: 150 }] })
  const guard = guardMissingIndices({ cluster, naming, network: NETWORK, visible })
  const search = (aliases: string) => guard.ask({ method: 'POST', path: `/${aliases}/_search` })
  const open = (path: string, id: string, isSilent: boolean) =>
    guard.ask({ method: 'POST', path, query: { id, isSilent } })
  return { there, search, open, looks: () => looks }
}

test('a search that asks fewer shards than there were is looked into', async () => {
  for (const between of ['', '"terminated_early":true,"num_reduce_phases":3,']) {
    const { there, search, looks } = fake(between)
    for (let i = 0; i < 3; i++) await search(log)
    assert.equal(looks(), 1)
    const index = indexNameOf(naming, NETWORK, 'log', 0)
    there.delete(index)
    const refused = {
      code: 'cluster_unavailable',
      message: /index p-a-b-c-log-000000, which holds documents of blocks 0 to 99, is gone/,
    }
    await assert.rejects(search(log), refused)
    await assert.rejects(search(`${aliasOf(naming, NETWORK, 'tx')},${log}`), refused)
    await search(aliasOf(naming, NETWORK, 'tx'))
    there.set(index, log)
    await search(log)
  }
})

test('a point in time is looked into as a search is, also where it does not tell its shards', async () => {
  const index = indexNameOf(naming, NETWORK, 'log', 0)
  for (const [path, id, isSilent] of [
    ['_search/point_in_time', '"pit_id":"x"', false],
    ['_pit', '"id":"x"', false],
    ['_pit', '"id":"x"', true],
  ] as const) {
    const { there, open, looks } = fake()
    assert.equal((await open(`/${log}/${path}`, id, isSilent)).status, 200)
    assert.equal(looks(), 1)
    there.delete(index)
    await assert.rejects(open(`/${log}/${path}`, id, isSilent), { code: 'cluster_unavailable' })
  }
})

test('an index that nobody needs may go', async () => {
  const { there, search, looks } = fake()
  const more = indexNameOf(naming, NETWORK, 'log', 900)
  there.set(more, log)
  await search(log)
  there.delete(more)
  await search(log)
  await search(log)
  assert.equal(looks(), 2)
})
