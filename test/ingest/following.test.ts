import assert from 'node:assert/strict'
import { describe, it, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSpent } from '../../src/chain/budget/spent-file.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { newestBlock } from '../../src/engine/blocks.ts'
import { spentStem } from '../../src/engine/files.ts'
import { openForReading } from '../../src/engine/open.ts'
import type { WorkSharing } from '../../src/ingest/messages.ts'
import { offlineStatus } from '../../src/ingest/status/live.ts'
import { numberOf } from '../support/contents.ts'
import {
  contentsIn,
  folderToIndex,
  followJob,
  indexIn,
  logLines,
  NETWORK,
  readStore,
  reported,
  serveTokens,
  until,
} from '../support/indexing.ts'
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
    const four = await followed(t, demo, { begins, indexers: 4 })
    const room = { addresses: 1 << 8, texts: 8000 }
    const cramped = await followed(t, demo, { begins, indexers: 2, sharing: { room } })
    for (const { heads } of [one, two, four, cramped]) checkOrder(heads, numberOf(demo[begins]!))
    const whole = contentsIn(one.store)
    assert.deepStrictEqual(contentsIn(two.store), whole)
    assert.deepStrictEqual(contentsIn(four.store), whole)
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
    const [one, two, four] = [await run(1), await run(2), await run(4)]
    const found = contentsIn(two.store) as { contents: { blocks: { number: number; hash: unknown }[] } }
    assert.deepStrictEqual(found, contentsIn(one.store))
    assert.deepStrictEqual(contentsIn(four.store), found)
    assert.deepEqual(
      found.contents.blocks.map(({ number }) => number),
      chain.map(numberOf),
    )
  })
})

const BLOCK_MS = 200
const BEFORE = 20
/** Five blocks have one timestamp. */
const inSeconds = ({ block, ...rest }: RawBlock): RawBlock => ({
  ...rest,
  block: { ...block, timestamp: `0x${(1_700_000_000 + Math.floor(Number(block.number) / 5)).toString(16)}` },
})
test('blocks every 200 ms are followed with a lag of mostly two at most, though no pace was set', async t => {
  const chain = makeChain({ blocks: BEFORE + 11 }).map(inSeconds)
  const node = await startNode(t, chain.slice(0, BEFORE))
  const { data, store } = await folderToIndex(t)
  const job = followJob(node, { from: { block: 0 }, order: 'oldest', finality: 64 })
  const { pollMs: _, ...reach } = job.node
  const indexing = indexIn(t, data, { ...job, node: reach })
  const db = openForReading(store)
  t.after(() => void db.close())
  const newest = newestBlock(db)
  while (newest() < BEFORE - 1) await sleep(10)

  const lags: number[] = []
  for (let number = BEFORE, last = performance.now(); number < chain.length; ) {
    // Where the machine holds up this loop, those after it are as late.
    if (performance.now() - last >= BLOCK_MS) {
      node.extend([chain[number++]!])
      last = performance.now()
    }
    await sleep(10)
    // The pace is found out in the first blocks.
    if (number >= BEFORE + 5) lags.push(node.head - newest())
  }
  lags.sort((a, b) => a - b)
  // A machine that is busy with other tests holds up blocks now and then; test/chain/heads tells when each is asked for.
  assert.ok(lags[Math.floor(lags.length / 2)]! <= 2, `lags: ${lags.join(' ')}`)
  assert.equal(indexing.error(), null)
})

const DAILY = 400
const chain = makeChain({ blocks: 400, txs: 0 })
test('a back-fill waits for the next day and says so, the head goes on, and a restart does not ask again', async t => {
  const { data } = await folderToIndex(t)
  const node = await startNode(t, chain)
  const { lines, log } = logLines()
  const job = followJob(node, { node: { pollMs: 250, timeoutMs: 2_000, allowances: [{ daily: DAILY }] }, staleMs: 0 })
  const start = () => indexIn(t, data, job, { log })

  const first = start()
  await until(() => first.report().waiting?.kind === 'fill')
  const { waiting } = first.report()
  const midnight = new Date()
  midnight.setUTCHours(24, 0, 0, 0)
  assert.equal(waiting!.until, midnight.toISOString())
  node.extend(makeChain({ blocks: 5, txs: 0, parent: chain.at(-1)! }))
  await until(() => first.report().newest?.number === 404)
  await until(() => first.report().waiting?.kind === 'fill')
  const held = async () => ({ ranges: first.report().added, newest: null })
  const { networks } = await offlineStatus({ networks: () => [NETWORK], indexings: [first], held })
  assert.deepEqual(networks[0]!.waiting, waiting)
  const { day } = networks[0]!.endpoints[0]!.budget!
  assert.ok(day!.left > 0 && day!.left < DAILY / 10 + 20, `${day!.left}`)
  assert.equal(lines.filter(line => line.includes('A back-fill waits')).length, 1)
  const spent = () => first.report().endpoints[0]!.budget!.spent
  // A call is counted before the node has it.
  await until(() => node.calls.length === spent())
  await first.stop()
  assert.equal(node.calls.length, spent())
  const kept = openSpent(spentStem(data, NETWORK), log).at(node.url, '')
  assert.equal(kept.since(new Date().toISOString().slice(0, 10)), node.calls.length)

  node.calls.length = 0
  const second = start()
  await until(() => second.report().waiting?.kind === 'fill')
  node.extend(makeChain({ blocks: 1, txs: 0, parent: node.blocks.get(404)! }))
  await until(() => second.report().newest?.number === 405)
  assert.ok(node.calls.length < 30, `${node.calls.length}`)
})
