import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aliasOf, splitSource } from '../../src/cluster/indices/names.ts'
import { KINDS } from '../../src/mapping/index.ts'
import { documentsOf, fillCluster, withoutCluster } from '../support/cluster-fill.ts'

test('a cluster holds each document byte for byte as the store shows it', { skip: withoutCluster }, async () => {
  const { cluster, naming, network, store, close } = await fillCluster(undefined, { prefix: 'compile' })
  try {
    for (const kind of KINDS) {
      const path = `/${aliasOf(naming, network, kind)}/_search`
      const sort = ['chainsieve.position']
      const { text } = await cluster.ask({ method: 'POST', path, body: { size: 1000, sort } })
      const sources = text.split('"_source":').slice(1)
      const held = sources.map(part => part.slice(0, part.lastIndexOf(',"sort":')))
      const expected = documentsOf(store, kind, 1)
      assert.deepEqual(
        held,
        expected.map(({ source }) => source),
      )
      const parents = store.all(kind).map(({ _parent }) => _parent)
      assert.deepEqual(
        held.map(text => splitSource(text).meta.parent),
        parents,
      )
    }
  } finally {
    await close()
  }
})
