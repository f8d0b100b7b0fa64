import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { PatchLine } from '../../src/cluster/ship/sending.ts'
import type { StoredAbi } from '../../src/ingest/decoding/abi-files.ts'
import { noteStoreDone, openRedecodings } from '../../src/ingest/requests.ts'
import { memoryCluster } from '../support/memory-cluster.ts'
import { ABIS, blocks, endable, LISTS, setUp } from '../support/redecoding.ts'
import { emptied, emptyUpTo, inCluster, same } from '../support/redecoding-cluster.ts'
import { createRandom, documentsIn, startShipper, type TestShipper } from '../support/ship.ts'
import { createTestStore } from '../support/store.ts'

test('documents in a cluster are decoded again as if the ABIs had been there from the start, with kills at any moment', async t => {
  const { keep, ask, run, own, clear, folder } = setUp(t)
  let [patched, killed, deep] = [0, 0, 0]
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray([...ABIS, ...LISTS], { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 95, max: 123 }),
      fc.integer({ min: 1, max: 9 }),
      fc.nat(),
      async (some: StoredAbi[], depth, runs, seed) => {
        clear()
        const random = createRandom(seed)
        const later = some.slice(random(some.length))
        for (const abi of some) if (!later.includes(abi)) keep(abi)
        const store = createTestStore(blocks, { own: own(), run: runs })
        const memory = memoryCluster()
        const shipper: TestShipper = startShipper(store, memory)
        const whole = createTestStore(blocks, { own: own(), run: runs })
        try {
          await shipper.rested()
          same(store, memory, whole)
          emptyUpTo(store, depth)
          deep += emptied(store)
          for (const abi of later) {
            keep(abi)
            ask(abi)
          }
          await run(whole)
          for (const abi of later) ask(abi)
          for (let kills = 1 + random(3); ; kills--) {
            const wasKilled = await endable((end, signal) =>
              run(store, {
                signal,
                ...inCluster(store, memory, async (lines: readonly PatchLine[]) => {
                  const isLast = kills > 0 && random(3) === 0
                  // A part of the documents is written, or all of them and nobody knows.
                  const written = isLast && random(2) === 0 ? lines.filter(() => random(2) === 0) : lines
                  patched += written.length
                  const done = await shipper.patch(written)
                  return isLast ? end() : { done }
                }),
              }),
            )
            if (!wasKilled) break
            killed++
            if (random(2) === 0) continue
            // Some blocks are left by the chain, and come again.
            const to = 99 + random(blocks.length)
            for (const one of [store, whole]) one.rollback(to)
            shipper.removed(to)
            for (const one of [store, whole]) one.add(blocks.slice(to - 99))
            shipper.wrote(to + 1, true)
            await shipper.rested()
          }
          same(store, memory, whole)
          assert.deepEqual(openRedecodings(folder), [])
        } finally {
          await shipper.close()
          for (const one of [store, whole]) one.close()
        }
      },
    ),
    { seed: 3, numRuns: 7, endOnFailure: true },
  )
  t.diagnostic(`${patched} documents patched, ${killed} kills, ${deep} blocks emptied`)
  assert.ok(patched > 100 && killed > 1 && deep > 20, `${patched} ${killed} ${deep}`)
})

test('what was still to be decoded again in a cluster is decoded again in the file, once documents have come back', async t => {
  const { keep, ask, run, own, folder } = setUp(t)
  const [abi] = ABIS
  const store = createTestStore(blocks, { own: own() })
  keep(abi!)
  const whole = createTestStore(blocks, { own: own() })
  t.after(() => {
    for (const one of [store, whole]) one.close()
  })
  ask(abi!)
  noteStoreDone(openRedecodings(folder)[0]!)
  await run(store)
  assert.deepEqual(documentsIn(store), documentsIn(whole))
  assert.deepEqual(openRedecodings(folder), [])
})
