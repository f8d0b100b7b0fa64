import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ClusterRequest, DEFAULT_CLUSTER } from '../../src/cluster/connection/cluster.ts'
import { putIndex } from '../../src/cluster/indices/indices.ts'
import { indexBody, templateBody } from '../../src/cluster/indices/template.ts'

const OPTIONS = { ...DEFAULT_CLUSTER, urls: [] }
const NO_SORT = 'cannot have nested fields when index sort is activated'
const NO_SIMILARITY = 'Unknown Similarity type [LegacyBM25] for [default]'

/** Settings of the index that a cluster took which refuses these in turn. */
const takenOf = async (refused: readonly string[]) => {
  const answers = refused.map(reason => ({ status: 400, text: JSON.stringify({ error: { reason } }) }))
  const bodies: { settings: { index: object } }[] = []
  const cluster = {
    ask: async ({ body }: ClusterRequest) => {
      bodies.push(body as (typeof bodies)[0])
      return answers.shift() ?? { status: 200, text: '{}' }
    },
  }
  const made = await putIndex(cluster, '/x', lacking => indexBody('tx', 'a/b/c', OPTIONS, { lacking }), 'create it')
  return { made, settings: bodies.at(-1)!.settings.index, asked: bodies.length }
}

const PLAIN = { number_of_shards: 1, number_of_replicas: 1 }
const SORTED = { 'sort.field': ['chainsieve.position'], 'sort.order': ['desc'] }
const SIMILAR = { 'similarity.default.type': 'LegacyBM25' }

test('an index has all that the cluster can', async () => {
  assert.deepEqual(await takenOf([]), { made: true, settings: { ...PLAIN, ...SORTED, ...SIMILAR }, asked: 1 })
  assert.deepEqual(await takenOf([NO_SORT]), { made: true, settings: { ...PLAIN, ...SIMILAR }, asked: 2 })
  assert.deepEqual(await takenOf([NO_SIMILARITY]), { made: true, settings: { ...PLAIN, ...SORTED }, asked: 2 })
  const both = { made: true, settings: PLAIN, asked: 3 }
  assert.deepEqual(await takenOf([NO_SIMILARITY, NO_SORT]), both)
  assert.deepEqual(await takenOf([NO_SORT, NO_SIMILARITY]), both)
})

test('what is there stays, and any other refusal is told', async () => {
  assert.equal((await takenOf(['resource_already_exists_exception'])).made, false)
  for (const refused of [['too many shards'], [NO_SORT, NO_SORT], [NO_SIMILARITY, NO_SIMILARITY]])
    await assert.rejects(takenOf(refused), { code: 'cluster_refuses', message: /^the cluster cannot create it / })
})

test('a template lacks what its indices lack', () => {
  const lacking = { sorting: true, similarity: true }
  const { settings } = templateBody('tx', 'a/b/c', OPTIONS, { lacking }).template
  assert.deepEqual(settings.index, PLAIN)
})
