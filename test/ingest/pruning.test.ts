import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createBlocks } from '../../src/engine/blocks.ts'
import type { BlockRetention, IndexJob } from '../../src/ingest/messages.ts'
import { askToPrune, isPruneAsked } from '../../src/ingest/requests.ts'
import {
  folderToIndex,
  followJob,
  indexIn,
  indexJob,
  logLines,
  NETWORK,
  readStore,
  until,
} from '../support/indexing.ts'
import { startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'

const chain = makeChain({ blocks: 400, txs: 1, logs: 1 })

const place = async (t: TestContext) => {
  const { data, store } = await folderToIndex(t)
  const node = await startNode(t, chain)
  const { lines, log } = logLines(true)
  const start = (job: IndexJob) => indexIn(t, data, job, { log })
  return {
    store,
    removals: () =>
      lines
        .map(line => JSON.parse(line) as Record<string, unknown>)
        .filter(({ message }) => message === 'Removed old blocks')
        .map(({ time: _, level: __, message: ___, ...fields }) => fields),
    follow: (keep: BlockRetention) => start(followJob(node, { keep })),
    index: (from?: number) =>
      start(indexJob(node, { ...(from !== undefined && { from: { block: from } }), order: 'oldest', finality: 8 })),
    watch: () => start({ type: 'watch' }),
    ranges: () => readStore(store, db => createBlocks(db).ranges()),
    floor: () => readStore(store, db => createBlocks(db).floor()),
  }
}

test('no more is filled than is to be kept, by number and by time', async t => {
  const { follow, ranges } = await place(t)
  const byNumber = follow({ blocks: 100 })
  // Progress counts blocks before they are committed, so wait for the ranges, too.
  const isFilled = (from: number) => ranges().some(it => it.from <= from && it.to === 399)
  await until(() => isFilled(300) && byNumber.report().done >= 92)
  await byNumber.stop()
  assert.deepEqual(ranges(), [{ from: 300, to: 399 }])
  const age = Number(chain[399]!.block.timestamp) - Number(chain[250]!.block.timestamp)
  const byTime = follow({ forMs: age * 1000 })
  await until(() => isFilled(250) && byTime.report().done === byTime.report().total)
  await byTime.stop()
  assert.equal(ranges()[0]!.from, 250)
})

test('a store is pruned beside its head, and what was pruned is indexed again only where that is asked for', async t => {
  const { store, follow, index, watch, ranges, floor, removals } = await place(t)
  await index().ended
  assert.deepEqual(ranges(), [{ from: 0, to: 399 }])
  askToPrune(store, 'hand', { below: 390, floor: 390 })
  const watching = watch()
  // Lines come from another thread, which may end meanwhile.
  await until(() => !isPruneAsked(store) && removals().length > 0)
  await watching.stop()
  // The newest 64 stay.
  assert.equal(floor(), 336)
  const [{ from }] = ranges() as [{ from: number; to: number }]
  assert.ok(from > 0 && from <= 336, `${from}`)
  assert.deepEqual(removals(), [{ network: NETWORK, from: 0, to: from - 1, before: 390 }])
  const following = follow({})
  await until(() => following.report().head === 399)
  await following.stop()
  await index().ended
  assert.deepEqual(ranges(), [{ from, to: 399 }])
  await assert.rejects(index(10).ended, { code: 'blocks_pruned' })
  askToPrune(store, 'settings', { floor: 0 })
  const again = watch()
  await until(() => !isPruneAsked(store))
  await again.stop()
  await index(10).ended
  assert.deepEqual(ranges(), [{ from: 10, to: 399 }])
})
