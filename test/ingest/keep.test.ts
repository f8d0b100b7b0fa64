import assert from 'node:assert/strict'
import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import { storeFile } from '../../src/engine/files.ts'
import type { IndexJob } from '../../src/ingest/messages.ts'
import { keepIndexing, memoryOf } from '../../src/ingest/network.ts'
import { createStatus } from '../../src/ingest/status/live.ts'
import { until } from '../e2e/program.ts'
import { dataFolder } from '../support/delivery.ts'
import { followJob, logLines, NETWORK } from '../support/indexing.ts'
import { type FakeNode, startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'

const keep = async (t: TestContext, data: string, job: IndexJob) => {
  const { lines, log } = logLines()
  const indexing = keepIndexing({ data, network: NETWORK, job, storeBatch: 10, log })
  t.after(indexing.stop)
  const all = createStatus({
    networks: () => [NETWORK],
    indexings: [indexing],
    held: async () => ({ ranges: [], newest: null }),
    log,
  })
  return { indexing, lines, status: async () => (await all()).networks[0]! }
}

const following = (node: FakeNode): IndexJob => followJob(node, { node: { timeoutMs: 1_000 } })

/** As the last that closes the store, SQLite would copy the log into it, without the checksums that go with it. */
const holdOpen = (t: TestContext, data: string) => {
  const db = new Database(storeFile(data, NETWORK), { readonly: true })
  db.pragma('user_version')
  t.after(() => void db.close())
}

/** Has the thread that writes meet what it does not expect. */
const rename = (data: string, from: string, to: string) => {
  const db = new Database(storeFile(data, NETWORK), { timeout: 5_000 })
  db.exec(`ALTER TABLE ${from} RENAME TO ${to}`)
  db.close()
}

test('threads that die of a bug are started again, and nothing is missing afterwards', async t => {
  const data = await dataFolder(t)
  const chain = makeChain({ blocks: 40 })
  const node = await startNode(t, chain.slice(0, 20))
  const { indexing, lines, status } = await keep(t, data, following(node))
  await until(indexing.report, ({ blocks }) => blocks === 20)
  assert.equal((await status()).state, 'following')

  holdOpen(t, data)
  rename(data, 'tx', 'gone')
  node.extend(chain.slice(20, 30))
  const { state, error, restarts } = await until(
    status,
    ({ state }) => state === 'restarting',
    () => lines.join('\n'),
  )
  assert.equal(state, 'restarting')
  assert.match(error!, /no such table: (main\.)?tx/)
  assert.equal(restarts!.count, 1)
  assert.ok(Date.parse(restarts!.nextAt!) > Date.parse(restarts!.endedAt))
  assert.match(lines.join('\n'), /error Indexing failed and restarts network=ethereum\/test\/net seconds=0\.5 /)

  rename(data, 'gone', 'tx')
  await until(indexing.report, ({ blocks }) => blocks === 30)
  node.extend(chain.slice(30))
  await until(indexing.report, ({ blocks }) => blocks === 40)
  const after = await status()
  assert.deepEqual([after.state, after.error, after.restarts!.nextAt], ['following', null, null])
  assert.equal(indexing.error(), null)
})

test('what the disk refuses may pass, for whoever watches, too', async t => {
  const data = await dataFolder(t)
  const accounts = join(data, 'accounts.sqlite')
  symlinkSync(accounts, accounts)
  const { indexing, lines } = await keep(t, data, { type: 'watch' })
  const { nextAt } = await until(
    indexing.restarts,
    it => it !== undefined,
    () => lines.join('\n'),
  ).then(it => it!)
  assert.notEqual(nextAt, null)
  rmSync(accounts)
  await until(indexing.restarts, it => it?.nextAt === null)
  assert.equal(indexing.error(), null)
})

test('what needs the operator stays stopped', async t => {
  const data = await dataFolder(t)
  const node = await startNode(t, makeChain({ blocks: 30 }))
  const { indexing, status } = await keep(t, data, following(node))
  await until(indexing.report, ({ blocks }) => blocks === 30)
  node.extend(makeChain({ blocks: 50, salt: 'other' }))
  await assert.rejects(indexing.ended, { code: 'reorg_too_deep' })
  const { state, error, restarts } = await status()
  assert.deepEqual([state, restarts], ['stopped', undefined])
  assert.match(error!, /leaves the stored one/)
})

test('without a node that answers, it is told what is waited for, and since when', async t => {
  const data = await dataFolder(t)
  const node = await startNode(t, makeChain({ blocks: 5 }))
  const { indexing, status } = await keep(t, data, following(node))
  await until(indexing.report, ({ blocks }) => blocks === 5)
  const before = Date.now()
  await node.stop()
  const { error, waiting } = await until(status, ({ state }) => state === 'waiting')
  assert.match(waiting!.for, /^a node that answers \(http:\/\/127\.0\.0\.1:\d+: /)
  assert.equal(error, waiting!.for)
  const since = Date.parse(waiting!.since)
  assert.ok(since >= before && since <= Date.now())
  await node.start()
  const { error: gone } = await until(status, ({ state }) => state === 'following')
  assert.equal(gone, null)
})

test('a node that never answered is waited for', async t => {
  const node = await startNode(t)
  node.trouble = () => 'hang'
  const { status } = await keep(t, await dataFolder(t), following(node))
  const { waiting } = await until(status, ({ state }) => state === 'waiting')
  assert.match(waiting!.for, /^(the first answer of a node|a node that answers)/)
})

test('few networks have as much memory as one alone, and many share it', () => {
  const one = memoryOf('follow', 1, false)
  assert.deepEqual(one, { youngMb: 24, writerCacheMb: 128, readerCacheMb: 64 })
  assert.deepEqual(memoryOf('follow', 2, false), one)
  for (const networks of [5, 10, 16]) {
    const { youngMb, writerCacheMb, readerCacheMb } = memoryOf('follow', networks, false)
    assert.ok(youngMb * networks <= 96 && writerCacheMb * networks <= 256 && readerCacheMb * networks <= 128)
  }
  assert.deepEqual(memoryOf('follow', 1_000, false), { youngMb: 6, writerCacheMb: 16, readerCacheMb: 8 })
  assert.equal(memoryOf('import', 10, false).youngMb, 96)
  assert.equal(memoryOf('import', 10, true).youngMb, 6)
})
