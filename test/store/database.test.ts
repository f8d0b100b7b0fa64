import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import Database from 'better-sqlite3'
import type { Document } from '../../src/documents/document.ts'
import { tokensIn } from '../../src/documents/tokens.ts'
import { openForReading, openForWriting } from '../../src/store/database.ts'
import { ALERT_SCHEMA, CALL_SCHEMA, SCHEMA, SCHEMA_VERSION, TRACE_SCHEMA } from '../../src/store/schema.ts'
import { makeChain, tempFolder } from '../support/pack.ts'
import { createTestStore, demoBlocks } from '../support/store.ts'

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

  it('refuses one that a newer version wrote, and leaves it as it is', async t => {
    const file = await tempFolder(t)
    const path = await file('network.sqlite', '')
    const newer = new Database(path)
    newer.exec('CREATE TABLE meta (something_else)')
    newer.pragma(`user_version = ${SCHEMA_VERSION + 1}`)
    newer.close()
    const refusal = {
      next: 'stop',
      code: 'store_newer',
      message:
        `${path} was written by a newer version of Chainsieve (store version ${SCHEMA_VERSION + 1}, this one knows ${SCHEMA_VERSION}): ` +
        'run that version, or index into another data folder',
    }
    assert.throws(() => openForWriting(path), refusal)
    assert.throws(() => openForReading(path), refusal)
    const left = new Database(path)
    assert.deepEqual(left.prepare('SELECT sql FROM sqlite_schema').pluck().all(), [
      'CREATE TABLE meta (something_else)',
    ])
    left.close()
  })

  it('reads none that is older or that nothing was written to', async t => {
    const path = await (await tempFolder(t))('network.sqlite', '')
    assert.throws(() => openForReading(path), {
      next: 'stop',
      code: 'store_older',
      message: /serve, index or import bring it there/,
    })
    assert.throws(() => openForReading(join(path, '..', 'none.sqlite')), /unable to open database file/)
  })

  it('brings one from before contracts and tokens up, with all that it holds, and goes on', async t => {
    const blocks = demoBlocks().slice(0, 40)
    const whole = createTestStore(blocks)
    const half = createTestStore(blocks.slice(0, 30))
    const path = await (await tempFolder(t))('network.sqlite', '')
    const old = new Database(path)
    for (const statement of [...SCHEMA, ...ALERT_SCHEMA, ...TRACE_SCHEMA, ...CALL_SCHEMA]) old.exec(statement)
    old.pragma('user_version = 4')
    old.prepare('ATTACH ? AS half').run(half.path)
    const kept = 'meta block tx tx_bulk log trace trace_bulk call segment post num address name signature'
    for (const table of kept.split(' ')) {
      const columns = (old.pragma(`main.table_info(${table})`) as { name: string }[]).map(({ name }) => `"${name}"`)
      old.exec(`INSERT INTO main.${table} (${columns}) SELECT ${columns} FROM half.${table}`)
    }
    old.exec(`INSERT INTO main.token SELECT bytes, decimals FROM half.token JOIN half.address USING (id);
      INSERT INTO main.token VALUES (x'${'77'.repeat(20)}', 4), (x'${'78'.repeat(20)}', NULL)`)
    const decimals = 'SELECT bytes, decimals FROM token JOIN address USING (id) WHERE decimals IS NOT NULL ORDER BY id'
    const due = half.db.prepare(decimals).all()
    old.close()

    const store = createTestStore(blocks.slice(30), { path })
    try {
      for (const kind of ['block', 'tx', 'log', 'event', 'call'] as const)
        assert.deepEqual(store.all(kind), whole.all(kind), kind)
      assert.deepEqual([due.length > 0, store.db.prepare(decimals).all().slice(0, due.length)], [true, due])
      const after = Number(blocks[30]!.block.number)
      const isAfter = ({ _source }: Document) => Number((_source.blockNumber as { num: number }).num) >= after
      assert.deepEqual(store.all('contract'), whole.all('contract').filter(isAfter))
      const ids = new Set(blocks.slice(30).flatMap(raw => [...tokensIn(raw).keys()]))
      assert.ok(ids.size > 0)
      assert.deepEqual(new Set(store.all('token').map(({ _id }) => _id)).intersection(ids), ids)
    } finally {
      for (const one of [store, half, whole]) one.close()
    }
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
