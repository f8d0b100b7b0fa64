import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { openAccounts } from '../../src/accounts/index.ts'
import { backupContents, backupDataFolder, restoreDataFolder } from '../../src/app/backup.ts'
import { exportToFile } from '../../src/app/export.ts'
import { compactStores, moveDocuments } from '../../src/app/maintenance.ts'
import { verifyDataFolder } from '../../src/app/verify.ts'
import { takeBackup } from '../../src/backup/take.ts'
import { loadConfig } from '../../src/config/index.ts'
import { openDeliveries } from '../../src/delivery/ledger/store.ts'
import { storedNetworks, storeFile } from '../../src/engine/files.ts'
import { openForReading, openForWriting } from '../../src/engine/open.ts'
import { silent } from '../../src/lib/log.ts'
import type { Progress } from '../../src/lib/progress.ts'
import type { Run } from '../../src/lib/shutdown.ts'
import { createShutdown } from '../../src/lib/shutdown.ts'
import { sumsFile } from '../../src/sqlite/checksums.ts'
import { dataFolder } from '../support/delivery.ts'
import { createTestStore, demoBlocks } from '../support/store.ts'

const unseen: Progress = { update: () => {}, finish: () => {} }
const [NETWORK, OTHER] = ['ethereum/test/net', 'ethereum/test/other']
const PAGE = 4096

/** Made once, and copied for each test. */
const template = mkdtempSync(join(tmpdir(), 'chainsieve-test-'))
let token = ''
before(() => {
  mkdirSync(join(template, 'networks'))
  for (const network of [NETWORK, OTHER])
    createTestStore(demoBlocks().slice(0, 40), { path: storeFile(template, network) }).close()
  const accounts = openAccounts(template)
  token = accounts.createToken('test')
  accounts.close()
  openDeliveries(template).close()
})
after(() => rmSync(template, { recursive: true }))

/** A data folder with two networks, accounts and deliveries. */
const place = async (t: TestContext) => {
  const data = await dataFolder(t)
  cpSync(template, data, { recursive: true })
  const config = loadConfig({ flags: { data, network: NETWORK }, env: {}, cwd: data })
  return { data, config, token, store: storeFile(data, NETWORK) }
}

const running = async <T>(work: (run: Run & { progress(): Progress }) => Promise<T>): Promise<T> => {
  const shutdown = createShutdown({ log: silent })
  try {
    return await work({ log: silent, shutdown, progress: () => unseen })
  } finally {
    await shutdown.close()
  }
}

const flip = (path: string, at: number) => {
  const bytes = readFileSync(path)
  bytes[at]! ^= 1
  writeFileSync(path, bytes)
}

/** In a row of the table of addresses, which has no checksum of its own. */
const flipAddress = (store: string) => {
  const db = openForReading(store)
  const page = db.prepare("SELECT min(pageno) FROM dbstat WHERE name = 'address' AND pagetype = 'leaf'").pluck().get()
  db.close()
  flip(store, (page as number) * PAGE - 3)
}

/** Without the head, which tells of the log. */
const sumsOf = (store: string) => readFileSync(sumsFile(store)).subarray(24)

/** What a folder holds, by path. */
const contentsOf = (folder: string): Map<string, string> =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile() && !entry.name.startsWith('lock.'))
      .map(({ parentPath, name }) => {
        const path = join(parentPath, name)
        return [path, createHash('sha256').update(readFileSync(path)).digest('hex')]
      }),
  )

describe('a file of 0 bytes is not taken for a new one', () => {
  it('by a backup, which stays as it was', async t => {
    const { data, config, store, token } = await place(t)
    const folder = join(await dataFolder(t), 'backup')
    const back = () => running(run => backupDataFolder(config, folder, false, run))
    await back()
    const good = contentsOf(folder)
    const [accounts, deliveries] = ['accounts.sqlite', 'deliveries.sqlite'].map(name => join(data, name)) as [
      string,
      string,
    ]
    const injuries: [path: string, injure: (path: string) => void][] = [store, accounts, deliveries].flatMap(path => [
      [path, path => truncateSync(path)],
      [path, path => rmSync(path)],
      [path, path => writeFileSync(path, 'x'.repeat(8192))],
      [path, path => truncateSync(path, PAGE)],
      [path, path => cpSync(path === accounts ? deliveries : accounts, path)],
    ])
    for (const [path, injure] of injuries) {
      const whole = readFileSync(path)
      injure(path)
      await assert.rejects(
        back(),
        { code: /store_damaged|backup_would_lose/, message: new RegExp(path) },
        String(injure),
      )
      assert.deepEqual(contentsOf(folder), good)
      writeFileSync(path, whole)
    }
    const whole = [store, sumsFile(store)].map(path => readFileSync(path))
    for (const suffix of ['', '-sums']) cpSync(storeFile(data, OTHER) + suffix, store + suffix)
    await assert.rejects(back(), { code: 'store_damaged', message: /it is the store of ethereum\/test\/other/ })
    for (const [i, path] of [store, sumsFile(store)].entries()) writeFileSync(path, whole[i]!)
    assert.deepEqual(contentsOf(folder), good)
    await running(run => restoreDataFolder(config, folder, { check: true, force: false }, run))
    const restored = { ...config, data: join(await dataFolder(t), 'restored') }
    const { networks } = await running(run => restoreDataFolder(restored, folder, { check: false, force: false }, run))
    assert.deepEqual(
      networks.map(({ ranges }) => ranges),
      [[{ from: 0, to: 39 }], [{ from: 0, to: 39 }]],
    )
    const again = openAccounts(restored.data)
    assert.equal(again.verify(token)?.name, 'test')
    again.close()
  })

  it('by a backup that reads a file without checksums while it is damaged', async t => {
    const { data, config } = await place(t)
    const folder = join(await dataFolder(t), 'backup')
    await running(run => backupDataFolder(config, folder, false, run))
    const good = readFileSync(join(folder, 'backup.json'))
    const steps = takeBackup({ ...backupContents(data), folder, program: 'test', full: false })
    assert.ok(!steps.next().done)
    const path = join(data, 'accounts.sqlite')
    writeFileSync(path, readFileSync(path).fill(0, 2 * PAGE))
    assert.throws(() => Array.from(steps), { code: 'store_damaged', message: /accounts\.sqlite is damaged/ })
    assert.deepEqual(readFileSync(join(folder, 'backup.json')), good)
    await running(run => restoreDataFolder(config, folder, { check: true, force: false }, run))
  })

  it('by a backup in which there are folders in place of files, which says so, and is made anew', async t => {
    const { config } = await place(t)
    const folder = join(await dataFolder(t), 'backup')
    const back = () => running(run => backupDataFolder(config, folder, false, run))
    const check = () => running(run => restoreDataFolder(config, folder, { check: true, force: false }, run))
    await back()
    for (const name of readdirSync(folder).filter(name => name.startsWith('accounts.sqlite'))) {
      rmSync(join(folder, name))
      mkdirSync(join(folder, name))
    }
    await assert.rejects(check(), { code: 'backup_damaged' })
    await back()
    await check()
  })

  it('by the check of a backup that an older version made of it', async t => {
    const { config } = await place(t)
    const folder = join(await dataFolder(t), 'backup')
    await running(run => backupDataFolder(config, folder, false, run))
    const path = join(folder, 'backup.json')
    const manifest = JSON.parse(readFileSync(path, 'utf8'))
    const entry = manifest.databases.find(({ name }: { name: string }) => name.startsWith('networks'))
    entry.pages = 0
    entry.sums.sha256 = createHash('sha256').digest('hex')
    for (const name of [entry.file, entry.sums.file]) truncateSync(join(folder, name))
    writeFileSync(path, JSON.stringify(manifest))
    for (const check of [true, false])
      await assert.rejects(
        running(run =>
          restoreDataFolder({ ...config, data: `${config.data}-new` }, folder, { check, force: false }, run),
        ),
        { code: 'backup_damaged', message: /is not a whole database.*restore another backup/ },
      )
    assert.ok(!existsSync(join(`${config.data}-new`, 'networks')))
  })

  it('by whoever opens it, and neither is one that is missing while its checksums or its log are there', async t => {
    const { data, store, config } = await place(t)
    const sums = readFileSync(sumsFile(store))
    const whole = readFileSync(store)
    for (const injure of [() => truncateSync(store), () => rmSync(store)]) {
      injure()
      for (const open of [openForReading, openForWriting])
        assert.throws(() => open(store), {
          code: 'store_damaged',
          message:
            /(has 0 bytes|is missing), but there are checksums of \d+ pages in .*restore a backup or index again/,
        })
      assert.deepEqual(storedNetworks(data), [NETWORK, OTHER])
      const [found] = await running(run => verifyDataFolder(config, NETWORK, false, run))
      assert.match(found!.faults.join(), /(has 0 bytes|is missing)/)
      assert.deepEqual(readFileSync(sumsFile(store)), sums)
    }
    rmSync(sumsFile(store))
    assert.deepEqual(storedNetworks(data), [OTHER])
    // As a kill leaves the first blocks.
    writeFileSync(`${store}-wal`, 'log')
    assert.throws(() => openForWriting(store), { code: 'store_damaged', message: /is missing, but its log/ })
    rmSync(`${store}-wal`)
    writeFileSync(store, whole)
    openForWriting(store).close()
    openForReading(store).close()
  })

  it('by what opens accounts and deliveries, which say how to go on', async t => {
    const { data } = await place(t)
    const cases = [
      {
        file: 'accounts.sqlite',
        open: () => openAccounts(data),
        code: 'accounts_broken',
        says: /loses all accounts, tokens and rules/,
      },
      {
        file: 'deliveries.sqlite',
        open: () => openDeliveries(data),
        code: 'deliveries_damaged',
        says: /all alerts that are stored are sent again/,
      },
    ]
    for (const { file, open, code, says } of cases) {
      const path = join(data, file)
      truncateSync(path)
      assert.throws(open, { code, message: /it has 0 bytes/ })
      assert.throws(open, { code, message: says })
      assert.equal(readFileSync(path).length, 0)
      for (const size of [100, 9_000]) {
        writeFileSync(path, Buffer.alloc(size, 7))
        assert.throws(open, { code })
        assert.throws(open, { message: says })
      }
      renameSync(path, `${path}-aside`)
      open().close()
      assert.deepEqual(
        readdirSync(data).filter(name => name.includes('-new')),
        [],
      )
    }
  })

  it('nor is the log of another store taken for its own, after a kill', async t => {
    const { data } = await place(t)
    const killed = await dataFolder(t)
    const stores = [NETWORK, OTHER].map(network =>
      createTestStore(demoBlocks().slice(40, network === NETWORK ? 44 : 52), { path: storeFile(data, network) }),
    )
    cpSync(data, killed, { recursive: true })
    for (const store of stores) store.close()
    cpSync(`${storeFile(killed, OTHER)}-wal`, `${storeFile(killed, NETWORK)}-wal`)
    for (const open of [openForReading, openForWriting])
      assert.throws(() => open(storeFile(killed, NETWORK)), {
        code: 'store_damaged',
        message: /log .*-wal is that of another store/,
      })
    openForWriting(storeFile(killed, OTHER)).close()
  })

  it('where a folder is in its place', async t => {
    const { data, store } = await place(t)
    for (const suffix of ['', '-wal', '-shm', '-sums']) {
      if (existsSync(store + suffix)) renameSync(store + suffix, `${store}-aside`)
      mkdirSync(store + suffix)
      for (const open of [openForReading, openForWriting])
        assert.throws(() => open(store), {
          code: 'store_damaged',
          message: `${store}${suffix} is damaged: there is a folder in its place. Check the disk, move away the file and those whose names begin like it, and restore a backup or index again.`,
        })
      rmSync(store + suffix, { recursive: true })
      if (existsSync(`${store}-aside`)) renameSync(`${store}-aside`, store + suffix)
      openForWriting(store).close()
    }
    assert.deepEqual(storedNetworks(data), [NETWORK, OTHER])
  })
})

describe('damage is not copied into a store that has no trace of it', () => {
  const commands: Record<string, (found: Awaited<ReturnType<typeof place>>, folder: string) => Promise<unknown>> = {
    compact: ({ config }) => running(run => compactStores(config, NETWORK, run)),
    backup: ({ config }, folder) => running(run => backupDataFolder(config, join(folder, 'backup'), false, run)),
    move: ({ config }) =>
      running(run => moveDocuments(config, config.networks[0]!, 'sqlite', { ...run, progress: unseen })),
    'export --format pack': ({ config }, folder) =>
      running(run =>
        exportToFile(
          config,
          { network: NETWORK, entities: 'block', query: '{}', format: 'pack', to: { file: join(folder, 'pack') } },
          run,
        ),
      ),
  }
  for (const [name, command] of Object.entries(commands))
    it(`by ${name}`, async t => {
      const found = await place(t)
      const folder = await dataFolder(t)
      flipAddress(found.store)
      const before = [readFileSync(found.store), sumsOf(found.store)]
      await assert.rejects(command(found, folder), { code: 'store_damaged', message: /\(page \d+\)/ })
      assert.deepEqual([readFileSync(found.store), sumsOf(found.store)], before)
      const [verified] = await running(run => verifyDataFolder(found.config, NETWORK, false, run))
      assert.match(verified!.faults.join(), /1 of \d+ pages do not match/)
      assert.deepEqual(
        readdirSync(dirname(found.store)).filter(name => name.includes('compact')),
        [],
      )
    })

  it('by new checksums in place of a file of checksums that cannot be read', async t => {
    const { store } = await place(t)
    for (const content of ['', 'x'.repeat(100)]) {
      writeFileSync(sumsFile(store), content)
      assert.throws(() => openForWriting(store), {
        code: 'store_damaged',
        message: /-sums is damaged.*remove this file/,
      })
      assert.equal(readFileSync(sumsFile(store), 'utf8'), content)
    }
    rmSync(sumsFile(store))
    openForWriting(store).close()
  })

  it('by new checksums of a copy that came without any', async t => {
    const { store } = await place(t)
    rmSync(sumsFile(store))
    const whole = readFileSync(store)
    writeFileSync(store, Buffer.from(whole).fill('x', 40 * PAGE, 41 * PAGE))
    assert.throws(() => openForWriting(store), { code: 'store_damaged' })
    assert.ok(!existsSync(sumsFile(store)))
    writeFileSync(store, whole)
    openForWriting(store).close()
  })
})
