import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RawBlock } from '../../src/chain/wire.ts'
import type { WorkSharing } from '../../src/ingest/messages.ts'
import { numberOf } from '../support/contents.ts'
import { contentsIn, folderToIndex, followJob, indexIn, readStore, reported, serveTokens } from '../support/indexing.ts'
import { startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'
import { demoBlocks } from '../support/store.ts'

const FINALITY = 4
/** Blocks that the back-fill waits for. */
const LOW = 8

interface Options {
  /** Blocks that the node has to begin with. */
  begins: number
  indexers: number
  sharing?: WorkSharing
}

/** A store that followed a chain while it was filled; `chain` is what the node has in the end. */
const followed = async (t: TestContext, chain: readonly RawBlock[], options: Options) => {
  const { begins, indexers, sharing = {} } = options
  const { data, store } = await folderToIndex(t)
  const node = await startNode(t, chain.slice(0, begins))
  node.methods.set('trace_block', () => [])
  serveTokens(node)
  // The lowest blocks come when the head is through.
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const low = numberOf(chain[LOW]!)
  node.trouble = async calls => {
    if (calls.some(({ method, params }) => method === RECEIPTS && Number(params[0]) < low)) await released
    return undefined
  }
  const job = followJob(node, {
    node: { pollMs: 10, batch: 4, concurrency: 2 },
    from: { block: numberOf(chain[0]!) },
    finality: FINALITY,
  })
  const indexing = indexIn(t, data, job, { storeBatch: 4, indexers, sharing: { blocks: 0, ...sharing } })
  await reported(indexing, ({ total, added }) => total > 0 && added.length > 0)
  /** Blocks above those that are filled, as they are found from time to time. */
  const heads: number[][] = []
  const first = numberOf(chain[begins]!)
  const look = () =>
    heads.push(
      readStore(store, db =>
        db.prepare<[number], number>('SELECT number FROM block WHERE number >= ? ORDER BY number').pluck().all(first),
      ),
    )
  for (const block of chain.slice(begins)) {
    node.extend([block])
    look()
    await sleep(25)
  }
  const tip = numberOf(chain.at(-1)!)
  await reported(indexing, ({ added }) => added.at(-1)?.to === tip)
  look()
  const { done, total } = indexing.report()
  assert.ok(done < total, 'the head does not wait for the back-fill')
  release()
  await reported(indexing, ({ done, total }) => done === total)
  await indexing.stop()
  assert.equal(indexing.error(), null)
  return { store, heads }
}

const RECEIPTS = 'eth_getBlockReceipts'

/** Each look finds what the one before did, and more above it. */
const checkOrder = (heads: readonly number[][], first: number) => {
  for (const numbers of heads)
    assert.deepEqual(
      numbers,
      numbers.map((_, i) => first + i),
    )
  for (let i = 1; i < heads.length; i++) assert.ok(heads[i]!.length >= heads[i - 1]!.length)
}

/** Real ones, with contracts and tokens. */
const demo = demoBlocks().slice(0, 44)

describe('a server that follows the head while it fills what is below', () => {
  it('comes to the same with several threads as with one, and takes blocks of the head in their order', async t => {
    const begins = 30
    const one = await followed(t, demo, { begins, indexers: 1 })
    const two = await followed(t, demo, { begins, indexers: 2 })
    const room = { addresses: 1 << 8, texts: 8000 }
    const cramped = await followed(t, demo, { begins, indexers: 2, sharing: { room } })
    for (const { heads } of [one, two, cramped]) checkOrder(heads, numberOf(demo[begins]!))
    const whole = contentsIn(one.store)
    assert.deepStrictEqual(contentsIn(two.store), whole)
    assert.deepStrictEqual(contentsIn(cramped.store), whole)
  })

  it('follows a reorganisation meanwhile', async t => {
    const trunk = makeChain({ blocks: 70 })
    const branch = makeChain({ blocks: 8, parent: trunk[61]!, salt: 'branch' })
    const chain = [...trunk.slice(0, 62), ...branch]
    // Two blocks come that the node leaves for those of the branch.
    const run = (indexers: number) =>
      followed(t, [...trunk.slice(0, 64), ...chain.slice(62)], {
        begins: 60,
        indexers,
      })
    const [one, two] = [await run(1), await run(2)]
    const found = contentsIn(two.store) as { contents: { blocks: { number: number; hash: unknown }[] } }
    assert.deepStrictEqual(found, contentsIn(one.store))
    assert.deepEqual(
      found.contents.blocks.map(({ number }) => number),
      chain.map(numberOf),
    )
  })
})
