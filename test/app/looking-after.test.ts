import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createAlertPruning } from '../../src/alerts/marks.ts'
import { backupDataFolder, restoreDataFolder } from '../../src/app/backup.ts'
import { compactStores, pruneNetwork, readStoreStats, salvageNetwork } from '../../src/app/maintenance.ts'
import { verifyDataFolder } from '../../src/app/verify.ts'
import { type Config, loadConfig } from '../../src/config/index.ts'
import { storeFile } from '../../src/engine/files.ts'
import { silent } from '../../src/lib/log.ts'
import type { Progress } from '../../src/lib/progress.ts'
import { createShutdown } from '../../src/lib/shutdown.ts'
import { lockDataFolder } from '../../src/sqlite/lock.ts'
import { dataFolder } from '../support/delivery.ts'
import { contentsIn } from '../support/indexing.ts'
import { createTestStore, demoBlocks, leaveUnmade } from '../support/store.ts'

const unseen: Progress = { update: () => {}, finish: () => {} }
const NETWORK = 'ethereum/test/net'
const blocks = demoBlocks().slice(0, 120)

/** A data folder with a network in segments of ten blocks. */
const place = async (t: TestContext, flags: Record<string, string> = {}) => {
  const data = await dataFolder(t)
  const store = storeFile(data, NETWORK)
  mkdirSync(dirname(store))
  const made = createTestStore([], { path: store })
  for (let at = 0; at < blocks.length; at += 10) {
    const batch = made.prepare(blocks.slice(at, at + 10))
    made.writer.apply(batch)
    made.preparer.committed(batch.added)
  }
  made.close()
  const config = loadConfig({ flags: { data, network: NETWORK, ...flags }, env: {}, cwd: data })
  return { data, store, config }
}

/** As a command that runs and ends. */
const running = async <T>(
  work: (run: { log: typeof silent; shutdown: ReturnType<typeof createShutdown>; progress(): Progress }) => Promise<T>,
): Promise<T> => {
  const shutdown = createShutdown({ log: silent })
  try {
    return await work({ log: silent, shutdown, progress: () => unseen })
  } finally {
    await shutdown.close()
  }
}

const faults = async (config: Config) => {
  const found = await running(run => verifyDataFolder(config, NETWORK, true, run))
  return found.flatMap(({ faults }) => faults)
}

test('a backup that is restored holds the same, and tells its ranges', async t => {
  const { data, store, config } = await place(t)
  const folder = join(await dataFolder(t), 'backup')
  await running(run => backupDataFolder(config, folder, false, run))
  const again = await running(run => backupDataFolder(config, folder, false, run))
  assert.deepEqual(
    again.databases.map(({ written }) => written),
    [0],
  )
  const elsewhere = join(await dataFolder(t), 'new')
  const done = await running(run =>
    restoreDataFolder({ ...config, data: elsewhere }, folder, { check: false, force: false }, run),
  )
  assert.deepEqual(done.networks, [{ network: NETWORK, ranges: [{ from: 0, to: 119 }] }])
  assert.deepEqual(contentsIn(storeFile(elsewhere, NETWORK)), contentsIn(store))
  assert.ok(existsSync(data))
})

test('a backup leaves out a network whose store a kill has left before anything was in it', async t => {
  const { data, config } = await place(t)
  const folder = join(await dataFolder(t), 'backup')
  const copied = async () => {
    const { databases } = await running(run => backupDataFolder(config, folder, false, run))
    return databases.map(({ name }) => name)
  }
  const whole = await copied()
  leaveUnmade(storeFile(data, 'ethereum/test/unmade'))
  writeFileSync(storeFile(data, 'ethereum/test/empty'), '')
  assert.deepEqual(await copied(), whole)
})

test('a folder that is half restored is written to by nothing else', async t => {
  const { data } = await place(t)
  mkdirSync(join(data, 'restoring'))
  writeFileSync(join(data, 'restoring', 'accounts.sqlite'), '')
  assert.throws(() => lockDataFolder(data, 'serve'), { code: 'restore_unfinished' })
})

test('pruned blocks give their room back to the disk once the file is compacted', async t => {
  const { store, config } = await place(t)
  const [network] = config.networks
  const done = await running(run => pruneNetwork(config, network!, 50, run))
  assert.deepEqual(done, { network: NETWORK, held: [{ from: 50, to: 119 }], waiting: false })
  const [before] = await readStoreStats(config, NETWORK)
  assert.ok(before!.free > 0)
  const contents = contentsIn(store)
  const [compacted] = await running(run => compactStores(config, NETWORK, run))
  assert.ok(compacted!.after < compacted!.before)
  assert.deepEqual(contentsIn(store), contents)
  const [after] = await readStoreStats(config, NETWORK)
  assert.equal(after!.free, 0)
  assert.deepEqual(await faults(config), [])
  const sum = after!.parts.reduce((sum, { bytes }) => sum + bytes, 0)
  assert.ok(sum > 0.9 * after!.bytes && sum <= after!.bytes)
  assert.equal(after!.parts.find(({ part }) => part === 'block')!.rows, 70)
})

test('what another program writes is left to it', async t => {
  const { data, store, config } = await place(t)
  const lock = lockDataFolder(data, 'serve')
  try {
    await assert.rejects(
      running(run => compactStores(config, NETWORK, run)),
      { code: 'data_folder_locked' },
    )
    const stopping = createShutdown({ log: silent })
    const pruning = pruneNetwork(config, config.networks[0]!, 50, { log: silent, shutdown: stopping })
    await stopping.close()
    await assert.rejects(pruning, { name: 'AbortError' })
    assert.deepEqual(JSON.parse(readFileSync(`${store}-prune-hand`, 'utf8')), { below: 50, floor: 50 })
  } finally {
    lock.release()
  }
  // Whoever writes the store next takes it up.
  await running(run => pruneNetwork({ ...config, keepAlerts: undefined }, config.networks[0]!, 60, run))
  assert.equal(existsSync(`${store}-prune-hand`), false)
})

test('a damaged store is salvaged, and the damaged file is kept', async t => {
  const { store, config } = await place(t)
  await assert.rejects(
    running(run => salvageNetwork(config, NETWORK, run)),
    { code: 'store_whole' },
  )
  const [found] = await readStoreStats(config, NETWORK)
  assert.equal(found!.store, 'sqlite')
  assert.ok(found!.parts.some(({ part }) => part === 'post'))
  const made = createTestStore([], { path: store })
  const page = made.db
    .prepare("SELECT max(pageno) FROM dbstat WHERE name = 'post' AND pagetype = 'leaf'")
    .pluck()
    .get() as number
  made.close()
  const bytes = readFileSync(store)
  bytes[(page - 1) * 4096 + 3000]! ^= 1
  writeFileSync(store, bytes)
  assert.notDeepEqual(await faults(config), [])
  const done = await running(run => salvageNetwork(config, NETWORK, run))
  // The page may have parts of two segments.
  assert.ok([1, 2].includes(done.lost.length), JSON.stringify(done.lost))
  assert.ok(existsSync(done.aside))
  assert.deepEqual(await faults(config), [])
  assert.deepEqual(
    readdirSync(dirname(store)).filter(name => /salvage/.test(name)),
    [],
  )
})

test('alerts are forgotten when they are old, told, and their blocks are settled', async t => {
  const { store } = await place(t)
  const made = createTestStore([], { path: store })
  const { db } = made
  const alert = db.prepare(
    `INSERT INTO alert (id, rule, revision, target, confirmations, notify, block, block_hash, due, kind, document, source, state, received_at, changed_at)
     VALUES (?, 1, 1, 'Log', 0, 0, ?, x'00', 0, 'log', 'd', '{}', ?, 0, ?)`,
  )
  const outbox = db.prepare('INSERT INTO outbox (alert, type) VALUES (?, 1)')
  // Old, pending, young, of a young block, and one of which the outbox was not taken over.
  for (const [id, block, state, changed] of [
    ['old', 1, 1, 10],
    ['pending', 1, 0, 10],
    ['young', 1, 1, 1000],
    ['new block', 119, 3, 10],
    ['untold', 1, 1, 10],
  ] as const)
    outbox.run(alert.run(id, block, state, changed).lastInsertRowid)
  const { step: page } = createAlertPruning(db).begin({ before: 500, taken: 4 })
  while (page());
  assert.deepEqual(db.prepare('SELECT id FROM alert ORDER BY n').pluck().all(), [
    'pending',
    'young',
    'new block',
    'untold',
  ])
  assert.deepEqual(db.prepare('SELECT n FROM outbox').pluck().all(), [2, 3, 4, 5])
  made.close()
})
