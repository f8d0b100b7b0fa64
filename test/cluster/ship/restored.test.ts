import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { reachedBySearches } from '../../../src/cluster/indices/lost-indices.ts'
import { readIndices, readState } from '../../../src/cluster/ship/shared-state.ts'
import { createIndexIdentities } from '../../../src/engine/shipping/index-identities.ts'
import { createShippedReader } from '../../../src/engine/shipping/shipped-ranges.ts'
import { KINDS } from '../../../src/mapping/index.ts'
import { memoryCluster, type Snapshot } from '../../support/memory-cluster.ts'
import { documentsIn, movedBlock, SHIPPED, startShipper, visibleIn, withoutTokens } from '../../support/ship.ts'
import { createTestStore, demoBlocks, type TestStore } from '../../support/store.ts'

const chain = demoBlocks()
const NAMING = { prefix: 'test', blocksPerIndex: 100 }

/** Blocks by tens, which a cluster of its own gets; `whole` has the same, and never ships. */
const shipping = (t: TestContext) => {
  const [store, whole] = [createTestStore([], { run: 10 }), createTestStore([], { run: 10 })]
  const memory = memoryCluster()
  let shipper: ReturnType<typeof startShipper> | undefined
  t.after(async () => {
    await shipper?.close()
    for (const one of [store, whole]) one.close()
  })
  const addTo = (to: TestStore, blocks: typeof chain) => {
    for (let at = 0; at < blocks.length; at += 10) {
      const batch = to.prepare(blocks.slice(at, at + 10))
      to.writer.apply(batch)
      to.preparer.committed(batch.added)
    }
  }
  const rest = async () => {
    shipper!.wrote(Number.POSITIVE_INFINITY, false)
    await shipper!.rested()
  }
  const shelf = () => createShippedReader(store.db).visible()
  return {
    ...{ memory, store, whole, rest },
    async restart() {
      await shipper?.close()
      shipper = startShipper(store, memory)
      await shipper.rested()
    },
    add(blocks: typeof chain) {
      for (const one of [store, whole]) addTo(one, blocks)
    },
    rollback(to: number) {
      for (const one of [store, whole]) one.rollback(to)
      shipper!.removed(to)
    },
    /** Documents of blocks below this one have left the store. */
    empty: (below: number) => store.db.exec(`UPDATE segment SET emptied = 1 WHERE last < ${below}`),
    index: (kind: string) => memory.indices().find(name => name.includes(`-${kind}-000000`))!,
    shown: () => visibleIn(memory.documents(), shelf()),
    due: () => documentsIn(whole),
    lost: async () =>
      (await reachedBySearches(memory, NAMING, SHIPPED, shelf().ranges, createIndexIdentities(store.db).of)).lost,
    /** As an operator does who restores a whole snapshot. */
    snapshots: () => new Map(memory.indices().map(index => [index, memory.snapshot(index)])),
    restore(snapshots: ReadonlyMap<string, Snapshot>) {
      for (const [index, snapshot] of snapshots) memory.restore(index, snapshot)
    },
  }
}

test('indices that were restored as they were count until they are compared, and then count again', async t => {
  const { memory, add, empty, restart, snapshots, restore, lost, shown, due } = shipping(t)
  add(chain.slice(0, 180))
  await restart()
  empty(100)
  restore(snapshots())
  assert.deepEqual(
    (await lost()).map(({ index, instead }) => [index, typeof instead]).toSorted(),
    memory
      .indices()
      .toSorted()
      .map(index => [index, 'string']),
  )
  await restart()
  assert.deepEqual([await lost(), shown()], [[], due()])
})

test('what a restored index lacks is shipped again, as far as the store has it', async t => {
  const { add, restart, snapshots, restore, lost, shown, due, rest } = shipping(t)
  add(chain.slice(0, 60))
  await restart()
  const older = snapshots()
  add(chain.slice(60, 90))
  await rest()
  restore(older)
  assert.notDeepEqual(shown(), due())
  await restart()
  assert.deepEqual([await lost(), shown()], [[], due()])
})

for (const kind of KINDS.filter(kind => kind !== 'token'))
  test(`an index of ${kind} that was restored from an older snapshot counts as lost, until it is whole or given up`, async t => {
    const { memory, store, add, empty, restart, snapshots, restore, lost, shown, due, rest, index } = shipping(t)
    add(chain.slice(0, 60))
    await restart()
    const name = index(kind)
    const older = memory.snapshot(name)
    add(chain.slice(60, 130))
    await rest()
    const newer = memory.snapshot(name)
    if (!isOther(older, newer)) return t.skip(`no ${kind} in these blocks`)
    empty(100)
    restore(new Map([[name, older]]))
    for (let look = 0; look < 2; look++) {
      await restart()
      assert.deepEqual(
        (await lost()).map(({ index, blocks }) => ({ index, blocks })),
        [{ index: name, blocks: [{ from: 0, to: 99 }] }],
      )
    }
    restore(new Map([[name, newer]]))
    await restart()
    assert.deepEqual([await lost(), shown()], [[], due()])

    restore(new Map([...snapshots()].map(([one, now]) => [one, one === name ? older : now])))
    await restart()
    assert.equal((await lost()).length, 1)
    while (store.writer.forget([{ from: 0, to: 99 }], [name]));
    await rest()
    assert.deepEqual([await lost(), withoutTokens(shown())], [[], withoutTokens(due(), ({ block }) => block >= 100)])
  })

const isOther = (one: Snapshot, other: Snapshot) => one.entries.length !== other.entries.length

test('documents of a branch that the chain left, and of pruned blocks, do not come back with a snapshot', async t => {
  const { add, rollback, empty, restart, snapshots, restore, lost, shown, due, rest, store } = shipping(t)
  const blocks = chain.slice(0, 80).map((raw, number) => movedBlock(raw, number, undefined, 0))
  const branch = chain.slice(60, 80).map((raw, i) => movedBlock(raw, 60 + i, undefined, 1))
  add(blocks)
  await restart()
  const older = snapshots()
  rollback(59)
  add(branch)
  await rest()
  // Nothing tells of it any more.
  store.db.exec('DELETE FROM hidden')
  restore(older)
  assert.notDeepEqual(shown(), due())
  await restart()
  assert.deepEqual([await lost(), shown()], [[], due()])

  // The same where no store has them: what is there is of another branch, though it is as much.
  const newer = snapshots()
  empty(80)
  restore(older)
  await restart()
  assert.ok((await lost()).length > 0)
  restore(newer)
  await restart()
  assert.deepEqual([await lost(), shown()], [[], due()])
})

test('tokens are shipped again where their index was restored', async t => {
  const { memory, add, restart, restore, lost, shown, due, rest, index } = shipping(t)
  add(chain.slice(0, 60))
  await restart()
  const older = memory.snapshot(index('token'))
  add(chain.slice(60, 130))
  await rest()
  restore(new Map([[index('token'), older]]))
  await restart()
  assert.deepEqual([await lost(), shown()], [[], due()])
})

test('a store that an older version shipped takes indices as they are, and others are told by what they are known', async t => {
  const { memory, store, add, restart, index, lost } = shipping(t)
  add(chain.slice(0, 60))
  await restart()
  const known = createIndexIdentities(store.db)
  store.db.exec("DELETE FROM meta WHERE key LIKE 'index:%' OR key = 'indices'")
  await restart()
  const all = known.all()
  assert.deepEqual(Object.keys(all).sort(), memory.indices().toSorted())
  const at = 'test-ethereum-made-up-mainnet-state'
  const told = async () => readIndices(memory, at, (await readState(memory, at))!, undefined)
  assert.deepEqual(await told(), { serial: known.serial(), indices: all })
  memory.restore(index('log'), memory.snapshot(index('log')))
  assert.equal((await lost()).length, 1)
  await restart()
  assert.notEqual(known.of(index('log')), all[index('log')])
  assert.deepEqual(await told(), { serial: known.serial(), indices: known.all() })
})
