import assert from 'node:assert/strict'
import fs, {
  copyFileSync,
  existsSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { Worker } from 'node:worker_threads'
import { createRandom } from '../../scripts/lib/random.ts'
import { openForReading, openForWriting } from '../../src/engine/open.ts'
import { makePrivateFile } from '../../src/lib/files.ts'
import { sumsFile } from '../../src/sqlite/checksums.ts'
import { holdOpen } from '../../src/sqlite/database.ts'
import { checkPages, sealPages } from '../../src/sqlite/verify-pages.ts'
import { countDropped } from '../../src/sqlite/wal.ts'
import { tempFolder } from '../support/pack.ts'
import { createTestStore, demoBlocks } from '../support/store.ts'

const PAGE = 4096

/** The file of a closed store. */
const closedStore = async (t: TestContext): Promise<string> => {
  const path = join(await (await tempFolder(t))('network.sqlite', ''))
  createTestStore(demoBlocks().slice(0, 40), { path }).close()
  return path
}

const damagedPages = (path: string): number[] | undefined => {
  for (const steps = checkPages(path); ; ) {
    const { done, value } = steps.next()
    if (done) return value?.damaged
  }
}

const flip = (path: string, at: number, bit = 0) => {
  const bytes = readFileSync(path)
  bytes[at]! ^= 1 << bit
  writeFileSync(path, bytes)
}

describe('a damaged store', () => {
  it('is found by each bit that is not what it was', async t => {
    const path = await closedStore(t)
    assert.deepEqual(damagedPages(path), [])
    const whole = readFileSync(path)
    const random = createRandom()
    random.seek(1, 0, 0, 0)
    for (let round = 0; round < 8; round++) {
      const bytes = Buffer.from(whole)
      const flipped = Array.from({ length: 40 }, () => random.below(whole.length))
      // Each page once, so that no flip undoes another.
      const places = new Map(flipped.map(at => [Math.floor(at / PAGE) + 1, at]))
      for (const at of places.values()) bytes[at]! ^= 1 << random.below(8)
      writeFileSync(path, bytes)
      assert.deepEqual(
        damagedPages(path),
        [...places.keys()].sort((a, b) => a - b),
      )
    }
  })

  it('is found when it lacks pages, has too many, or has them in each other’s place', async t => {
    const path = await closedStore(t)
    const whole = readFileSync(path)
    const count = whole.length / PAGE
    writeFileSync(path, whole.subarray(0, -PAGE))
    assert.deepEqual(damagedPages(path), [count])
    assert.throws(() => openForWriting(path), { code: 'store_damaged' })
    writeFileSync(path, Buffer.concat([whole, Buffer.alloc(PAGE)]))
    assert.deepEqual(damagedPages(path), [count + 1])
    const [a, b] = [whole.subarray(2 * PAGE, 3 * PAGE), whole.subarray(3 * PAGE, 4 * PAGE)]
    writeFileSync(path, Buffer.concat([whole.subarray(0, 2 * PAGE), b, a, whole.subarray(4 * PAGE)]))
    assert.deepEqual(damagedPages(path), [3, 4])
  })

  it('is refused before a page is replaced by what was made of it, and from then on', async t => {
    const path = await closedStore(t)
    const db = openForWriting(path)
    const page = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'meta'").pluck().get() as number
    db.exec("INSERT INTO meta VALUES ('own', 1)")
    flip(path, (page - 1) * PAGE + 2000)
    const refusal = { next: 'stop', code: 'store_damaged', message: new RegExp(`\\(page ${page}\\).*index again`) }
    assert.throws(() => db.settle(1), refusal)
    assert.throws(() => db.close(), refusal)
    assert.ok(statSync(`${path}-wal`).size > 0)
    assert.throws(() => openForWriting(path), refusal)
    assert.deepEqual(damagedPages(path), [page])
  })

  it('is named where SQLite is the first to notice', async t => {
    const path = await closedStore(t)
    rmSync(sumsFile(path))
    writeFileSync(path, readFileSync(path).fill('x', 0, 100))
    for (const open of [openForReading, openForWriting])
      assert.throws(() => open(path), {
        next: 'stop',
        code: 'store_damaged',
        message:
          `${path} is damaged. Check the disk, move away the file and those whose names ` +
          'begin like it, and restore a backup or index again.',
      })
  })
})

describe('a log', () => {
  it('that is damaged before its end tells how many transactions are behind that, and one that was cut none', async t => {
    const path = await closedStore(t)
    const db = openForWriting(path)
    const insert = db.prepare('INSERT INTO meta VALUES (?, 1)')
    for (let i = 0; i < 20; i++) insert.run(`own ${i}`)
    // What was taken back stays in the file, behind the last commit.
    db.exec('BEGIN; CREATE TABLE own (x)')
    db.exec('INSERT INTO own SELECT randomblob(100) FROM pragma_function_list; ROLLBACK')
    const log = readFileSync(`${path}-wal`)
    const copy = await (await tempFolder(t))('network.sqlite', '')
    const droppedOf = (bytes: Buffer) => {
      writeFileSync(`${copy}-wal`, bytes)
      return countDropped(copy)
    }
    assert.equal(droppedOf(log), 0)
    for (const size of [0, 10, 32, 5_000, 32 + 4_120 * 7, log.length - 1])
      assert.equal(droppedOf(log.subarray(0, size)), 0)
    const flipped = (at: number) => {
      const bytes = Buffer.from(log)
      bytes[at]! ^= 1
      return droppedOf(bytes)
    }
    // In the head of the log, in that of a frame, in its salts, in a page.
    assert.equal(flipped(20), 20)
    for (const at of [0, 10, 500]) assert.equal(flipped(32 + 4_120 * 4 + at), 15)
    assert.equal(flipped(32 + 4_120 * 19 + 500), 0)
    db.close()
  })
})

describe('checksums of pages', () => {
  it('are made for a store that has none, or is made in place of another', async t => {
    const path = await closedStore(t)
    rmSync(sumsFile(path))
    assert.equal(damagedPages(path), undefined)
    openForWriting(path).close()
    assert.deepEqual(damagedPages(path), [])
    for (const file of [path, sumsFile(path)]) rmSync(file)
    openForWriting(path).close()
    assert.deepEqual(damagedPages(path), [])
  })

  it('hold at each moment beside a writer that copies its log, or cannot since somebody reads', async t => {
    const path = await (await tempFolder(t))('network.sqlite', '')
    const blocks = demoBlocks().slice(0, 60)
    const store = createTestStore(blocks.slice(0, 20), { path, run: 2 })
    let looks = 0
    const look = () => {
      assert.deepEqual(damagedPages(path), [])
      looks++
    }
    for (let next = 20; next < 60; next += 4) {
      if (next % 3 === 0) store.reader.begin()
      store.add(blocks.slice(next, next + 4))
      look()
      store.db.settle(1)
      look()
      // As a kill leaves it.
      const copy = await (await tempFolder(t))('network.sqlite', '')
      for (const suffix of ['', '-wal', '-sums'])
        if (existsSync(path + suffix)) copyFileSync(path + suffix, copy + suffix)
      openForWriting(copy).close()
      assert.deepEqual(damagedPages(copy), [])
      if (next % 3 === 0) store.reader.end()
    }
    assert.equal(looks, 20)
    store.close()
    assert.deepEqual(damagedPages(path), [])
  })

  it('are not expected of the page that SQLite keeps for its locks, which no store of more than 1 GiB is ever written', async t => {
    const path = await (await tempFolder(t))('network.sqlite', '')
    // A file with holes: it takes no room.
    truncateSync(path, 2 ** 30 + 2 * PAGE)
    const sums = sealPages(path)
    sums.write(new Map([[2 ** 30 / PAGE + 1, 0]]))
    sums.close()
    assert.deepEqual(damagedPages(path), [])
  })

  it('are all there or none, where their making was cut short', async t => {
    const path = await closedStore(t)
    rmSync(sumsFile(path))
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    const write = t.mock.method(fs, 'fdatasyncSync', () => {
      throw full
    })
    syncBuiltinESMExports()
    try {
      assert.throws(() => openForWriting(path), full)
    } finally {
      write.mock.restore()
      syncBuiltinESMExports()
    }
    assert.ok(!existsSync(sumsFile(path)))
    openForWriting(path).close()
    assert.deepEqual(damagedPages(path), [])
  })

  it('are of what the disk has already: a power cut may take the rest of the log', {
    skip: !existsSync('/proc/self/fd'),
  }, async t => {
    const path = await closedStore(t)
    const db = openForWriting(path)
    db.exec("INSERT INTO meta VALUES ('own', 1)")
    const synced: string[] = []
    const { fdatasyncSync } = fs
    const sync = t.mock.method(fs, 'fdatasyncSync', (file: number) => {
      synced.push(readlinkSync(`/proc/self/fd/${file}`))
      fdatasyncSync(file)
    })
    syncBuiltinESMExports()
    try {
      db.settle(1)
    } finally {
      sync.mock.restore()
      syncBuiltinESMExports()
    }
    db.close()
    assert.deepEqual(synced, [`${path}-wal`, sumsFile(path)])
  })

  it('take no lock from those who have the store open: else another program that looks in removes the log', {
    skip: !existsSync('/proc/locks'),
  }, async t => {
    const path = await closedStore(t)
    const db = openForWriting(path)
    db.exec("INSERT INTO meta VALUES ('own', 1)")
    db.settle(1)
    assert.deepEqual(damagedPages(path), [])
    makePrivateFile(path)
    const inode = statSync(path).ino
    const locks = readFileSync('/proc/locks', 'utf8').split('\n')
    assert.ok(locks.some(lock => lock.includes(` ${process.pid} `) && lock.includes(`:${inode} 107374182`)))
    db.close()
  })

  it('hold where the thread that writes is ended', async t => {
    const path = await closedStore(t)
    const letGo = holdOpen(path)
    const source = new URL('../../src/engine/open.ts', import.meta.url).href
    const worker = new Worker(
      `import(${JSON.stringify(source)}).then(({ openForWriting }) => {
         globalThis.db = openForWriting(${JSON.stringify(path)})
         db.exec("INSERT INTO meta VALUES ('own', 1)")
         require('node:worker_threads').parentPort.postMessage('written')
       })`,
      { eval: true },
    )
    await new Promise(resolve => worker.once('message', resolve))
    await worker.terminate()
    letGo()
    assert.ok(statSync(`${path}-wal`).size > 0)
    assert.deepEqual(damagedPages(path), [])
    const db = openForWriting(path)
    assert.equal(db.prepare("SELECT value FROM meta WHERE key = 'own'").pluck().get(), 1)
    db.close()
    assert.deepEqual(damagedPages(path), [])
  })
})
