import assert from 'node:assert/strict'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import Database from 'better-sqlite3'
import { generateBlocks } from '../../scripts/bench/generate.ts'
import { storeFile } from '../../src/engine/files.ts'
import { startNode } from '../support/node.ts'
import { after, pause, type Server, serve, start, tempFolder, until, writePack } from './program.ts'

const NETWORK = 'ethereum/made-up/mainnet'
const BLOCKS = 32
const chain = [...generateBlocks({ seed: 11, count: BLOCKS })]
const numbers = chain.map(({ block }) => Number(block.number))
const TOKEN = chain[0]!.receipts.flatMap(({ logs }) => logs)[0]!.address
const SENDER = chain[0]!.block.transactions[0]!.from
const HOLDER = `0x${chain[5]!.receipts
  .flatMap(({ logs }) => logs)
  .find(({ topics }) => topics.length === 3)!
  .topics[1]!.slice(26)}`

const QUERIES: [entities: string, query: unknown][] = [
  ['event', { term: { 'event.raw': 'Transfer' } }],
  ['event', { term: { address: TOKEN.toLowerCase() } }],
  ['event', { nested: { path: 'args', query: { term: { 'args.value.hex': HOLDER } } } }],
  [
    'event',
    { nested: { path: 'args', query: { range: { 'args.value.num': { gte: 1_000_000, lt: 100_000_000_000 } } } } },
  ],
  [
    'event',
    { bool: { must_not: { term: { 'event.raw': 'Transfer' } }, filter: { range: { 'logIndex.num': { lt: 40 } } } } },
  ],
  ['log', { range: { 'blockNumber.num': { gte: numbers[10], lte: numbers[20] } } }],
  ['tx', { bool: { should: [{ term: { from: SENDER } }, { term: { to: SENDER } }] } }],
  ['tx', { term: { status: false } }],
  ['block,tx', { ids: { values: [chain[20]!.block.hash, chain[21]!.block.transactions[0]!.hash] } }],
]

/** Everything that a server tells of its blocks: all documents of every kind, and what some queries find. */
const everything = async (server: Server) => {
  const documents = []
  for (const entity of ['block', 'tx', 'log', 'event', 'contract', 'token'])
    documents.push(...(await server.search(NETWORK, entity, { size: -1, sort: '_doc' })).hits.hits)
  const answers = []
  for (const [entities, query] of QUERIES)
    answers.push(
      (await server.search(NETWORK, entities, { query, size: 20, sort: { 'blockNumber.num': 'desc' } })).hits,
    )
  const { networks } = await server.status()
  return { documents, answers, ranges: networks[0]!.ranges }
}

const whole = async (t: TestContext, folder: string) => {
  const data = join(folder, 'whole')
  const pack = writePack(join(folder, 'pack.ndjson'), chain)
  const { code, err } = await start(t, ['import', '--network', NETWORK, pack], { data }).ended
  assert.equal(code, 0, err)
  const server = await serve(t, data)
  const all = await everything(server)
  server.signal('SIGTERM')
  await server.ended
  const logs = chain.flatMap(({ receipts }) => receipts.flatMap(({ logs }) => logs)).length
  const txs = chain.flatMap(({ block }) => block.transactions).length
  assert.deepEqual(all.ranges, [{ from: numbers[0], to: numbers.at(-1) }])
  assert.ok(all.documents.length > BLOCKS + txs + logs)
  assert.ok(
    all.answers.every(({ total }) => total > 0),
    JSON.stringify(all.answers.map(({ total }) => total)),
  )
  return { all, pack }
}

/** Kills the command at moments all over its run until it comes to its end; again where it was too quick to be killed in its midst. */
const runKilled = async (t: TestContext, args: readonly string[], data: string) => {
  for (let tries = 0; tries < 20; tries++) {
    rmSync(data, { recursive: true, force: true })
    const stored = await runOnce(t, args, data)
    t.diagnostic(`killed with so many blocks stored: ${stored.join(' ')}`)
    if (stored.filter(blocks => blocks > 0 && blocks < BLOCKS).length >= 2) return
  }
  assert.fail('it was never killed in its midst')
}

/** Gives how many blocks were stored at each kill. */
const runOnce = async (t: TestContext, args: readonly string[], data: string): Promise<number[]> => {
  const stored: number[] = []
  for (let round = 0; ; round++) {
    const program = start(t, args, { data })
    let isOver = false
    const ended = program.ended.finally(() => {
      isOver = true
    })
    const last = await Promise.race([ended, moment(round, data, () => isOver)])
    if (last) {
      assert.equal(last.code, 0, last.err)
      return stored
    }
    program.signal('SIGKILL')
    await program.ended
    stored.push(storedBlocks(data))
  }
}

/** Once while the program starts and makes its store, then each time that it has stored some more. */
const moment = async (round: number, data: string, isOver = () => false): Promise<undefined> => {
  if (round === 0) return void (await pause(150 + Math.random() * 400))
  const target = storedBlocks(data) + 1 + Math.random() * 8
  const end = Date.now() + 120_000
  while (!isOver() && storedBlocks(data) < target && Date.now() < end) await pause(10)
  await pause(Math.random() * 30)
}

const storedBlocks = (data: string): number => {
  const file = storeFile(data, NETWORK)
  if (!existsSync(file)) return 0
  const db = new Database(file, { readonly: true })
  try {
    return db.prepare('SELECT count(*) FROM block').pluck().get() as number
  } catch {
    return 0
  } finally {
    db.close()
  }
}

const sameAs = (ours: Awaited<ReturnType<typeof everything>>, theirs: typeof ours) => {
  assert.deepEqual(ours.ranges, theirs.ranges)
  assert.deepEqual(ours.answers, theirs.answers)
  assert.equal(ours.documents.length, theirs.documents.length)
  // The first difference alone: thousands of documents cannot be shown.
  const other = ours.documents.findIndex(
    (document, i) => JSON.stringify(document) !== JSON.stringify(theirs.documents[i]),
  )
  assert.deepEqual(ours.documents[other], theirs.documents[other])
}

test('a back-fill that is killed again and again ends as one that was never interrupted', {
  timeout: 1_800_000,
}, async t => {
  const folder = tempFolder(t)
  const { all, pack } = await whole(t, folder)

  for (const indexers of ['1', '2', '4'])
    await t.test(`import, ${indexers} at a time`, async t => {
      const data = join(folder, `import-${indexers}`)
      await runKilled(t, ['import', '--network', NETWORK, '--store-batch', '4', '--indexers', indexers, pack], data)
      const server = await serve(t, data)
      sameAs(await everything(server), all)
    })

  for (const [order, indexers] of [
    ['newest', '1'],
    ['oldest', '1'],
    ['newest', '2'],
  ] as const) {
    await t.test(`index, ${order} first, ${indexers} at a time`, async t => {
      const node = await startNode({ after: fn => after(t, fn) }, chain)
      node.methods.set('eth_call', () => '0x')
      node.methods.set('eth_getCode', () => '0x')
      const data = join(folder, `${order}-${indexers}`)
      const args = ['index', '--network', NETWORK, '--rpc', node.url, '--from', String(numbers[0])]
      await runKilled(t, [...args, '--order', order, '--store-batch', '4', '--indexers', indexers], data)
      const server = await serve(t, data)
      sameAs(await everything(server), all)
    })
  }

  await t.test('serve, 2 at a time, while it follows', async t => {
    const node = await startNode({ after: fn => after(t, fn) }, chain)
    node.methods.set('eth_call', () => '0x')
    node.methods.set('eth_getCode', () => '0x')
    const data = join(folder, 'serve')
    const args = ['--network', NETWORK, '--rpc', node.url, '--from', String(numbers[0]), '--finality', '8']
    const begin = () => serve(t, data, [...args, '--store-batch', '4', '--indexers', '2'])
    for (let round = 1; round < 4; round++) {
      const killed = await begin()
      await moment(round, data)
      killed.signal('SIGKILL')
      await killed.ended
    }
    const server = await begin()
    const { ranges } = all
    await until(
      async () => (await server.status()).networks[0]!,
      network => isDeepStrictEqual(network.ranges, ranges) && network.state === 'following',
      server.err,
    )
    sameAs(await everything(server), all)
  })
})
