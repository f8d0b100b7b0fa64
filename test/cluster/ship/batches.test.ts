import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { RawBlock } from '../../../src/chain/wire.ts'
import type { Cluster } from '../../../src/cluster/connection/cluster.ts'
import { NO_NOTES } from '../../../src/engine/coverage.ts'
import { createStoreLookups } from '../../../src/engine/dictionary-reader.ts'
import { createShippedReader } from '../../../src/engine/shipping/shipped-ranges.ts'
import type { Range } from '../../../src/lib/ranges.ts'
import { memoryCluster } from '../../support/memory-cluster.ts'
import { closing, documentsIn, movedBlock, partOf, startShipper, visibleIn } from '../../support/ship.ts'
import { createTestStore, demoBlocks, type TestStore } from '../../support/store.ts'

const recorded = demoBlocks()
const blocks = recorded.slice(0, 40).map((raw, number) => movedBlock(raw, number, undefined, 0))
/** Each block is a batch of its own. */
const ONE_BLOCK = 1

/** A cluster that shows nothing until it is let, or makes no index. */
const gated = (cluster: Cluster) => {
  let waiting: (() => void)[] = []
  let isOpen = true
  let asked = 0
  let taken = 0
  let making: PromiseWithResolvers<void> | undefined
  let isMaking = false
  const letWaiting = () => {
    for (const go of waiting) go()
    waiting = []
  }
  return {
    hold: () => {
      isOpen = false
    },
    letWaiting,
    holdIndices: () => {
      making = Promise.withResolvers()
    },
    /** Whether an index is to be made, which is held. */
    isMaking: () => isMaking,
    makeIndices: () => making?.resolve(),
    /** How many requests to show documents there were. */
    asked: () => asked,
    /** How many requests with documents were answered. */
    taken: () => taken,
    open: () => {
      isOpen = true
      letWaiting()
    },
    cluster: {
      async ask(request) {
        if (request.path.endsWith('/_refresh')) {
          asked++
          if (!isOpen) await new Promise<void>(resolve => waiting.push(resolve))
        }
        if (request.method === 'PUT' && /^\/[^_/]+$/.test(request.path) && making) {
          isMaking = true
          await making.promise
        }
        const answer = await cluster.ask(request)
        if (request.path === '/_bulk') taken++
        return answer
      },
      close: cluster.close,
    } satisfies Cluster,
  }
}

const until = async (done: () => boolean) => {
  for (const end = Date.now() + 120_000; !done(); ) {
    assert.ok(Date.now() < end, 'nothing comes of it')
    await new Promise(setImmediate)
  }
}

const twoUnderWay = async (t: TestContext, put = (one: TestStore) => one.add(blocks)) => {
  const [store, whole] = [createTestStore(), createTestStore()]
  const memory = memoryCluster()
  const gate = gated(memory)
  const shipper = startShipper(store, gate.cluster, { batchBytes: ONE_BLOCK })
  closing(t, () => shipper, store, whole)
  await shipper.rested()
  gate.hold()
  const [asked, taken] = [gate.asked(), gate.taken()]
  for (const one of [store, whole]) put(one)
  shipper.wrote(0, false)
  const underWay = () => store.db.prepare<[], number>('SELECT first FROM batch ORDER BY number').pluck().all()
  await until(() => underWay().length === 2 && gate.taken() === taken + 2)
  const shelf = () => createShippedReader(store.db).visible()
  const rested = async () => {
    gate.open()
    await shipper.rested()
    assert.deepEqual(shelf().ranges, [{ from: 0, to: blocks.length - 1 }])
    assert.deepEqual(visibleIn(memory.documents(), shelf()), documentsIn(whole))
  }
  return { store, whole, gate, shipper, underWay, shelf, rested, asked, memory }
}

test('while a batch waits to be shown, the next one is sent, and no third', async t => {
  const { gate, underWay, shelf, rested, asked } = await twoUnderWay(t)
  for (let i = 0; i < 200; i++) await new Promise(setImmediate)
  // The second one comes to be shown after the first.
  assert.deepEqual([underWay().length, gate.asked() - asked, shelf().ranges], [2, 1, []])
  await rested()
})

test('a reorganisation of both leaves nothing of them, and tokens that they sent are sent again', async t => {
  const { store, whole, shipper, shelf, rested, gate, memory } = await twoUnderWay(t)
  for (const one of [store, whole]) one.rollback(-1)
  shipper.removed(-1)
  gate.open()
  await shipper.rested()
  assert.deepEqual(shelf().ranges, [])
  assert.equal(visibleIn(memory.documents(), shelf()).size, 0)
  for (const one of [store, whole]) one.add(blocks)
  shipper.wrote(0, false)
  await rested()
})

test('where the first of two counts for nothing, tokens of both are sent again', async t => {
  const { store, whole, gate, underWay, rested, shipper, memory } = await twoUnderWay(t)
  const tokens = [...documentsIn(whole).values()].filter(({ kind, block }) => kind === 'token' && block <= 1)
  assert.ok(tokens.some(({ block }) => block === 1))
  const [first] = underWay()
  // As pruning does, though the block stays.
  store.writer.also(() => store.writer.shelf.prune(first!))
  // What the first one sent may be gone.
  const index = memory.indices().find(name => name.includes('-token-'))!
  for (const { id } of tokens) memory.loseDocument(`${index} ${id}`)
  gate.open()
  shipper.wrote(0, false)
  await rested()
})

/** Puts parts of blocks, each run as a segment, in place of the segments of some blocks. */
const putParts = (one: TestStore, runs: readonly RawBlock[][], instead: Range) => {
  const batches = runs.map(run => one.prepare(run.map(raw => partOf(raw, raw.receipts.length))))
  const replaces = createStoreLookups(one.db)
    .partial(instead)
    .map(({ id }) => id)
  assert.ok(one.writer.replace({ batches, replaces, notes: NO_NOTES }))
  for (const { added } of batches) one.preparer.committed(added)
}

const blocksWithTokens = (store: TestStore) =>
  [...documentsIn(store).values()].filter(({ kind }) => kind === 'token').map(({ block }) => block)

test('tokens that were sent with parts of blocks go where these go before they count', async t => {
  const all = { from: 0, to: blocks.length - 1 }
  const { store, whole, rested, shipper } = await twoUnderWay(t, one => putParts(one, [blocks], all))
  assert.ok(blocksWithTokens(whole).includes(1))
  const kept = blocks.filter((_, number) => number !== 1)
  for (const one of [store, whole]) putParts(one, [kept], all)
  shipper.wrote(0, false)
  await rested()
})

test('tokens of a batch that counts for nothing are not sent with the next one', async t => {
  const [store, whole] = [createTestStore(), createTestStore()]
  const memory = memoryCluster()
  const gate = gated(memory)
  const shipper = startShipper(store, gate.cluster, { batchBytes: ONE_BLOCK, blocksPerIndex: 5 })
  closing(t, () => shipper, store, whole)
  await shipper.rested()
  gate.hold()
  const taken = gate.taken()
  const put = (runs: RawBlock[][], instead: Range) => {
    for (const one of [store, whole]) putParts(one, runs, instead)
    shipper.wrote(0, false)
  }
  // The newest is shipped first.
  const [last, middle, newest] = [3, 1, 2].map((raw, i) => movedBlock(recorded[raw]!, i * 10, undefined, 0))
  put([[last!], [middle!], [newest!]], { from: 0, to: 20 })
  await until(() => gate.taken() === taken + 2)
  gate.holdIndices()
  gate.letWaiting()
  await until(gate.isMaking)
  put([[movedBlock(recorded[4]!, 10, undefined, 1)]], { from: 10, to: 10 })
  assert.ok(blocksWithTokens(whole).includes(10))
  gate.makeIndices()
  await until(() => gate.taken() === taken + 3)
  put([], { from: 10, to: 10 })
  gate.open()
  await shipper.rested()
  assert.deepEqual(visibleIn(memory.documents(), createShippedReader(store.db).visible()), documentsIn(whole))
})

test('tokens that one process was sending go where the next one has another branch', async t => {
  const [store, other] = [createTestStore(), createTestStore()]
  const memory = memoryCluster()
  const gate = gated(memory)
  let shipper = startShipper(store, gate.cluster)
  closing(t, () => shipper, store, other)
  for (const one of [store, other]) one.add(blocks.slice(0, 6))
  shipper.wrote(0, false)
  await shipper.rested()
  gate.hold()
  const taken = gate.taken()
  store.add(blocks.slice(6, 11))
  assert.ok(blocksWithTokens(store).some(block => block > 5))
  shipper.wrote(6, true)
  await until(() => gate.taken() > taken)
  const closed = shipper.close()
  gate.open()
  await closed
  // Without transactions.
  other.add([6, 7].map(number => movedBlock(recorded[0]!, number, undefined, 1)))
  shipper = startShipper(other, memory)
  await shipper.rested()
  assert.deepEqual(visibleIn(memory.documents(), createShippedReader(other.db).visible()), documentsIn(other))
})

test('tokens that change later are sent without indices for blocks that are not stored', async t => {
  const [store, whole] = [createTestStore(), createTestStore()]
  const memory = memoryCluster()
  const shipper = startShipper(store, memory, { blocksPerIndex: 100 })
  closing(t, () => shipper, store, whole)
  const high = recorded.slice(0, 40).map((raw, i) => movedBlock(raw, 2_200 + i, undefined, 0))
  for (const one of [store, whole]) one.add(high)
  shipper.wrote(2_200, true)
  await shipper.rested()
  const [changes, shipped] = [lastChange(store), visibleIn(memory.documents(), createShippedReader(store.db).visible())]
  store.writer.also(() => void store.db.prepare('UPDATE token SET change = change + ?').run(changes))
  const tokens = memory.indices().find(name => name.includes('-token-'))!
  for (const { kind, id } of shipped.values()) if (kind === 'token') memory.loseDocument(`${tokens} ${id}`)
  shipper.wrote(2_240, true)
  await shipper.rested()
  assert.deepEqual(visibleIn(memory.documents(), createShippedReader(store.db).visible()), documentsIn(whole))
  const ranges = memory.indices().map(name => name.slice(name.lastIndexOf('-') + 1))
  assert.deepEqual([...new Set(ranges)].sort(), ['000000', '000022'])
  assert.deepEqual(
    memory.indices().filter(name => name.endsWith('-000000')),
    [tokens],
  )
})

const lastChange = (store: TestStore): number =>
  store.db.prepare<[], number>('SELECT max(change) FROM token').pluck().get()!

test('a batch of a back-fill takes no further block when the head has one', async t => {
  const store = createTestStore()
  const memory = memoryCluster()
  const shelves: string[] = []
  let isHeadDue = false
  const head = recorded.slice(40, 42).map((raw, i) => movedBlock(raw, 60 + i, undefined, 0))
  const cluster: Cluster = {
    async ask(request) {
      // What is told before the first document.
      if (isHeadDue && request.path.includes('/_doc/')) {
        isHeadDue = false
        store.add(head)
        shipper.wrote(60, true)
      }
      if (request.path.endsWith('/_refresh'))
        shelves.push(
          createShippedReader(store.db)
            .visible()
            .ranges.map(({ from, to }) => `${from}-${to}`)
            .join(),
        )
      return memory.ask(request)
    },
    close: memory.close,
  }
  const shipper = startShipper(store, cluster)
  closing(t, () => shipper, store)
  await shipper.rested()
  store.add(blocks)
  isHeadDue = true
  shipper.wrote(0, false)
  await shipper.rested()
  assert.deepEqual([...new Set(shelves)], ['', '0-0', '0-0,60-61'])
})
