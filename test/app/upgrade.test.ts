import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import { MIGRATIONS as ACCOUNTS } from '../../src/accounts/file.ts'
import { openAccounts } from '../../src/accounts/index.ts'
import { backupDataFolder, restoreDataFolder } from '../../src/app/backup.ts'
import { pruneNetwork } from '../../src/app/maintenance.ts'
import { takeDataFolder, tryToTakeDataFolder } from '../../src/app/upgrade.ts'
import { loadConfig } from '../../src/config/index.ts'
import { DELIVERY_MIGRATIONS as DELIVERIES } from '../../src/delivery/ledger/migrations.ts'
import { openDeliveries } from '../../src/delivery/ledger/store.ts'
import { storeFile } from '../../src/engine/files.ts'
import { SCHEMA_VERSION } from '../../src/engine/schema.ts'
import { silent } from '../../src/lib/log.ts'
import { createShutdown } from '../../src/lib/shutdown.ts'
import { dropSums } from '../../src/sqlite/checksums.ts'
import { lockDataFolder } from '../../src/sqlite/lock.ts'
import { dataFolder } from '../support/delivery.ts'
import { createTestStore, demoBlocks, VERSION_WITHOUT_SHELF, WITHOUT_SHELF } from '../support/store.ts'

const [NETWORK, OTHER] = ['ethereum/test/net', 'ethereum/test/other']
const blocks = demoBlocks().slice(0, 120)

const versionIn = (path: string): number => {
  const db = new Database(path)
  const version = db.pragma('user_version', { simple: true }) as number
  db.close()
  return version
}

const write = (path: string, version: number, sql: string) => {
  const db = new Database(path)
  db.exec(sql)
  db.pragma(`user_version = ${version}`)
  db.close()
  dropSums(path)
}

/** A data folder of which every file is of an older version. */
const older = async (t: TestContext) => {
  const data = await dataFolder(t)
  const stores = [NETWORK, OTHER].map(network => storeFile(data, network))
  mkdirSync(dirname(stores[0]!))
  for (const store of stores) {
    const made = createTestStore([], { path: store })
    for (let at = 0; at < blocks.length; at += 10) {
      const batch = made.prepare(blocks.slice(at, at + 10))
      made.writer.apply(batch)
      made.preparer.committed(batch.added)
    }
    made.close()
    write(store, VERSION_WITHOUT_SHELF, WITHOUT_SHELF)
  }
  write(join(data, 'accounts.sqlite'), 2, ACCOUNTS.slice(0, 2).join(';'))
  write(join(data, 'deliveries.sqlite'), 1, DELIVERIES[0]!)
  const files = [...stores, join(data, 'accounts.sqlite'), join(data, 'deliveries.sqlite')]
  const versions = () => files.map(versionIn)
  const config = loadConfig({ flags: { data, network: NETWORK }, env: {}, cwd: data })
  return { data, store: stores[0]!, config, versions, before: versions() }
}

const now = [SCHEMA_VERSION, SCHEMA_VERSION, ACCOUNTS.length, DELIVERIES.length]

/** As a command that runs and ends. */
const running = async <T>(
  work: (run: Pick<Parameters<typeof backupDataFolder>[3], 'log' | 'shutdown' | 'progress'>) => Promise<T>,
): Promise<T> => {
  const shutdown = createShutdown({ log: silent })
  try {
    return await work({ log: silent, shutdown, progress: () => ({ update: () => {}, finish: () => {} }) })
  } finally {
    await shutdown.close()
  }
}

test('whoever takes a data folder upgrades all of its files', async t => {
  const { data, versions } = await older(t)
  takeDataFolder(data, 'serve', silent).release()
  assert.deepEqual(versions(), now)
  openAccounts(data).close()
  openDeliveries(data).close()
})

test('no file is upgraded where one cannot be', async t => {
  const { data, versions } = await older(t)
  const path = storeFile(data, OTHER)
  for (const [file, version, code] of [
    [path, 1, 'store_older'],
    [path, SCHEMA_VERSION + 1, 'store_newer'],
    [join(data, 'accounts.sqlite'), ACCOUNTS.length + 1, 'accounts_newer'],
    [join(data, 'deliveries.sqlite'), DELIVERIES.length + 1, 'deliveries_newer'],
  ] as const) {
    const was = versionIn(file)
    write(file, version, '')
    const before = versions()
    assert.throws(() => takeDataFolder(data, 'serve', silent), { code })
    assert.deepEqual(versions(), before)
    // Nobody holds it any more.
    lockDataFolder(data, 'serve').release()
    write(file, was, '')
  }
  takeDataFolder(data, 'serve', silent).release()
  assert.deepEqual(versions(), now)
})

test('a damaged network keeps no other from being upgraded', async t => {
  const { data, store, versions } = await older(t)
  mkdirSync(`${store}-sums`)
  takeDataFolder(data, 'serve', silent).release()
  assert.deepEqual(versions(), [VERSION_WITHOUT_SHELF, ...now.slice(1)])
})

test('nothing is upgraded beside a running server, nor by commands that only read', async t => {
  const { data, config, versions, before } = await older(t)
  const lock = lockDataFolder(data, 'serve')
  assert.equal(tryToTakeDataFolder(data, 'prune', silent), undefined)
  assert.throws(() => takeDataFolder(data, 'index', silent), { code: 'data_folder_locked' })
  assert.throws(() => openAccounts(data), { code: 'accounts_older' })
  assert.throws(() => openDeliveries(data), { code: 'deliveries_older' })
  const folder = join(await dataFolder(t), 'backup')
  await running(run => backupDataFolder(config, folder, false, run))
  lock.release()
  assert.deepEqual(versions(), before)

  // The way back: what is restored is what the older version wrote.
  takeDataFolder(data, 'serve', silent).release()
  const restored = join(await dataFolder(t), 'restored')
  const done = await running(run =>
    restoreDataFolder({ ...config, data: restored }, folder, { check: false, force: false }, run),
  )
  assert.deepEqual(
    done.networks.map(({ ranges }) => ranges),
    [null, null],
  )
  assert.deepEqual(
    ['networks/ethereum~test~net', 'networks/ethereum~test~other', 'accounts', 'deliveries'].map(name =>
      versionIn(join(restored, `${name}.sqlite`)),
    ),
    before,
  )
})

test('a prune that is refused leaves no request behind', async t => {
  const { data, store, config } = await older(t)
  const requests = () => readdirSync(dirname(store)).filter(name => name.includes('-prune'))
  const pruned = () => running(run => pruneNetwork(config, config.networks[0]!, 50, run))
  write(store, SCHEMA_VERSION + 1, '')
  await assert.rejects(pruned(), { code: 'store_newer' })
  const lock = lockDataFolder(data, 'serve')
  await assert.rejects(pruned(), { code: 'store_newer' })
  assert.deepEqual(requests(), [])
  write(store, VERSION_WITHOUT_SHELF, '')
  await assert.rejects(pruned(), { code: 'store_older' })
  assert.deepEqual(requests(), [])
  lock.release()

  // One that fails on the way: the first page of blocks is not what was written.
  takeDataFolder(data, 'serve', silent).release()
  const whole = readFileSync(store)
  const db = new Database(store, { readonly: true })
  const page = db
    .prepare("SELECT pageno FROM dbstat WHERE name = 'block' AND pagetype = 'leaf' ORDER BY path LIMIT 1")
    .pluck()
    .get()
  db.close()
  const spoilt = Buffer.from(whole).fill(0xff, ((page as number) - 1) * 4096, (page as number) * 4096)
  writeFileSync(store, spoilt)
  await assert.rejects(pruned(), { code: 'store_damaged' })
  assert.deepEqual(requests(), [])
})
