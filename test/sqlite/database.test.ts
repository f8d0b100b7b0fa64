import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import Database from 'better-sqlite3'
import { isStoreOlder, openForReading, openForWriting } from '../../src/engine/open.ts'
import { SCHEMA_VERSION } from '../../src/engine/schema.ts'
import { makeChain, tempFolder } from '../support/pack.ts'
import { createTestStore, leaveUnmade } from '../support/store.ts'

describe('opening a store', () => {
  it('makes it once, with a key of its own for its hashes', async t => {
    const file = await tempFolder(t)
    const path = await file('a.sqlite', '')
    const other = await file('b.sqlite', '')
    const keysOf = (path: string) => {
      const db = openForWriting(path)
      const keys = db.prepare("SELECT value FROM meta WHERE key LIKE 'hash_key_%' ORDER BY key").pluck().all()
      assert.equal(db.pragma('user_version', { simple: true }), SCHEMA_VERSION)
      assert.equal(db.pragma('journal_mode', { simple: true }), 'wal')
      db.close()
      return keys
    }
    const keys = keysOf(path)
    assert.equal(keys.length, 2)
    assert.deepEqual(keysOf(path), keys)
    assert.notDeepEqual(keysOf(other), keys)
  })

  it('makes it again after a kill before it had a write-ahead log', async t => {
    const file = await tempFolder(t)
    const path = await file('a.sqlite', '')
    leaveUnmade(path)
    assert.equal(isStoreOlder(path), false)
    openForWriting(path).close()
    openForReading(path).close()
  })

  const others = [
    {
      wrote: 'a newer version',
      version: SCHEMA_VERSION + 1,
      code: 'store_newer',
      why:
        `was written by a newer version of Chainsieve (store version ${SCHEMA_VERSION + 1}, this one knows ${SCHEMA_VERSION}): ` +
        'run that version, or index into another data folder',
    },
    {
      wrote: 'an older version',
      version: 9,
      code: 'store_older',
      why:
        'was written by an older version of Chainsieve, in a layout that this version cannot read (store version 9, ' +
        `this one knows ${SCHEMA_VERSION}): move the file away, or choose another data folder, and index the chain again`,
    },
  ]
  for (const { wrote, version, code, why } of others)
    it(`refuses one that ${wrote} wrote, and leaves it as it is`, async t => {
      const path = await (await tempFolder(t))('network.sqlite', '')
      const other = new Database(path)
      other.exec('CREATE TABLE meta (something_else)')
      other.pragma(`user_version = ${version}`)
      other.close()
      const refusal = { next: 'stop', code, message: `${path} ${why}` }
      assert.throws(() => openForWriting(path), refusal)
      assert.throws(() => openForReading(path), refusal)
      const left = new Database(path)
      assert.deepEqual(left.prepare('SELECT sql FROM sqlite_schema').pluck().all(), [
        'CREATE TABLE meta (something_else)',
      ])
      left.close()
    })

  it('reads none that nothing was written to', async t => {
    const path = await (await tempFolder(t))('network.sqlite', '')
    assert.throws(() => openForReading(path), {
      next: 'stop',
      code: 'store_empty',
      message: `${path} is not a store yet: chainsieve serve, index or import creates it`,
    })
    assert.throws(() => openForReading(join(path, '..', 'none.sqlite')), /unable to open database file/)
  })

  it('goes on with what another process left, caches and filters empty', () => {
    const blocks = makeChain({ blocks: 8 })
    const first = createTestStore(blocks.slice(0, 4))
    const second = createTestStore(blocks.slice(4), { path: first.path })
    const whole = createTestStore(blocks)
    try {
      for (const kind of ['block', 'tx', 'log', 'event'] as const) assert.deepEqual(second.all(kind), whole.all(kind))
      const twice = second.db.prepare('SELECT count(*) - count(DISTINCT bytes) FROM address').pluck().get()
      assert.equal(twice, 0)
    } finally {
      second.close()
      first.close()
      whole.close()
    }
  })
})
