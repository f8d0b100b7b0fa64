import assert from 'node:assert/strict'
import { cpSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { salvageStore } from '../../../src/engine/salvage.ts'
import { requireLocalDocuments } from '../../../src/engine/shipping/document-location.ts'
import { createJournal } from '../../../src/engine/shipping/journal.ts'
import { createOffloading } from '../../../src/engine/shipping/offload.ts'
import { createShippedReader, type Visible } from '../../../src/engine/shipping/shipped-ranges.ts'
import { createShippingState, LATE_REQUEST_MS } from '../../../src/engine/shipping/shipping-state.ts'
import { createDocumentLines } from '../../../src/engine/show/document-stream.ts'
import { readStats } from '../../../src/engine/stats.ts'
import { verifyContents } from '../../../src/engine/verify.ts'
import { createWriter } from '../../../src/engine/writer.ts'
import type { Db } from '../../../src/sqlite/database.ts'
import { tempFolder } from '../../support/pack.ts'
import { createTestStore, demoBlocks, type TestStore } from '../../support/store.ts'

const blocks = demoBlocks().slice(0, 310)

/** All blocks are on the shelf; those below the head by so much that they may be are emptied. */
const emptied = async (t: TestContext): Promise<TestStore> => {
  const path = await (await tempFolder(t))('network.sqlite', '')
  const store = createTestStore([], { path, run: 10 })
  t.after(() => store.close())
  for (let at = 0; at < blocks.length; at += 10) {
    const batch = store.prepare(blocks.slice(at, at + 10))
    store.writer.apply(batch)
    store.preparer.committed(batch.added)
  }
  const { shelf } = store.writer
  store.writer.also(() => shelf.commit(shelf.begin({ from: 0, to: 309 }), { from: 0, to: 309 }, 0))
  const marked: number[] = []
  for (let step = store.writer.empty(); step.more; step = store.writer.empty())
    if (step.first !== undefined) marked.push(step.first)
  assert.deepEqual(marked, [0, 10, 20, 30, 40])
  for (const first of marked) while (store.writer.merge(first));
  return store
}

const rows = ({ db }: Pick<TestStore, 'db'>, table: string, where = '') =>
  db.prepare(`SELECT count(*) FROM "${table}" ${where}`).pluck().get() as number
const verify = (path: string): string[] => {
  const steps = verifyContents(path, false)
  for (;;) {
    const { value, done } = steps.next()
    if (done) return value
  }
}

test('an emptied store keeps hashes, times and counts of blocks, and nothing of their documents', async t => {
  const store = await emptied(t)
  const below = 'WHERE pos < 50 * 4194304'
  assert.deepEqual(
    ['tx', 'log', 'trace', 'call'].map(table => rows(store, table, below)),
    [0, 0, 0, 0],
  )
  const [gone] = store.read(() => store.reader.segments().filter(segment => segment.emptied))
  assert.deepEqual([gone!.first, gone!.block > 10, gone!.tx > 0], [0, true, true])
  for (const table of ['post', 'col', 'num'])
    assert.equal(
      rows(store, table, table === 'post' ? `WHERE id >> 20 = ${gone!.id}` : `WHERE segment = ${gone!.id}`),
      0,
    )
  assert.equal(rows(store, 'block'), 310)
  assert.equal(rows(store, 'dropped'), 0)
  assert.throws(() => requireLocalDocuments(store.db), { code: 'store_in_cluster' })
  assert.deepEqual(verify(store.path), [])
  const { ranges, parts } = readStats(store.path)
  assert.deepEqual(ranges, [{ from: 0, to: 309 }])
  assert.equal(parts.find(({ part }) => part === 'tx')!.rows, rows(store, 'segment') && store.all('tx').length)
})

test('a rollback into emptied blocks keeps those below, and the same blocks come again', async t => {
  const store = await emptied(t)
  store.rollback(35)
  assert.deepEqual(verify(store.path), [])
  assert.deepEqual(visibleIn(store.db), {
    hidden: [{ batches: { from: 0, to: 2 }, above: 35 }],
    ranges: [{ from: 0, to: 35 }],
  })
  store.add(blocks.slice(36))
  assert.deepEqual(verify(store.path), [])
  const { block } = createDocumentLines(store.reader)
  const again = createTestStore(blocks)
  t.after(again.close)
  const shown = ({ reader }: TestStore, lines: typeof block) => {
    reader.begin()
    const found = Array.from(lines(40), ({ source, ...line }) => ({ ...line, source: Buffer.from(source).toString() }))
    reader.end()
    return found
  }
  assert.deepEqual(shown(store, block), shown(again, createDocumentLines(again.reader).block))
})

test('pruning takes emptied blocks out of the store, off the shelf and out of the cluster', async t => {
  const store = await emptied(t)
  while (store.writer.prune({ below: 200 }));
  // From the same transaction on, whatever the cluster still holds.
  const hidden = [{ batches: { from: 0, to: 2 }, above: -1, below: 199 }]
  assert.deepEqual(visibleIn(store.db), { hidden, ranges: [{ from: 200, to: 309 }] })
  const { sweeps } = store.writer.shelf
  const { n: _, ...last } = sweeps().at(-1)!
  assert.deepEqual(last, hidden[0])
  assert.equal(rows(store, 'block'), 110)
  assert.deepEqual(verify(store.path), [])
})

test('what is salvaged of an emptied store is emptied, too', async t => {
  const store = await emptied(t)
  const path = await (await tempFolder(t))('made.sqlite', '')
  store.endWriting()
  const copy = `${path}-copy`
  cpSync(store.path, copy)
  assert.deepEqual(salvageStore(copy, path, []), { lost: [], lostAlerts: 0 })
  assert.deepEqual(verify(path), [])
  const made = createTestStore([], { path })
  t.after(made.close)
  assert.equal(
    made.read(() => made.reader.segments().filter(({ emptied }) => emptied).length),
    2,
  )
  assert.deepEqual(visibleIn(made.db).ranges, [{ from: 0, to: 309 }])
})

test('a batch counts when it is committed, unless a rollback came between', t => {
  const store = createTestStore(blocks.slice(0, 30))
  t.after(store.close)
  let now = 1_000
  const shelf = createShippingState(store.db, () => now)
  const visible = () => visibleIn(store.db)
  const batch = shelf.begin({ from: 0, to: 9 })
  const hiding = { batches: { from: 1, to: 1 }, above: -1 }
  assert.deepEqual(visible(), { hidden: [hiding], ranges: [] })
  assert.equal(shelf.commit(batch, { from: 0, to: 7 }, 5), true)
  assert.deepEqual(visible(), { hidden: [], ranges: [{ from: 0, to: 7 }] })
  const [low, high] = [shelf.begin({ from: 8, to: 12 }), shelf.begin({ from: 20, to: 29 })]
  shelf.rollback(15)
  assert.deepEqual([shelf.isUnderWay(low.number), shelf.isUnderWay(high.number)], [true, false])
  assert.deepEqual(
    [shelf.commit(low, { from: 8, to: 12 }, 6), shelf.commit(high, { from: 20, to: 29 }, 7)],
    [true, false],
  )
  const left = { batches: { from: 0, to: 6 }, above: 15 }
  // With its tokens, which have a number of their own.
  const dead = { batches: { from: 5, to: 6 }, above: 19, below: 29 }
  assert.deepEqual(visible(), { hidden: [dead, left], ranges: [{ from: 0, to: 12 }] })
  assert.equal(shelf.shippedChange(), 6)

  // Each is removed at once, and again when no request of the past can come any more.
  const found = shelf.sweeps()
  assert.deepEqual(
    found.map(({ n: _, ...hidden }) => hidden),
    [dead, left],
  )
  for (const sweep of found) shelf.swept(sweep, now)
  assert.deepEqual([shelf.sweeps(), visible().hidden.length], [[], 2])
  now += LATE_REQUEST_MS
  const begun = now
  now += 5
  for (const sweep of shelf.sweeps()) shelf.swept(sweep, begun)
  assert.deepEqual([shelf.sweeps(), visible().hidden], [[], []])
})

test('a store that is older than the cluster ships again what it holds itself', async t => {
  const store = await emptied(t)
  const { shelf } = store.writer
  assert.equal(shelf.meet(2), false)
  assert.equal(shelf.meet(9), true)
  assert.deepEqual(visibleIn(store.db), {
    hidden: [
      { batches: { from: 3, to: 9 }, above: -1 },
      { batches: { from: 0, to: 9 }, above: 49 },
    ],
    ranges: [{ from: 0, to: 49 }],
  })
  assert.deepEqual(shelf.begin(undefined), { number: 10, tokens: 11 })
})

test('the journal is full when it has grown by more than it may since it was least', t => {
  const store = createTestStore(blocks.slice(0, 50))
  t.after(store.close)
  const full = createJournal(store.db, 300 * 1_000)
  assert.equal(full.isFull(), false)
  store.add(blocks.slice(50, 300))
  assert.equal(createJournal(store.db, 300 * 1_000).isFull(), true)
  assert.equal(createJournal(store.db, 300 * 100_000).isFull(), false)
})

test('nothing is emptied that is not on the shelf as a whole', t => {
  const store = createTestStore(blocks)
  t.after(store.close)
  const { shelf } = store.writer
  const emptying = createOffloading(store.db)
  assert.equal(emptying.mark(), undefined)
  store.writer.also(() => shelf.commit(shelf.begin({ from: 1, to: 309 }), { from: 1, to: 309 }, 0))
  const first = store.read(() => store.reader.segments()[0]!)
  assert.equal(first.first, 0)
  assert.notEqual(emptying.mark(), 0)
  assert.equal(createWriter(store.db).shelf.hasChangedTokens(), true)
})

/** Without what hides batches that begin later. */
const visibleIn = (db: Db): Visible => {
  const { hidden, ranges } = createShippedReader(db).visible()
  const { batches, above } = hidden.at(-1)!
  assert.deepEqual([batches.to, above], [Number.MAX_SAFE_INTEGER, -1])
  return { hidden: hidden.slice(0, -1), ranges }
}
