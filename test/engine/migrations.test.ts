import assert from 'node:assert/strict'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { createBlocks } from '../../src/engine/blocks.ts'
import { createCoverageReader } from '../../src/engine/coverage.ts'
import { mayMigrate, openForReading, openForWriting } from '../../src/engine/open.ts'
import { SCHEMA_VERSION } from '../../src/engine/schema.ts'
import { findSimilarFault } from '../../src/engine/similarity-index.ts'
import { createWriter } from '../../src/engine/writer.ts'
import { dropSums } from '../../src/sqlite/checksums.ts'
import { migrate } from '../../src/sqlite/database.ts'
import { tempFolder } from '../support/pack.ts'
import { createTestStore, demoBlocks, WITHOUT_SHELF } from '../support/store.ts'

const STEPS = new Map([
  [11, ['ALTER TABLE a ADD COLUMN c INT DEFAULT 7']],
  [12, ['CREATE TABLE b (x INT)', 'INSERT INTO b SELECT c FROM a']],
])

const old = (version: number) => {
  const db = new Database(':memory:')
  db.exec('CREATE TABLE a (x INT); INSERT INTO a VALUES (1), (2)')
  db.pragma(`user_version = ${version}`)
  return db
}

test('a store goes from any version with a way on to the newest, step by step', () => {
  const db = old(10)
  assert.ok(mayMigrate(10) && mayMigrate(SCHEMA_VERSION))
  assert.equal(mayMigrate(9), false)
  migrate(db, 12, version => STEPS.get(version)!)
  assert.deepEqual(db.prepare('SELECT x FROM b').pluck().all(), [7, 7])
  assert.equal(db.pragma('user_version', { simple: true }), 12)
})

test('a step that fails leaves the store as it was', () => {
  const db = old(10)
  const broken = new Map(STEPS).set(12, ['CREATE TABLE b (x INT)', 'nonsense'])
  assert.throws(() => migrate(db, 12, version => broken.get(version)!), /nonsense/)
  assert.equal(db.pragma('user_version', { simple: true }), 10)
  assert.deepEqual(db.prepare('SELECT * FROM a').raw().all(), [[1], [2]])
})

/** Takes back what version 12 brought, too. */
const WITHOUT_SCOPES = `${WITHOUT_SHELF} ALTER TABLE segment DROP COLUMN block; ALTER TABLE segment DROP COLUMN scoped;
  ${['scope', 'coverage', 'looked', 'child'].map(table => `DROP TABLE ${table}`).join(';')}`

test('segments of version 11 hold whole blocks, and count them', t => {
  const store = createTestStore(demoBlocks().slice(0, 40))
  t.after(store.close)
  const read = () => opened.prepare('SELECT first, last, block, scoped FROM segment ORDER BY first').all()
  let opened = store.db
  const before = read()
  const ranges = createBlocks(store.db).ranges()
  store.db.exec(WITHOUT_SCOPES)
  store.db.pragma('user_version = 11')
  store.db.close()
  dropSums(store.path)
  opened = openForWriting(store.path)
  t.after(() => void opened.close())
  assert.deepEqual(read(), before)
  assert.deepEqual(createBlocks(opened).ranges(), ranges)
  assert.deepEqual(createCoverageReader(opened).covered(), new Map())
})

test('a store of version 10 gets the bits of its codes, by a writer that is idle', t => {
  const store = createTestStore(demoBlocks())
  t.after(store.close)
  const count = (table: string) => opened.prepare(`SELECT count(*) FROM ${table}`).pluck().get()
  store.db.exec('DROP TABLE similar_bits; CREATE TABLE similar_signs (run INTEGER PRIMARY KEY, signs BLOB NOT NULL)')
  store.db.exec(WITHOUT_SCOPES)
  store.db.pragma('user_version = 10')
  store.db.close()
  dropSums(store.path)
  const opened = openForWriting(store.path)
  t.after(() => void opened.close())
  assert.equal(opened.pragma('user_version', { simple: true }), SCHEMA_VERSION)
  assert.deepEqual([count('similar_bits'), findSimilarFault(opened)], [0, undefined])
  const writer = createWriter(opened)
  while (writer.modernize());
  assert.ok((count('similar') as number) > 10)
  assert.ok((count('similar_bits') as number) > 0)
  assert.equal(findSimilarFault(opened), undefined)
})

test('a store of another version is refused where there is no way', async t => {
  for (const [version, code] of [
    [SCHEMA_VERSION + 1, 'store_newer'],
    [1, 'store_older'],
  ] as const) {
    const path = await (await tempFolder(t))('network.sqlite', '')
    openForWriting(path).close()
    const db = new Database(path)
    db.pragma(`user_version = ${version}`)
    db.close()
    // What wrote it has put down others.
    dropSums(path)
    for (const open of [openForReading, openForWriting]) assert.throws(() => open(path), { code })
  }
})
