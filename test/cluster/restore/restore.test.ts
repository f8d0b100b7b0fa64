import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type FetchDocuments, type RemoteDocument, restoreRuns } from '../../../src/cluster/restore/restore.ts'
import type { SegmentBatch } from '../../../src/engine/documents/batch.ts'
import { openDocuments } from '../../../src/engine/reader.ts'
import { createLocationWriter } from '../../../src/engine/shipping/document-location.ts'
import { createOffloadedReader } from '../../../src/engine/shipping/restore-offloaded.ts'
import { createWriter } from '../../../src/engine/writer.ts'
import { applyJobChanges } from '../../../src/ingest/pipeline.ts'
import { emptyStore, fetchedOf } from '../../support/returning.ts'
import { documentsIn } from '../../support/ship.ts'
import { createTestStore, demoBlocks } from '../../support/store.ts'

const blocks = demoBlocks().slice(0, 60)

/** A store of which a cluster holds all documents, as `change` has them; `kill` ends the program after so many steps. */
const setUp = (t: TestContext, change: (documents: RemoteDocument[]) => RemoteDocument[] = documents => documents) => {
  const store = createTestStore(blocks, { run: 7 })
  const reader = openDocuments(store.path)
  t.after(() => {
    reader.close()
    store.close()
  })
  const all = documentsIn(store)
  emptyStore(store)
  store.writer.also(() => createLocationWriter(store.db).move())
  const returns = createOffloadedReader(store.db)
  const fetched: [number, number][] = []
  const fetch: FetchDocuments = async ({ from, to }) => {
    fetched.push([from, to])
    return change(fetchedOf(all, from, to))
  }
  const run = (kill = Number.POSITIVE_INFINITY) => {
    let steps = 0
    // As after a restart.
    store.writer = createWriter(store.db)
    const changes = restoreRuns({
      store: { ...returns, next: (documents, most) => returns.next(Math.min(documents, 700), most) },
      count: async ({ from, to }) =>
        new Map(
          [...Map.groupBy(change(fetchedOf(all, from, to)), ({ kind }) => kind)].map(([kind, some]) => [
            kind,
            { count: some.length },
          ]),
        ),
      ...{ reader, fetch, preparer: store.preparer, decimals: () => undefined },
    })
    const restore = (segment: number, batch: SegmentBatch) => {
      const done = store.writer.restore(batch, segment)
      store.preparer.committed(batch.added)
      return done
    }
    const verified = () => {
      store.writer.verified()
      let isBack = false
      store.writer.also(() => {
        isBack = createLocationWriter(store.db).back()
      })
      return isBack
    }
    return applyJobChanges(changes, async change => {
      if (steps++ >= kill) throw new Error('killed')
      const done = change.type === 'restore' ? restore(change.segment, change.build()) : verified()
      return { done, took: 0 }
    })
  }
  const { since, back } = createLocationWriter(store.db)
  return { store, all, run, returns, fetched, isInCluster: () => since() !== undefined, back }
}

test('what a kill interrupts is gone on with, and compared before the store answers', async t => {
  const { store, all, run, returns, fetched, isInCluster, back } = setUp(t)
  // After a run was written, and before it was compared.
  await assert.rejects(run(3), /killed/)
  const unverified = returns.unverified()!
  assert.ok(unverified.to > unverified.from && returns.left().emptied > 0)
  assert.equal(isInCluster(), true)
  const before = fetched.length
  await run()
  assert.deepEqual(fetched[before], [unverified.from, unverified.to])
  assert.deepEqual(
    { ...returns.left(), unverified: returns.unverified() },
    {
      ...{ blocks: 60, emptied: 0, documents: 0, unverified: undefined },
    },
  )
  assert.equal(isInCluster(), false)
  assert.deepEqual(documentsIn(store), all)
  assert.equal(back(), true)
})

test('the store does not answer before the last run was compared', async t => {
  const { run, returns, isInCluster, back } = setUp(t)
  while (returns.left().emptied > 0) await assert.rejects(run(1), /killed/)
  assert.ok(returns.unverified())
  assert.equal(back(), false)
  assert.equal(isInCluster(), true)
  await run()
  assert.equal(isInCluster(), false)
})

test('a cluster that lacks documents is told of, and keeps answering', async t => {
  const { run, isInCluster } = setUp(t, documents => documents.filter(({ kind }, i) => kind !== 'log' || i % 50 !== 3))
  await assert.rejects(run(), {
    code: 'return_incomplete',
    message: /^the cluster has \d+ instead of \d+ documents of the entity log of blocks \d+ to 55: restore a snapshot/,
  })
  assert.equal(isInCluster(), true)
})

test('events that the cluster lacks are not taken for logs that nobody could decode', async t => {
  const { run, isInCluster } = setUp(t, documents =>
    documents.filter(({ kind }, i) => kind !== 'event' || i % 50 !== 3),
  )
  await assert.rejects(run(), { code: 'return_incomplete', message: /documents of the entity event of blocks \d+ to / })
  assert.equal(isInCluster(), true)
})

test('documents that do not come back as they were are told of, and the cluster keeps answering', async t => {
  let spoilt: string | undefined
  const { run, returns, isInCluster, back } = setUp(t, documents =>
    documents.map(one => {
      if (one.kind === 'tx') spoilt ??= one.id
      if (one.kind !== 'tx' || one.id !== spoilt) return one
      return { ...one, source: one.source.replace(/"timestamp":\d+/, '"timestamp":1') }
    }),
  )
  await assert.rejects(run(), {
    code: 'return_differs',
    message: /^the tx 0x\w+ is ….*"timestamp":1,.*… in the cluster, and ….*"timestamp":17.*… in the file/,
  })
  assert.equal(isInCluster(), true)
  assert.ok(returns.unverified())
  assert.equal(back(), false)
})
