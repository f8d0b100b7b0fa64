import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import Database from 'better-sqlite3'
import { createRandom } from '../../scripts/lib/random.ts'
import { checkBackup, restoreBackup } from '../../src/backup/restore.ts'
import { takeBackup } from '../../src/backup/take.ts'
import { storeFile } from '../../src/engine/files.ts'
import { lockDataFolder } from '../../src/sqlite/lock.ts'
import { checkPages } from '../../src/sqlite/verify-pages.ts'
import { dataFolder } from '../support/delivery.ts'
import { contentsIn } from '../support/indexing.ts'
import { createTestStore, demoBlocks, type TestStore } from '../support/store.ts'

const NETWORK = 'ethereum/test/net'
const STORE = storeFile('', NETWORK)
const SMALL = 'deliveries.sqlite'
const blocks = demoBlocks()

const finish = <T>(steps: Generator<unknown, T>, between: () => void = () => {}): T => {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value as T
    between()
  }
}

interface Place {
  data: string
  folder: string
  store: TestStore
  small: Database.Database
}

/** A data folder that is being written to. */
const place = async (t: TestContext, count = 30): Promise<Place> => {
  const data = await dataFolder(t)
  mkdirSync(join(data, 'networks'))
  mkdirSync(join(data, 'abis'))
  writeFileSync(join(data, 'abis', 'one.json'), '[]')
  const store = createTestStore(blocks.slice(0, count), { path: join(data, STORE), run: 3 })
  const small = new Database(join(data, SMALL))
  small.pragma('journal_mode = WAL')
  small.exec('CREATE TABLE note (n INTEGER PRIMARY KEY, text TEXT)')
  t.after(() => {
    small.close()
    store.close()
  })
  return { data, folder: join(await dataFolder(t), 'backup'), store, small }
}

const optionsOf = ({ data, folder }: Place) => ({
  data,
  folder,
  databases: [SMALL, STORE],
  files: [join('abis', 'one.json')],
  program: '1.2.3',
  full: false,
})

const restored = async (t: TestContext, folder: string) => {
  const data = join(await dataFolder(t), 'restored')
  mkdirSync(data)
  finish(restoreBackup({ backup: folder, data, force: false }))
  return data
}

/** What a store holds, of a copy, so that the file itself stays as it is. */
const held = async (t: TestContext, path: string) => {
  const copy = join(await dataFolder(t), 'copy.sqlite')
  for (const suffix of ['', '-wal', '-sums']) if (existsSync(path + suffix)) cpSync(path + suffix, copy + suffix)
  return contentsIn(copy)
}

const notes = (path: string): unknown[] => {
  const db = new Database(path, { readonly: true })
  try {
    return db.prepare('SELECT * FROM note').all()
  } finally {
    db.close()
  }
}

describe('a backup', () => {
  it('is the state of one moment, whatever is written meanwhile', async t => {
    const here = await place(t)
    const { store, small, folder, data } = here
    for (let n = 0; n < 3_000; n++)
      small.prepare('INSERT INTO note (text) VALUES (?)').run(`note ${n} ${'x'.repeat(90)}`)
    const [before, notesBefore] = [await held(t, join(data, STORE)), notes(join(data, SMALL))]
    let next = 30
    finish(takeBackup(optionsOf(here)), () => {
      store.add(blocks.slice(next, ++next))
      store.db.settle(1)
      small.exec("UPDATE note SET text = 'changed'")
      small.pragma('wal_checkpoint(PASSIVE)')
    })
    assert.ok(next > 31)
    const copy = await restored(t, folder)
    assert.deepEqual(await held(t, join(copy, STORE)), before)
    assert.deepEqual(notes(join(copy, SMALL)), notesBefore)
    assert.equal(readFileSync(join(copy, 'abis', 'one.json'), 'utf8'), '[]')
    assert.deepEqual([...finishPages(join(copy, STORE))], [])
  })

  it('is made of what changed since the last one, and is the same as one of all pages', async t => {
    const here = await place(t)
    const { store, small, data, folder } = here
    const random = createRandom()
    random.seek(13, 0, 0, 0)
    let top = 30
    for (let round = 0; round < 12; round++) {
      const what = random.below(5)
      if (what === 0) {
        top -= random.below(6)
        store.rollback(Number(blocks[top - 1]!.block.number))
      } else if (what < 4 && top < blocks.length - 4) {
        store.add(blocks.slice(top, top + 1 + random.below(4)))
        const { last } = store.db.prepare('SELECT max(last) AS last FROM segment').get() as { last: number }
        top = blocks.findIndex(({ block }) => Number(block.number) === last) + 1
      }
      if (random.below(2) === 0) store.db.settle(1)
      small.prepare('INSERT INTO note (text) VALUES (?)').run(`round ${round}`)
      if (random.below(3) === 0) small.pragma('wal_checkpoint(TRUNCATE)')
      const done = finish(takeBackup(optionsOf(here)))
      if (round > 0) assert.ok(done.databases[1]!.written < done.databases[1]!.pages, 'only what changed is written')
      const copy = await restored(t, folder)
      assert.deepEqual(await held(t, join(copy, STORE)), await held(t, join(data, STORE)))
      assert.deepEqual(notes(join(copy, SMALL)), notes(join(data, SMALL)))
    }
    const idle = finish(takeBackup(optionsOf(here)))
    assert.deepEqual(
      idle.databases.map(({ written }) => written),
      [0, 0],
    )
  })

  it('is refused of a damaged store, and leaves the one before', async t => {
    const here = await place(t)
    finish(takeBackup(optionsOf(here)))
    const before = readFileSync(join(here.folder, 'backup.json'), 'utf8')
    here.store.db.close()
    const path = join(here.data, STORE)
    const bytes = readFileSync(path)
    bytes[5 * 4096 + 77]! ^= 1
    writeFileSync(path, bytes)
    assert.throws(() => finish(takeBackup({ ...optionsOf(here), full: true })), {
      code: 'store_damaged',
      message: /page 6/,
    })
    assert.equal(readFileSync(join(here.folder, 'backup.json'), 'utf8'), before)
    await restored(t, here.folder)
  })

  it('goes to no folder that holds anything else', async t => {
    const here = await place(t)
    mkdirSync(here.folder)
    writeFileSync(join(here.folder, 'thesis.txt'), '')
    assert.throws(() => finish(takeBackup(optionsOf(here))), { code: 'backup_folder_used' })
  })

  it('that lost a bit is refused before anything is restored', async t => {
    const here = await place(t)
    finish(takeBackup(optionsOf(here)))
    const files = readdirSync(here.folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
    for (const { parentPath, name } of files) {
      const path = join(parentPath, name)
      const whole = readFileSync(path)
      if (name === 'backup.json' || whole.length === 0) continue
      const bytes = Buffer.from(whole)
      bytes[bytes.length >> 1]! ^= 4
      writeFileSync(path, bytes)
      assert.throws(() => finish(checkBackup(here.folder)), { code: 'backup_damaged' }, path)
      await assert.rejects(restored(t, here.folder), { code: 'backup_damaged' }, path)
      writeFileSync(path, whole)
    }
    finish(checkBackup(here.folder))
  })
})

function* finishPages(path: string) {
  for (const steps = checkPages(path); ; ) {
    const { done, value } = steps.next()
    if (done) return yield* value!.damaged
  }
}

describe('a restore', () => {
  it('leaves a folder that is not empty alone, or moves what it holds aside', async t => {
    const here = await place(t)
    finish(takeBackup(optionsOf(here)))
    const data = await dataFolder(t)
    writeFileSync(join(data, SMALL), 'old')
    assert.throws(() => finish(restoreBackup({ backup: here.folder, data, force: false })), {
      code: 'data_folder_not_empty',
    })
    assert.deepEqual(readdirSync(data), [SMALL])
    const { aside } = finish(restoreBackup({ backup: here.folder, data, force: true }))
    assert.equal(readFileSync(join(aside!, SMALL), 'utf8'), 'old')
    assert.deepEqual(await held(t, join(data, STORE)), await held(t, join(here.data, STORE)))
  })

  it('knows no path out of the folder', async t => {
    const here = await place(t)
    finish(takeBackup(optionsOf(here)))
    const path = join(here.folder, 'backup.json')
    writeFileSync(path, readFileSync(path, 'utf8').replace('abis/one.json', '../one.json'))
    await assert.rejects(restored(t, here.folder), { code: 'backup_damaged' })
  })
})

/**
 * Copies of a folder as it is after each change that `work` makes to it, in place of kills: whatever SQLite and the system were told is
 * there, and nothing else.
 */
describe('a kill', () => {
  it('in the middle of a backup leaves the one before or the new one', async t => {
    const here = await place(t)
    const before = await held(t, join(here.data, STORE))
    finish(takeBackup(optionsOf(here)))
    here.store.add(blocks.slice(30, 60))
    const after = await held(t, join(here.data, STORE))
    const seen = new Set<string>()
    const steps = takeBackup(optionsOf(here))
    for (let i = 0; ; i++) {
      const { done } = steps.next()
      const killed = join(await dataFolder(t), `killed-${i}`)
      cpSync(here.folder, killed, { recursive: true })
      const copy = await restored(t, killed)
      const found = await held(t, join(copy, STORE))
      const isBefore = isDeepStrictEqual(found, before)
      if (!isBefore) assert.ok(isDeepStrictEqual(found, after))
      seen.add(isBefore ? 'before' : 'after')
      // The next one goes on from there.
      finish(takeBackup({ ...optionsOf(here), folder: killed }))
      assert.deepEqual(await held(t, join(await restored(t, killed), STORE)), after)
      if (done) break
    }
    assert.deepEqual([...seen], ['before', 'after'])
  })

  it('while changed pages are moved into a copy is made good by the next backup, and by a restore', async t => {
    const here = await place(t)
    finish(takeBackup(optionsOf(here)))
    here.store.add(blocks.slice(30, 60))
    const after = await held(t, join(here.data, STORE))
    const steps = takeBackup(optionsOf(here))
    const base = join(here.folder, `${STORE}.1`)
    const old = readFileSync(base)
    // The list names them only from the moment on in which they are all there.
    const list = () => JSON.parse(readFileSync(join(here.folder, 'backup.json'), 'utf8'))
    const changes = new Map<string, Buffer>()
    for (let done = false; !done; ) {
      done = steps.next().done === true
      const named = join(here.folder, `${STORE}-changes.2`)
      if (existsSync(named)) changes.set(named, readFileSync(named))
    }
    const now = list()
    const [path, content] = [...changes].at(-1)!
    for (const entry of now.databases) if (entry.name === STORE) entry.changes = `${STORE}-changes.2`
    writeFileSync(join(here.folder, 'backup.json'), JSON.stringify(now))
    const whole = readFileSync(base)
    for (const part of [0, 3, 20, whole.length / 4096]) {
      writeFileSync(path, content)
      writeFileSync(base, Buffer.concat([whole.subarray(0, part * 4096), old.subarray(part * 4096)]))
      assert.deepEqual(await held(t, join(await restored(t, here.folder), STORE)), after)
    }
    finish(takeBackup(optionsOf(here)))
    assert.equal(existsSync(path), false)
    assert.deepEqual(await held(t, join(await restored(t, here.folder), STORE)), after)
  })

  it('in the middle of a restore leaves the old folder, or one that the same command finishes', async t => {
    const here = await place(t)
    finish(takeBackup(optionsOf(here)))
    const expected = await held(t, join(here.data, STORE))
    const data = await dataFolder(t)
    writeFileSync(join(data, SMALL), 'old')
    mkdirSync(join(data, 'networks'))
    const options = { backup: here.folder, data, force: true }
    const steps = restoreBackup(options)
    while (!steps.next().done) assert.equal(readFileSync(join(data, SMALL), 'utf8'), 'old')
    // As if it had been killed after each of its moves.
    for (const moved of [0, 1, 2, 3, 4]) {
      const half = await dataFolder(t)
      writeFileSync(join(half, SMALL), 'old')
      const again = { backup: here.folder, data: half, force: true }
      for (const step of restoreBackup(again)) assert.ok(step)
      const waiting = join(half, 'restoring')
      mkdirSync(waiting)
      for (const name of [SMALL, 'networks', 'abis'].slice(moved)) renameSync(join(half, name), join(waiting, name))
      if (moved < 4) writeFileSync(join(waiting, '.complete'), '')
      writeFileSync(join(waiting, '.cleared'), join(half, 'aside'))
      const { aside } = finish(restoreBackup({ ...again, force: false }))
      assert.equal(aside, join(half, 'aside'))
      assert.deepEqual(await held(t, join(half, STORE)), expected)
      assert.equal(existsSync(waiting), false)
    }
    assert.ok(statSync(join(data, dirname(STORE))).isDirectory())
    // And at its very end.
    mkdirSync(join(data, 'restoring'))
    lockDataFolder(data, 'serve').release()
  })
})
