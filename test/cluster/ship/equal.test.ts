import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RawBlock } from '../../../src/chain/wire.ts'
import { createShippedReader } from '../../../src/engine/shipping/shipped-ranges.ts'
import { holds } from '../../../src/lib/ranges.ts'
import { memoryCluster, troubled } from '../../support/memory-cluster.ts'
import {
  closing,
  createRandom,
  documentsIn,
  movedBlock,
  type Shipped,
  startShipper,
  visibleIn,
  withoutTokens,
} from '../../support/ship.ts'
import { createTestStore, demoBlocks } from '../../support/store.ts'

/** A seed that ever failed is kept here. `SEEDS=50` tries so many. */
const SEEDS = process.env.SEEDS ? Array.from({ length: Number(process.env.SEEDS) }, (_, i) => i) : [2, 3]

for (const seed of SEEDS)
  test(`whatever happens, a cluster shows what a store does: seed ${seed}`, t => simulate(t, seed))

const STEPS = 16
/** Of a batch: with few of them two are under way most of the time. */
const BYTES = [30_000, 300_000, undefined]
const recorded = demoBlocks()

const simulate = async (t: TestContext, seed: number) => {
  const random = createRandom(seed)
  const batchBytes = BYTES[seed % BYTES.length]
  const start = () => startShipper(store, troubled(memory, random), batchBytes === undefined ? {} : { batchBytes })
  const store = createTestStore()
  // The same without a cluster: it keeps all documents.
  const whole = createTestStore()
  const memory = memoryCluster()
  let shipper = start()
  closing(t, () => shipper, store, whole)
  const chain: RawBlock[] = []
  const sources: number[] = []

  const grow = (count: number, salt: number) => {
    const fresh: RawBlock[] = []
    for (let i = 0; i < count; i++) {
      const source = (sources.at(-1) ?? -1) + 1 + (i === 0 ? random(2) : 0)
      if (source >= recorded.length) break
      sources.push(source)
      chain.push(movedBlock(recorded[source]!, chain.length, chain.at(-1), salt))
      fresh.push(chain.at(-1)!)
    }
    for (const one of [store, whole]) one.add(fresh)
    shipper.wrote(chain.length - fresh.length, random(2) === 0)
  }
  /** Blocks below are pruned. */
  let floor = 0
  const prune = (below: number) => {
    while (store.writer.prune({ below }));
    floor = store.read(() => store.reader.segments()[0]?.first ?? floor)
  }
  const cut = (at: number) => {
    const to = Math.max(at, floor)
    chain.length = to + 1
    sources.length = to + 1
    for (const one of [store, whole]) one.rollback(to)
  }
  const restart = async () => {
    await shipper.close()
    shipper = start()
  }

  for (let step = 0; step < STEPS; step++) {
    const what = random(20)
    if (what < 9 || chain.length === 0) grow(1 + random(30), step)
    else if (what < 13) cut(Math.max(0, chain.length - 2 - random(20)))
    else if (what === 13) cut(random(chain.length))
    else if (what < 16) await restart()
    else if (what < 18) while (store.writer.empty().more && random(10) > 0);
    else if (what === 18) prune(random(chain.length))
    await sleep(random(40))
    if (random(3) === 0)
      checkThere(visibleIn(memory.documents(), createShippedReader(store.db).visible()), store, whole)
  }
  grow(30, STEPS)
  while (store.writer.empty().more);
  await shipper.rested()
  const shelf = createShippedReader(store.db).visible()
  assert.deepEqual(shelf.ranges, [{ from: floor, to: chain.length - 1 }])
  const kept = new Map([...documentsIn(whole)].filter(([, { block }]) => block >= floor))
  assert.deepEqual(visibleIn(memory.documents(), shelf), kept)
  // Ten minutes later.
  store.db.exec('UPDATE hidden SET since = 0')
  shipper.wrote(0, false)
  await shipper.rested()
  assert.deepEqual(createShippedReader(store.db).shared().hidden, [])
  assert.deepEqual(visibleIn(memory.documents(), { hidden: [], ranges: [] }), kept)
}

/** Of the blocks that are there all is, and of others nothing. Tokens change, and follow with the next batch. */
const checkThere = (found: Map<string, Shipped>, store: ReturnType<typeof createTestStore>, whole: typeof store) => {
  const { ranges } = createShippedReader(store.db).visible()
  assert.deepEqual(
    withoutTokens(found),
    withoutTokens(documentsIn(whole), ({ block }) => holds(ranges, block)),
  )
}
