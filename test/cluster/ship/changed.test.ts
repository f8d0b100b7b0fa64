import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RawBlock } from '../../../src/chain/wire.ts'
import { NO_NOTES } from '../../../src/engine/coverage.ts'
import { createStoreLookups } from '../../../src/engine/dictionary-reader.ts'
import { createShippedReader } from '../../../src/engine/shipping/shipped-ranges.ts'
import { memoryCluster, troubled } from '../../support/memory-cluster.ts'
import { closing, createRandom, documentsIn, movedBlock, partOf, startShipper, visibleIn } from '../../support/ship.ts'
import { createTestStore, demoBlocks } from '../../support/store.ts'

const LAST = 60
const recorded = demoBlocks().filter(({ receipts }) => receipts.length > 1)

/** A seed that ever failed is kept here. `SEEDS=50` tries so many. */
const SEEDS = process.env.SEEDS ? Array.from({ length: Number(process.env.SEEDS) }, (_, i) => i) : [4]

for (const seed of SEEDS)
  test(`parts of blocks that change again and again are in a cluster as in the store, whatever happens: seed ${seed}`, async t => {
    // How often a cluster is asked depends on the time: the history does not.
    const [random, trouble] = [createRandom(seed), createRandom(~seed)]
    const store = createTestStore()
    const memory = memoryCluster()
    let shipper = startShipper(store, troubled(memory, trouble))
    closing(t, () => shipper, store)
    const { partial } = createStoreLookups(store.db)
    /** How many transactions of each block are stored. */
    const stored = new Map<number, number>()
    const chain = new Map<number, RawBlock>()

    const change = (first: number, last: number, salt: number) => {
      for (let number = first; number <= last; number++) {
        if (random(2) === 0) continue
        chain.set(number, chain.get(number) ?? movedBlock(recorded[number]!, number, chain.get(number - 1), salt))
        stored.set(number, random(recorded[number]!.receipts.length + 1))
      }
      const segments = partial({ from: first, to: last })
      const isTouched = (number: number) =>
        (number >= first && number <= last) || segments.some(it => number >= it.first && number <= it.last)
      const parts = [...stored]
        .filter(([number, count]) => count > 0 && isTouched(number))
        .sort(([a], [b]) => a - b)
        .map(([number, count]) => partOf(chain.get(number)!, count))
      const batches = parts.length > 0 ? [store.prepare(parts)] : []
      assert.ok(store.writer.replace({ batches, replaces: segments.map(({ id }) => id), notes: NO_NOTES }))
      for (const { added } of batches) store.preparer.committed(added)
      shipper.wrote(Number.POSITIVE_INFINITY, false)
    }

    for (let step = 0; step < 24; step++) {
      const what = random(12)
      const first = random(LAST)
      if (what < 7) change(first, Math.min(LAST, first + random(20)), step)
      else if (what === 7) {
        const to = Math.floor(LAST / 3) + random(LAST)
        store.rollback(to)
        for (const number of [...stored.keys()].filter(number => number > to)) {
          stored.delete(number)
          chain.delete(number)
        }
        shipper.removed(to)
      } else if (what < 10) {
        await shipper.close()
        shipper = startShipper(store, troubled(memory, trouble))
      } else if (store.writer.empty().more) await sleep(1)
      await sleep(random(60))
    }
    change(0, LAST, 24)
    await shipper.rested()
    const check = () => {
      const shelf = createShippedReader(store.db).visible()
      const [found, wanted] = [visibleIn(memory.documents(), shelf), documentsIn(store)]
      for (const [key, document] of wanted) assert.deepEqual(found.get(key), document, key)
      for (const key of found.keys()) assert.ok(wanted.has(key), `${key} is too much`)
      return found.size
    }
    assert.ok(check() > 100)
    // Ten minutes later.
    store.db.exec('UPDATE hidden SET since = 0')
    shipper.wrote(0, false)
    await shipper.rested()
    assert.deepEqual(createShippedReader(store.db).shared().hidden, [])
    check()
  })
