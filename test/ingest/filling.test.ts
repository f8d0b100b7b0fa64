import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type { RawBlock } from '../../src/chain/wire.ts'
import type { IndexJob, WorkSharing } from '../../src/ingest/messages.ts'
import { numberOf } from '../support/contents.ts'
import { dataFolder } from '../support/delivery.ts'
import { contentsIn, folderToIndex, indexIn, indexJob, logLines, serveTokens } from '../support/indexing.ts'
import { type FakeNode, firstTimes, NodeError, startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'
import { demoBlocks, generatedBlocks } from '../support/store.ts'

interface Options {
  job?: Partial<Extract<IndexJob, { type: 'index' }>>
  node?: { traces?: 'off' | 'calls' | 'all'; batch?: number; bloom?: boolean }
  storeBatch?: number
  sharing?: WorkSharing
  abi?: { file: string; address: string | null }
  /** Makes the node what it is. */
  play?: (node: FakeNode) => void
  /** What is stored before. */
  before?: readonly RawBlock[]
}

/** What a back-fill comes to: its error, what it says of the node, and where all of it is stored. */
const filled = async (t: TestContext, chain: readonly RawBlock[], indexers: number, options: Options = {}) => {
  const { job, storeBatch = 7, sharing = {}, abi, play, before, node: reach } = options
  const { data, store } = await folderToIndex(t, abi)
  const run = async (blocks: readonly RawBlock[], threads: number, play?: Options['play']) => {
    const node = await startNode(t, blocks)
    const traces = new Map(blocks.map(({ block, traces }) => [Number(block.number), traces]))
    node.methods.set('trace_block', ([number]) => structuredClone(traces.get(Number(number))) ?? [])
    serveTokens(node)
    play?.(node)
    const { lines, log } = logLines()
    const asked = indexJob(node, { from: { block: numberOf(blocks[0]!) }, ...job, node: reach ?? {} })
    const indexing = indexIn(t, data, asked, { storeBatch, indexers: threads, sharing: { blocks: 0, ...sharing }, log })
    const outcome = await indexing.ended.then(
      ({ blocks, logs, events, added }) => ({ blocks, logs, events, added }),
      (error: Error) => error.message,
    )
    const said = lines
      .filter(line => /usable|unlinked|not link/.test(line))
      .map(line => line.replaceAll(node.url, 'URL').replace(/^\S+ /, ''))
    return { outcome, said, lastError: indexing.report().endpoints[0]?.lastError }
  }
  if (before) await run(before, 1)
  return { ...(await run(chain, indexers, play)), store }
}

/** The same with several threads as with one. */
const same = async (t: TestContext, chain: readonly RawBlock[], options: Options = {}) => {
  const { store: ofOne, ...one } = await filled(t, chain, 1, options)
  for (const threads of [2, 4]) {
    const { store: ofSeveral, ...several } = await filled(t, chain, threads, options)
    assert.deepEqual(several, one)
    assert.deepStrictEqual(contentsIn(ofSeveral), contentsIn(ofOne))
  }
  return one
}

const blocksOf = ({ outcome }: Awaited<ReturnType<typeof same>>) =>
  typeof outcome === 'string' ? outcome : outcome.blocks

/** Real ones, with steps, contracts and tokens. */
const demo = demoBlocks().slice(0, 30)
/** As on mainnet, without steps. */
const generated = generatedBlocks(6)

describe('a back-fill from a node by several threads comes to what one makes of it', () => {
  it('in either order, with traces and without', async t => {
    const ways = [
      { order: 'newest', traces: 'all' },
      { order: 'oldest', traces: 'calls' },
      { order: 'newest', traces: 'off' },
    ] as const
    for (const { order, traces } of ways)
      assert.equal(blocksOf(await same(t, demo, { job: { order }, node: { traces } })), demo.length)
    assert.equal(blocksOf(await same(t, generated, { storeBatch: 4, node: { batch: 4 } })), generated.length)
  })

  it('when the memory that they share is full again and again', async t => {
    const room = { addresses: 1 << 11, texts: 40_000 }
    await same(t, generated, { storeBatch: 1, sharing: { room } })
  })

  it('when some blocks are stored already', async t => {
    const some = { before: demo.slice(0, 20), job: { from: { block: Number(demo[0]!.block.number) } } }
    assert.equal(blocksOf(await same(t, demo, some)), 10)
  })

  it('when a block at first does not link to a stored one', async t => {
    const [first, last] = [Number(demo[0]!.block.number), Number(demo[20]!.block.number)]
    const play = (node: FakeNode) => {
      const telling = firstTimes(2)
      node.lie = ({ method, params }, it) =>
        method === 'eth_getBlockByNumber' && Number(params[0]) === last && telling()
          ? { ...(it as object), parentHash: `0x${'34'.repeat(32)}` }
          : it
    }
    const job = { from: { block: first } }
    assert.equal(blocksOf(await same(t, demo, { before: demo.slice(0, 20), job, play })), 10)
  })

  it('by ABIs for all contracts, and for single ones', async t => {
    const file = join(await dataFolder(t), 'abi.json')
    writeFileSync(file, readFileSync(new URL('../../data/demo-abi.json', import.meta.url)))
    const address = demo.flatMap(({ receipts }) => receipts.flatMap(({ logs }) => logs))[0]!.address
    for (const abi of [
      { file, address: null },
      { file, address },
    ])
      await same(t, demo, { abi, node: { traces: 'all' } })
  })

  it('where a node has not all methods, or takes few calls at once', async t => {
    await same(t, demo, { play: node => void node.missing.set('eth_getBlockReceipts', MISSING) })
    await same(t, demo, { play: node => void node.missing.set('trace_block', MISSING), node: { traces: 'all' } })
    for (const batchLimit of [1, 5]) {
      const play = (node: FakeNode) => {
        node.batchLimit = batchLimit
      }
      const [one, several] = [await filled(t, demo, 1, { play }), await filled(t, demo, 2, { play })]
      assert.deepEqual(several.outcome, one.outcome)
      assert.deepStrictEqual(contentsIn(several.store), contentsIn(one.store))
    }
  })

  it('where a node lies for a while, and says the same of it', async t => {
    const target = demo[12]!
    const number = target.block.number
    const lies: [what: string, said: RegExp | undefined, lie: (method: string, result: unknown) => unknown][] = [
      // It is no fault of a node that it does not have a block.
      ['null', undefined, (method, result) => (method === BLOCK ? null : result)],
      [
        'an error',
        /went wrong/,
        (method, result) => (method === RECEIPTS ? new NodeError(-32000, 'went wrong') : result),
      ],
      ['too few receipts', /receipts/, (method, result) => (method === RECEIPTS ? (result as []).slice(1) : result)],
      ['no object', /./, (method, result) => (method === RECEIPTS ? 7 : result)],
    ]
    for (const [what, said, lie] of lies) {
      const found = await same(t, demo, {
        play(node) {
          const isTime = firstTimes(1)
          node.lie = ({ method, params }, result) => {
            if (params[0] !== number || params[1] === false || lie(method, result) === result) return result
            return isTime() ? lie(method, result) : result
          }
        },
      })
      assert.equal(blocksOf(found), demo.length, what)
      assert.match(found.lastError ?? '', said ?? /^$/, what)
      assert.match(found.said.join(), said ?? /^$/, what)
    }
  })

  it('where answers are none, or a limit is reached', async t => {
    const troubles = [
      [{ garbage: '<html>' }, /not a JSON-RPC answer: <html>/],
      [{ garbage: '[]' }, /^$/],
      [{ garbage: LIMITED }, /asks to slow down \(-32005: limit exceeded\)/],
    ] as const
    for (const [trouble, said] of troubles) {
      const found = await same(t, demo, {
        play(node) {
          const isTime = firstTimes(1)
          node.trouble = calls => (calls.length > 5 && isTime() ? trouble : undefined)
        },
      })
      assert.equal(blocksOf(found), demo.length)
      assert.match(found.said.join(), said)
    }
  })

  it('where the chain is reorganised while it is filled', async t => {
    const trunk = makeChain({ blocks: 60 })
    const branch = makeChain({ blocks: 40, parent: trunk[19]!, salt: 'branch' })
    // Blocks of the old branch come in between.
    const found = await same(t, [...trunk.slice(0, 20), ...branch], {
      storeBatch: 10,
      play(node) {
        const isTime = firstTimes(3)
        node.lie = ({ method, params }, result) => {
          const old = trunk[Number(params[0])]
          if (params[0] !== '0x1e' || !old || !(method === RECEIPTS || params[1] === true)) return result
          if (method === BLOCK && !isTime()) node.lie = (_, result) => result
          return structuredClone(method === BLOCK ? old.block : old.receipts)
        }
      },
    })
    assert.equal(blocksOf(found), 60)
    assert.match(found.said.join(), /do not link/)
  })
})

const BLOCK = 'eth_getBlockByNumber'
const RECEIPTS = 'eth_getBlockReceipts'
const MISSING = new NodeError(-32601, 'the method does not exist/is not available')
const LIMITED = JSON.stringify([{ jsonrpc: '2.0', id: 1, error: { code: -32005, message: 'limit exceeded' } }])
