import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { createBulk } from '../../src/cluster/bulk/bulk.ts'
import type { Cluster } from '../../src/cluster/connection/cluster.ts'
import { PROBE } from '../../src/cluster/connection/opensearch-client.ts'
import { createClusterHealth } from '../../src/cluster/indices/cluster-health.ts'
import { createIndices } from '../../src/cluster/indices/indices.ts'
import { aliasOf, indexNameOf, metaText } from '../../src/cluster/indices/names.ts'
import { createClusterSearcher } from '../../src/cluster/searcher.ts'
import { createLease } from '../../src/cluster/ship/lease.ts'
import { createShipRequests } from '../../src/cluster/ship/requests.ts'
import { makeStateIndex, publish, readState, stateIndexOf } from '../../src/cluster/ship/shared-state.ts'
import { holdingsInCluster } from '../../src/cluster/store.ts'
import { silent } from '../../src/lib/log.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { ALL_NODE } from '../../src/query/ast.ts'
import { openTestCluster, withoutOpenSearch } from '../support/real-opensearch.ts'
import { createTestStore } from '../support/store.ts'

const NETWORK = 'ethereum/made-up/mainnet'

/** As the table of docs/opensearch.md names requests. */
const named = (method: string, path: string): string => {
  const parts = path.split('/').slice(1)
  const shown = parts.map((part, i) => {
    const before = parts[i - 1]
    if (part === '' || part.startsWith('_') || before === '_nodes' || before === 'stats' || before === '_search')
      return part
    if (before === '_cluster' || before === '_local' || before === '_stats') return part
    return before === '_doc' || before === '_alias' || before === '_index_template' ? '{name}' : '{index}'
  })
  return `${method} /${shown.join('/')}`.replace('/stats/fs,thread_pool', '/stats').replace('_stats/store', '_stats')
}

test('docs/opensearch.md names the rights for all that is asked of a cluster, and no others', {
  skip: withoutOpenSearch,
}, async t => {
  const { cluster, options } = await openTestCluster(t, { blocksPerIndex: 100 })
  // The connection asks this by itself where a node is silent.
  const asked = new Set([named('GET', PROBE)])
  const recorded: Cluster = {
    ...cluster,
    ask(request) {
      asked.add(named(request.method, request.path))
      return cluster.ask(request)
    },
  }
  const { signal } = new AbortController()
  const indices = createIndices(recorded, options, NETWORK, silent)
  await indices.prepare()
  await indices.ensure(0)
  const index = indexNameOf(options, NETWORK, 'block', 0)
  await cluster.ask({ method: 'DELETE', path: `/${index}/_alias/${aliasOf(options, NETWORK, 'block')}` })
  await createIndices(recorded, { ...options, replicas: 1 }, NETWORK, silent).prepare()
  await createIndices(recorded, options, NETWORK, silent).prepare()
  await indices.renew(index)

  const state = stateIndexOf(options, NETWORK)
  await makeStateIndex(recorded, state, options)
  const lease = createLease({ cluster: recorded, index: state, id: 'a', name: 'a' })
  await lease.acquire(signal)
  await publish(recorded, state, { term: 1, sequence: 1, committed: 1, hidden: [], ranges: [], blocks: [] })
  await readState(recorded, state)

  const bulk = createBulk(recorded, {})
  const meta = metaText('block', { batch: 1, block: 1, position: 2 ** 22, routing: undefined, parent: undefined })
  await bulk.put({ index, id: '1', version: 1, source: `{"hash":"0x1"${meta}}` })
  await bulk.flush()
  const requests = createShipRequests(recorded, options, NETWORK, () => signal)
  await requests.greatestBatch()
  await requests.tally({ from: 0, to: 1 }, [])

  const store = createTestStore()
  t.after(store.close)
  const visible = () => ({ hidden: [], ranges: [{ from: 0, to: 1 }] })
  const searcher = createClusterSearcher({
    ...{ cluster: recorded, naming: options, network: NETWORK, visible, reader: store.reader, limits: DEFAULT_LIMITS },
  })
  const deadline = { deadline: Number.POSITIVE_INFINITY }
  await holdingsInCluster(searcher.asker, deadline, visible())
  const parts = [{ kind: 'block' as const, query: ALL_NODE }]
  const request = { parts, sort: [], from: 0, size: -1, source: true, trackTotal: true as const }
  const pages = await searcher.searcherOf({ deadlineMs: 5_000 }).pages(request, deadline)
  assert.equal(pages.total, 1)
  pages.close!()
  await createClusterHealth(recorded, options, NETWORK, () => visible().ranges)()
  await requests.remove({ batches: { from: 0, to: 1 }, above: -1 })
  await lease.release()

  const page = readFileSync(new URL('../../docs/opensearch.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `((?:GET|PUT|POST|DELETE) \/[^`]*)` \|([^|]*)\|/gm)]
  assert.deepEqual(rows.map(([, name]) => name!).toSorted(), [...asked].toSorted())
  for (const [, name, actions] of rows)
    for (const [, action] of actions!.matchAll(/`([^`]*)`/g))
      assert.ok(page.includes(`- ${action}\n`), `${name}: ${action}`)
})
