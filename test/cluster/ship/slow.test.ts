import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cluster } from '../../../src/cluster/connection/cluster.ts'
import { createShippedReader } from '../../../src/engine/shipping/shipped-ranges.ts'
import { memoryCluster } from '../../support/memory-cluster.ts'
import { closing, documentsIn, startShipper, visibleIn } from '../../support/ship.ts'
import { createTestStore, demoBlocks } from '../../support/store.ts'

const blocks = demoBlocks().slice(0, 150)
/** Half of a first request. */
const MOST_BYTES = 2_500_000

/** A node that is never done with a large request, before which it writes nothing else. */
const overloaded = (cluster: Cluster) => {
  const sizes: number[] = []
  let hung = 0
  const until = (signal: AbortSignal | undefined) =>
    new Promise<never>((_, reject) => {
      const end = () => reject(signal!.reason)
      if (signal?.aborted) return end()
      signal?.addEventListener('abort', end, { once: true })
    })
  const ask: Cluster['ask'] = async request => {
    if (request.path === '/_bulk') {
      const bytes = request.lines!.length
      sizes.push(bytes)
      if (bytes > MOST_BYTES) {
        hung++
        return until(request.signal).finally(() => hung--)
      }
    }
    if (request.method === 'PUT' && hung > 0) return new Promise(() => {})
    return cluster.ask(request)
  }
  return { sizes, cluster: { ask, close: cluster.close } satisfies Cluster }
}

test('where requests keep the lease from being renewed, the next ones are smaller', async t => {
  const [store, whole] = [createTestStore(), createTestStore()]
  const memory = memoryCluster()
  const { sizes, cluster } = overloaded(memory)
  const shipper = startShipper(store, cluster, { ttlMs: 1_000, lookMs: 20 })
  closing(t, () => shipper, store, whole)
  for (const one of [store, whole]) one.add(blocks)
  shipper.wrote(0, false)
  await shipper.rested()
  assert.ok(sizes[0]! > MOST_BYTES)
  assert.ok(sizes.at(-1)! <= MOST_BYTES)
  assert.deepEqual(visibleIn(memory.documents(), createShippedReader(store.db).visible()), documentsIn(whole))
})
