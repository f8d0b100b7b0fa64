import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Cluster } from '../../../src/cluster/connection/cluster.ts'
import { createShippedReader } from '../../../src/engine/shipping/shipped-ranges.ts'
import { memoryCluster } from '../../support/memory-cluster.ts'
import { closing, documentsIn, movedBlock, startShipper, visibleIn } from '../../support/ship.ts'
import { createTestStore, demoBlocks, type TestStore } from '../../support/store.ts'

const recorded = demoBlocks()
const blocks = recorded.slice(0, 40).map((raw, number) => movedBlock(raw, number, undefined, 0))
/** Each block is a batch of its own. */
const ONE_BLOCK = 1

/** A cluster that shows nothing until it is let. */
const gated = (cluster: Cluster) => {
  let waiting: (() => void)[] = []
  let isOpen = true
  let asked = 0
  let taken = 0
  return {
    hold: () => {
      isOpen = false
    },
    /** How many requests to show documents there were. */
    asked: () => asked,
    /** How many requests with documents were answered. */
    taken: () => taken,
    open: () => {
      isOpen = true
      for (const go of waiting) go()
      waiting = []
    },
    cluster: {
      async ask(request) {
        if (request.path.endsWith('/_refresh')) {
          asked++
          if (!isOpen) await new Promise<void>(resolve => waiting.push(resolve))
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

const twoUnderWay = async (t: TestContext) => {
  const [store, whole] = [createTestStore(), createTestStore()]
  const memory = memoryCluster()
  const gate = gated(memory)
  const shipper = startShipper(store, gate.cluster, { batchBytes: ONE_BLOCK })
  closing(t, () => shipper, store, whole)
  await shipper.rested()
  gate.hold()
  const [asked, taken] = [gate.asked(), gate.taken()]
  for (const one of [store, whole]) one.add(blocks)
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
