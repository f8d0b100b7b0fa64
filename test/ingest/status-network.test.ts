import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Indexing } from '../../src/ingest/network.ts'
import { networkStateOf } from '../../src/ingest/status/status.ts'

const NETWORK = 'ethereum/test/net'

test('the head is never below a block that was stored since it was reported', async () => {
  const headAt = async (head: number | null, top: number | null) => {
    const report = { head, done: 0, total: 0, newest: null, endpoints: [], alerts: {}, waiting: null }
    const indexing = {
      network: NETWORK,
      report: () => report,
      reportedAt: () => performance.now(),
      error: () => undefined,
      restarts: () => undefined,
    } as unknown as Indexing
    const held = async () => ({ ranges: top === null ? [] : [{ from: 0, to: top }], newest: null })
    const told = await networkStateOf(NETWORK, { networks: () => [NETWORK], indexings: [indexing], held }, new Map())
    return [told.head, told.lag]
  }
  assert.deepEqual(await headAt(50, 51), [51, 0])
  assert.deepEqual(await headAt(50, 50), [50, 0])
  assert.deepEqual(await headAt(50, 40), [50, 10])
  assert.deepEqual(await headAt(null, 51), [null, null])
  assert.deepEqual(await headAt(50, null), [50, null])
  // What was imported, and a node that lags far behind that.
  assert.deepEqual(await headAt(50, 5_000), [50, 0])
})
