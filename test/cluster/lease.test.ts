import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cluster } from '../../src/cluster/connection/cluster.ts'
import { createLease } from '../../src/cluster/ship/lease.ts'
import { firstOfTerm, publish, readState } from '../../src/cluster/ship/shared-state.ts'
import { retry } from '../../src/lib/errors.ts'
import { createDocumentCluster } from '../support/document-cluster.ts'
import { createVirtualClock } from '../support/virtual-clock.ts'

const index = 'chainsieve-test-state'

/** A connection that can be cut. */
const cuttable = (cluster: Cluster) => {
  const line = { cut: false }
  const through: Cluster = {
    ask: request => (line.cut ? Promise.reject(retry('cluster_unreachable', 'the line is cut')) : cluster.ask(request)),
    close: cluster.close,
  }
  return { line, through }
}

const processOf = (cluster: Cluster, name: string, clock: ReturnType<typeof createVirtualClock>) => {
  const { line, through } = cuttable(cluster)
  const lease = createLease({ cluster: through, index, id: name, name, clock })
  const got: { term?: number; at?: number } = {}
  const stopping = new AbortController()
  const acquire = async () => {
    const term = await lease.acquire(stopping.signal)
    Object.assign(got, { term, at: clock.now() })
  }
  return { line, lease, got, acquire, stop: () => stopping.abort() }
}

test('one process holds the lease, and the next takes over within 30 s where it dies', async () => {
  const clock = createVirtualClock()
  const cluster = createDocumentCluster()
  const [a, b] = [processOf(cluster, 'a', clock), processOf(cluster, 'b', clock)]
  void a.acquire()
  await clock.run(1000)
  void b.acquire().catch(() => {})
  await clock.run(60_000)
  assert.deepEqual([a.got.term, b.got.term, b.lease.holder()], [1, undefined, 'a'])
  const died = clock.now()
  a.line.cut = true
  await clock.run(30_000)
  assert.equal(b.got.term, 2)
  assert.ok(b.got.at! - died <= 30_000)
  assert.equal(a.lease.lost.aborted, true, 'who holds it no longer knows')
})

test('a holder gives up before another takes over, whatever the moment at which its line is cut', async () => {
  for (let cutAt = 0; cutAt < 20_000; cutAt += 1_300) {
    const clock = createVirtualClock()
    const cluster = createDocumentCluster()
    const [a, b] = [processOf(cluster, 'a', clock), processOf(cluster, 'b', clock)]
    void a.acquire()
    await clock.run(500)
    void b.acquire().catch(() => {})
    let lostAt: number | undefined
    a.lease.lost.addEventListener('abort', () => {
      lostAt = clock.now()
    })
    await clock.run(cutAt)
    a.line.cut = true
    await clock.run(40_000)
    assert.ok(lostAt! < b.got.at!, `cut after ${cutAt} ms: lost at ${lostAt}, taken at ${b.got.at}`)
    await b.lease.release()
  }
})

test('a request that hangs does not keep the lease', async () => {
  const clock = createVirtualClock()
  const cluster = createDocumentCluster()
  let hangs = false
  const lease = createLease({
    cluster: { ask: request => (hangs ? new Promise(() => {}) : cluster.ask(request)), close: cluster.close },
    ...{ index, id: 'a', name: 'a', clock },
  })
  void lease.acquire(new AbortController().signal)
  await clock.run(1000)
  hangs = true
  await clock.run(20_000)
  assert.equal(lease.lost.aborted, true)
})

test('who is released is followed at once, and a short fault of the cluster loses nothing', async () => {
  const clock = createVirtualClock()
  const cluster = createDocumentCluster()
  const [a, b] = [processOf(cluster, 'a', clock), processOf(cluster, 'b', clock)]
  void a.acquire()
  await clock.run(1000)
  void b.acquire().catch(() => {})
  a.line.cut = true
  await clock.run(7_000)
  a.line.cut = false
  await clock.run(60_000)
  assert.equal(a.lease.lost.aborted, false)
  const before = clock.now()
  await a.lease.release()
  await clock.run(5_000)
  assert.equal(b.got.term, 2)
  assert.ok(b.got.at! - before <= 5_000)
  await b.lease.release()
})

test('a state of an older term is not written over one of a newer term', async () => {
  const cluster = createDocumentCluster()
  assert.equal(await readState(cluster, index), undefined)
  const state = {
    term: 2,
    sequence: 5,
    committed: firstOfTerm(2) + 7,
    hidden: [],
    ranges: [{ from: 0, to: 9 }],
    blocks: [],
  }
  assert.equal(await publish(cluster, index, state), true)
  assert.equal(await publish(cluster, index, { ...state, term: 1, sequence: 900 }), false)
  assert.equal(await publish(cluster, index, { ...state, sequence: 4 }), false)
  assert.deepEqual(await readState(cluster, index), state)
})

test('who goes on with the work of a process that is gone need not wait', async () => {
  const clock = createVirtualClock()
  const cluster = createDocumentCluster()
  const a = processOf(cluster, 'a', clock)
  void a.acquire()
  await clock.run(1000)
  a.line.cut = true
  const again = processOf(cluster, 'a', clock)
  void again.acquire()
  await clock.run(1)
  assert.equal(again.got.term, 1)
  await again.lease.release()
})

test('a cluster that fails half of all requests does not keep a lease from being taken over', async () => {
  const clock = createVirtualClock()
  const cluster = createDocumentCluster()
  let asked = 0
  const busy: Cluster = {
    ask: request => (asked++ % 4 < 2 ? Promise.resolve({ status: 429, text: '{}' }) : cluster.ask(request)),
    close: cluster.close,
  }
  const [a, b] = [processOf(cluster, 'a', clock), processOf(busy, 'b', clock)]
  void a.acquire()
  await clock.run(1000)
  const again = async (): Promise<void> => {
    try {
      await b.acquire()
    } catch {
      await clock.sleep(500)
      await again()
    }
  }
  void again()
  await clock.run(10_000)
  const died = clock.now()
  a.line.cut = true
  await clock.run(30_000)
  assert.ok(b.got.at! - died <= 30_000)
})
