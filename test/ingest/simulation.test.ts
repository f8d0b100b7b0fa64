import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { RawBlock } from '../../src/chain/wire.ts'
import { storeFile } from '../../src/engine/files.ts'
import { createSearcher } from '../../src/engine/query/searcher.ts'
import { openReader } from '../../src/engine/reader.ts'
import type { Indexing } from '../../src/ingest/network.ts'
import { ChainsieveError } from '../../src/lib/errors.ts'
import { answerSearch } from '../../src/search/answer.ts'
import { dataFolder } from '../support/delivery.ts'
import { followJob, indexIn, logLines, NETWORK } from '../support/indexing.ts'
import { startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'

/**
 * A chain that grows and is reorganised while it is filled and followed, a node that fails now and then, and a program that is stopped and
 * started: whatever happens, in the end the store holds the node's chain, and its index finds what is in it.
 */

const FINALITY = 12

/** A seed that ever failed is kept here. */
const SEEDS = [1, 2, 3, 4]

for (const seed of SEEDS) test(`seed ${seed}`, t => simulate(t, seed))

test('there were reorganisations to follow', () => assert.ok(reorganisations > 0))
let reorganisations = 0

const simulate = async (t: TestContext, seed: number) => {
  const random = createRandom(seed)
  const indexers = [1, 2, 4][seed % 3]!
  const data = await dataFolder(t)
  const chain = makeChain({ blocks: 150 + random(100) })
  const node = await startNode(t, chain)
  const { lines, log } = logLines()
  const ws = random(2) === 0

  let indexing: Indexing | undefined
  const start = () => {
    const job = followJob(node, {
      node: { ...(ws && { wsUrl: node.wsUrl }), pollMs: 10, timeoutMs: 300 },
      order: random(2) === 0 ? 'newest' : 'oldest',
      finality: FINALITY,
    })
    indexing = indexIn(t, data, job, { storeBatch: 1 + random(20), indexers, sharing: { blocks: 0 }, log })
  }
  const stop = async () => {
    await indexing?.stop()
    assert.equal(indexing?.error() ?? null, null, lines.join('\n'))
    indexing = undefined
  }

  const grow = (length: number, depth = 0, salt = '') => {
    chain.length -= depth
    const branch = makeChain({ blocks: length, parent: chain.at(-1)!, txs: random(4), salt })
    chain.push(...branch)
    node.extend(branch)
    if (ws) node.announce()
  }

  start()
  for (let step = 0; step < 40; step++) {
    // Threads take their time to start, in which nothing would happen to them.
    for (let waited = 0; indexing && indexing.report().head === null && waited < 40; waited++) await pause(20)
    await pause(random(60))
    const what = random(20)
    if (what < 9) grow(1 + random(2))
    else if (what < 13) {
      // A branch that wins is longer than what it replaces.
      const depth = 1 + random(FINALITY - 3)
      grow(depth + random(3), depth, `${seed} ${step}`)
    } else if (what < 16) {
      let left = 1 + random(4)
      const trouble = ([{ status: 503 }, 'reset', { garbage: '<html>' }, 'hang'] as const)[random(4)]!
      node.trouble = () => (left-- > 0 ? trouble : undefined)
    } else if (what < 17) node.dropSubscribers()
    else if (what < 19) {
      if (indexing) await stop()
      else start()
    }
    assert.equal(indexing?.error() ?? null, null, lines.join('\n'))
  }
  node.trouble = () => undefined
  grow(1)
  if (!indexing) start()
  const tip = chain.at(-1)!.block.hash
  const end = Date.now() + 120_000
  for (;;) {
    const { blocks, complete } = stored(data, chain.length)
    if (complete && blocks.at(-1) === tip) break
    assert.equal(indexing!.error(), null, lines.join('\n'))
    assert.ok(Date.now() < end, `${JSON.stringify(indexing!.report())}\n${lines.join('\n')}`)
    await pause(30)
  }
  await stop()
  check(data, chain)
  const followed = lines.filter(line => line.includes('Followed a reorganisation')).length
  t.diagnostic(`${followed} reorganisations`)
  reorganisations += followed
}

const search = (data: string, entities: string, body: object) => {
  const reader = openReader(storeFile(data, NETWORK))
  try {
    const options = { deadline: performance.now() + 120_000 }
    const { body: whole } = answerSearch(createSearcher(reader), 'test', entities, JSON.stringify(body), options)
    const text = (
      whole instanceof Uint8Array
        ? Buffer.from(whole)
        : Buffer.concat(Array.from(whole.parts, part => Buffer.from(part)))
    ).toString()
    return (JSON.parse(text) as { hits: { total: number; hits: { _id: string }[] } }).hits
  } finally {
    reader.close()
  }
}

const stored = (data: string, length: number) => {
  try {
    const { hits } = search(data, 'block', { size: -1, sort: { 'number.num': 'asc' }, _source: false })
    return { blocks: hits.map(it => it._id), complete: hits.length === length }
  } catch (error) {
    // The chain was reorganised while it was read.
    if (!(error instanceof ChainsieveError) || error.next !== 'retry') throw error
    return { blocks: [], complete: false }
  }
}

/** The store against the chain: every document's id, and what indexes find. */
const check = (data: string, chain: readonly RawBlock[]) => {
  const ids = (entity: string, query?: object) =>
    search(data, entity, { size: -1, sort: '_doc', _source: false, ...(query && { query }) }).hits.map(({ _id }) => _id)
  assert.deepEqual(
    ids('block'),
    chain.map(({ block }) => block.hash),
  )
  const txs = chain.flatMap(({ block }) => block.transactions)
  assert.deepEqual(
    ids('tx'),
    txs.map(({ hash }) => hash),
  )
  const logs = chain.flatMap(({ receipts }) => receipts.flatMap(({ logs }) => logs))
  const idOf = ({ transactionHash, logIndex }: (typeof logs)[number]) => `${transactionHash}_l_${Number(logIndex)}`
  assert.deepEqual(ids('log'), logs.map(idOf))
  for (const address of new Set(logs.map(log => log.address)))
    assert.deepEqual(ids('log', { term: { address } }), logs.filter(log => log.address === address).map(idOf))
  for (const from of new Set(txs.map(tx => tx.from)))
    assert.deepEqual(
      ids('tx', { term: { from } }),
      txs.filter(tx => tx.from === from).map(({ hash }) => hash),
    )
  const middle = chain[chain.length >> 1]!
  assert.deepEqual(ids('block', { ids: { values: [middle.block.hash] } }), [middle.block.hash])
  assert.deepEqual(
    ids('tx', { term: { blockHash: chain.at(-1)!.block.hash } }),
    chain.at(-1)!.block.transactions.map(({ hash }) => hash),
  )
}

/** Whole numbers below a bound, the same ones for the same seed. */
const createRandom = (seed: number) => {
  let state = seed * 0x9e3779b9
  return (bound: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound
  }
}
