import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Cluster } from '../../../src/cluster/connection/cluster.ts'
import { reachedBySearches } from '../../../src/cluster/indices/lost-indices.ts'
import { aliasOf, indexNameOf } from '../../../src/cluster/indices/names.ts'
import { createIndexIdentities } from '../../../src/engine/shipping/index-identities.ts'
import { createShippedReader } from '../../../src/engine/shipping/shipped-ranges.ts'
import { KINDS, type Kind } from '../../../src/mapping/index.ts'
import { openTestCluster, withoutOpenSearch } from '../../support/real-opensearch.ts'
import { documentsIn, SHIPPED, startShipper } from '../../support/ship.ts'
import { documentsThere } from '../../support/shipped.ts'
import { createTestStore, demoBlocks } from '../../support/store.ts'

/** A copy of an index as it is, under another name and as a new one: what a snapshot that is restored amounts to. */
const copy = async (cluster: Cluster, from: string, to: string, alias?: string) => {
  const ask = async (...[request]: Parameters<Cluster['ask']>) => {
    const { status, text } = await cluster.ask(request)
    assert.ok(status < 300, text)
  }
  const block = (index: string, is: boolean | null) =>
    ask({ method: 'PUT', path: `/${index}/_settings`, body: { 'index.blocks.write': is } })
  await block(from, true)
  await ask({ method: 'POST', path: `/${from}/_clone/${to}`, body: alias ? { aliases: { [alias]: {} } } : {} })
  await ask({ method: 'GET', path: `/_cluster/health/${to}`, query: { wait_for_status: 'yellow', timeout: '60s' } })
  for (const index of [from, to]) await block(index, null)
}

const shipping = async (t: TestContext) => {
  const { cluster, options } = await openTestCluster(t, { blocksPerIndex: 100 })
  const store = createTestStore(demoBlocks().slice(0, 60), { run: 10 })
  let shipper: ReturnType<typeof startShipper> | undefined
  t.after(async () => {
    await shipper?.close()
    store.close()
  })
  const indexOf = (kind: Kind) => indexNameOf(options, SHIPPED, kind, 0)
  const shelf = () => createShippedReader(store.db).visible()
  return {
    store,
    async restart() {
      await shipper?.close()
      // Closing it closes its connection.
      shipper = startShipper(store, { ...cluster, close: async () => {} }, { prefix: options.prefix })
      await shipper.rested()
    },
    copyOf: (kind: Kind, name: string) => copy(cluster, indexOf(kind), `${options.prefix}-${name}-${kind}`),
    async restore(kind: Kind, name: string) {
      await cluster.ask({ method: 'DELETE', path: `/${indexOf(kind)}` })
      await copy(cluster, `${options.prefix}-${name}-${kind}`, indexOf(kind), aliasOf(options, SHIPPED, kind))
    },
    lost: async () =>
      (await reachedBySearches(cluster, options, SHIPPED, shelf().ranges, createIndexIdentities(store.db).of)).lost.map(
        ({ index, instead }) => [index, typeof instead],
      ),
    shown: () => documentsThere(cluster, options, shelf().hidden),
    indexOf,
  }
}

test('indices of a real cluster that stand there as an older snapshot had them are noticed, and mended as far as can be', {
  skip: withoutOpenSearch,
}, async t => {
  const { store, restart, copyOf, restore, lost, shown, indexOf } = await shipping(t)
  await restart()
  for (const kind of ['tx', 'event'] as const) await copyOf(kind, 'older')
  store.add(demoBlocks().slice(60, 90))
  await restart()
  const all = documentsIn(store)
  assert.deepEqual([await lost(), await shown()], [[], all])

  // The store has what they lack.
  await restore('tx', 'older')
  assert.deepEqual(await lost(), [[indexOf('tx'), 'string']])
  await restart()
  assert.deepEqual([await lost(), await shown()], [[], all])

  // The same of all kinds, with nothing missing.
  for (const kind of KINDS) await copyOf(kind, 'newer')
  store.db.exec('UPDATE segment SET emptied = 1')
  for (const kind of KINDS.filter(kind => kind !== 'token')) await restore(kind, 'newer')
  assert.equal((await lost()).length, KINDS.length - 1)
  await restart()
  assert.deepEqual([await lost(), await shown()], [[], all])

  // No store has what it lacks.
  await restore('event', 'older')
  await restart()
  assert.deepEqual(await lost(), [[indexOf('event'), 'string']])
  await restore('event', 'newer')
  await restart()
  assert.deepEqual([await lost(), await shown()], [[], all])
})
