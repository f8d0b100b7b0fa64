import assert from 'node:assert/strict'
import { cpSync, existsSync } from 'node:fs'
import { describe, it, type TestContext } from 'node:test'
import type { RawBlock } from '../../src/chain/wire.ts'
import { createBlocks } from '../../src/engine/blocks.ts'
import type { PruneLimits } from '../../src/engine/prune.ts'
import { blockOf } from '../../src/engine/schema.ts'
import { verifyContents } from '../../src/engine/verify.ts'
import { KINDS } from '../../src/mapping/index.ts'
import { checkSegments, contentsOf, documentsOf, events, numberOf, queriesOn } from '../support/contents.ts'
import { tempFolder } from '../support/pack.ts'
import { createTestStore, demoBlocks, type TestStore } from '../support/store.ts'

const blocks = demoBlocks().slice(0, 140)

const open = async (t: TestContext, count = 140): Promise<TestStore> => {
  const path = await (await tempFolder(t))('network.sqlite', '')
  const store = createTestStore([], { path, events })
  addApart(store, blocks.slice(0, count))
  t.after(() => store.close())
  return store
}

/** In segments of seven blocks, which are not merged. */
const addApart = (store: TestStore, blocks: readonly RawBlock[]) => {
  for (let at = 0; at < blocks.length; at += 7) {
    const batch = store.prepare(blocks.slice(at, at + 7))
    store.writer.apply(batch)
    store.preparer.committed(batch.added)
  }
}

const prune = (store: TestStore, limits: PruneLimits, between = () => {}) => {
  while (store.writer.prune(limits)) between()
}

const rangesOf = (store: TestStore) => createBlocks(store.db).ranges()
const rowsOf = (store: TestStore): number =>
  ['block', 'tx', 'log', 'trace', 'call', 'post', 'col', 'num'].reduce(
    (sum, table) => sum + (store.db.prepare(`SELECT count(*) FROM "${table}"`).pluck().get() as number),
    0,
  )

const faultsOf = (path: string): string[] => {
  for (const steps = verifyContents(path, true); ; ) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

describe('pruning', () => {
  it('takes whole segments out of sight, and every answer is that of before without them', async t => {
    const store = await open(t)
    const queries = queriesOn(store, 4)
    const before = queries.map(([kind, node]) => store.evaluate(kind, node).positions)
    const documents = documentsOf(store)
    const positions = new Map(KINDS.map(kind => [kind, store.positions(kind)]))
    const seen = new Set<number>()
    const compare = () => {
      checkSegments(store)
      const [first] = store.read(() => store.reader.segments())
      if (seen.has(first!.first)) return
      seen.add(first!.first)
      for (const [i, [kind, node]] of queries.entries())
        assert.deepEqual(
          store.evaluate(kind, node).positions,
          before[i]!.filter(position => blockOf(position) >= first!.first),
        )
      for (const kind of KINDS) {
        const kept = documents[kind]!.filter((_, i) => blockOf(positions.get(kind)![i]!) >= first!.first)
        assert.deepEqual(store.all(kind), kept)
      }
    }
    prune(store, { below: numberOf(blocks[60]!) }, compare)
    assert.ok(seen.size > 1)
    const from = rangesOf(store)[0]!.from
    assert.ok(from > numberOf(blocks[0]!) && from <= numberOf(blocks[60]!))
    assert.equal(createBlocks(store.db).floor(), numberOf(blocks[60]!))
    assert.deepEqual(faultsOf(store.path), [])
  })

  it('leaves nothing of the blocks but what decoding needs, and the newest blocks in any case', async t => {
    const [store, kept] = [await open(t), await open(t, 0)]
    const all = rowsOf(store)
    prune(store, { below: Number.MAX_SAFE_INTEGER })
    const { from, to } = rangesOf(store)[0]!
    assert.equal(to, numberOf(blocks[139]!))
    assert.ok(to - from >= 63 && to - from < 120)
    addApart(
      kept,
      blocks.filter(block => numberOf(block) >= from),
    )
    const share = rowsOf(store) / all
    assert.ok(share < 0.95, `${share}`)
    assert.deepEqual(contentsOf(store).rows, contentsOf(kept).rows)
    assert.deepEqual(contentsOf(store).blocks, contentsOf(kept).blocks)
    assert.equal(store.db.prepare("SELECT count(*) FROM meta WHERE key = 'pruning'").pluck().get(), 0)
    assert.equal(store.db.prepare('SELECT count(*) FROM dropped').pluck().get(), 0)
  })

  it('goes by the number of blocks and by their time', async t => {
    const byNumber = await open(t)
    prune(byNumber, { keepBlocks: 80 })
    const first = (store: TestStore) => rangesOf(store)[0]!.from
    assert.ok(first(byNumber) > numberOf(blocks[0]!) && first(byNumber) <= numberOf(blocks[60]!))
    const byTime = await open(t)
    prune(byTime, { keepSeconds: Number(blocks.at(-1)!.block.timestamp) - Number(blocks[60]!.block.timestamp) })
    assert.equal(first(byTime), first(byNumber))
    assert.equal(createBlocks(byTime.db).floor(), first(byTime))
  })

  it('goes by the time of the chain, whatever the clock says', async t => {
    const newest = Number(blocks.at(-1)!.block.timestamp)
    const half = newest - Number(blocks[60]!.block.timestamp)
    const rangesAt = async (now: number, chain: readonly RawBlock[] = blocks) => {
      t.mock.timers.enable({ apis: ['Date'], now: now * 1_000 })
      const store = await open(t, 0)
      addApart(store, chain)
      prune(store, { keepSeconds: half })
      t.mock.timers.reset()
      return rangesOf(store)
    }
    const YEAR = 365 * 86_400
    const right = await rangesAt(newest)
    assert.ok(right[0]!.from > numberOf(blocks[0]!))
    assert.deepEqual(await rangesAt(newest + YEAR), right)
    // A clock that is behind keeps more.
    const all = [{ from: numberOf(blocks[0]!), to: numberOf(blocks.at(-1)!) }]
    assert.deepEqual(await rangesAt(newest - 86_400), all)
    // A block from the future makes no other block old.
    const { block, ...rest } = blocks.at(-1)!
    const leaping = [
      ...blocks.slice(0, -1),
      { ...rest, block: { ...block, timestamp: `0x${(newest + YEAR).toString(16)}` } },
    ]
    assert.deepEqual((await rangesAt(newest, leaping))[0]!.from, right[0]!.from)
  })

  it('lets blocks come again, also while what was pruned is still being removed', async t => {
    const [store, other] = [await open(t), await open(t)]
    const steps = { left: 4 }
    while (store.writer.prune({ below: numberOf(blocks[60]!) }) && steps.left-- > 0);
    const from = rangesOf(store)[0]!.from
    addApart(
      store,
      blocks.filter(block => numberOf(block) < from),
    )
    prune(store, { floor: 0 })
    assert.equal(createBlocks(store.db).floor(), 0)
    assert.deepEqual(contentsOf(store), contentsOf(other))
    assert.deepEqual(documentsOf(store), documentsOf(other))
    assert.deepEqual(faultsOf(store.path), [])
  })

  it('goes on where a kill has ended it, with blocks of the head in between', async t => {
    const store = await open(t, 130)
    let next = 130
    const limits = { below: numberOf(blocks[60]!) }
    let steps = 0
    const folder = await tempFolder(t)
    const copies: string[] = []
    while (store.writer.prune(limits)) {
      const copy = await folder(`copy-${steps}.sqlite`, '')
      if (steps++ % 6 !== 0) continue
      for (const suffix of ['', '-wal', '-sums'])
        if (existsSync(store.path + suffix)) cpSync(store.path + suffix, copy + suffix)
      copies.push(copy)
      if (next < 140) addApart(store, [blocks[next++]!])
    }
    addApart(store, blocks.slice(next))
    const expected = { ...contentsOf(store), index: undefined, numbers: undefined }
    for (const copy of copies) {
      const again = createTestStore([], { path: copy, events })
      prune(again, limits)
      const newest = rangesOf(again).at(-1)!.to
      addApart(
        again,
        blocks.filter(block => numberOf(block) > newest),
      )
      assert.deepEqual({ ...contentsOf(again), index: undefined, numbers: undefined }, expected)
      again.close()
      assert.deepEqual(faultsOf(copy), [])
    }
    assert.ok(copies.length > 1)
  })
})
