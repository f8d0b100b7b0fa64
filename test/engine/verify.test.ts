import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import Database from 'better-sqlite3'
import { verifyContents } from '../../src/engine/verify.ts'
import { tempFolder } from '../support/pack.ts'
import { createTestStore, demoBlocks } from '../support/store.ts'

const closed = async (t: TestContext): Promise<string> => {
  const path = await (await tempFolder(t))('network.sqlite', '')
  createTestStore(demoBlocks().slice(0, 60), { path, run: 20 }).close()
  return path
}

const faultsOf = (path: string, deep = true): string[] => {
  for (const steps = verifyContents(path, deep); ; ) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** Wrong on purpose, with right checksums of pages: what a fault of the program would leave. */
const WRONG: [what: string, sql: string, expected: RegExp][] = [
  [
    'a block of another branch',
    'UPDATE block SET hash = zeroblob(32) WHERE number = (SELECT max(number) - 5 FROM block)',
    /names another parent/,
  ],
  ['a block too few', 'DELETE FROM block WHERE number = (SELECT max(number) - 5 FROM block)', /listed, but not stored/],
  ['a count', 'UPDATE segment SET log = log + 1 WHERE id = (SELECT max(id) FROM segment)', /counts \d+ log documents/],
  [
    'rows too few',
    'DELETE FROM log WHERE pos = (SELECT max(pos) FROM log)',
    /log documents are stored|damaged|not found/,
  ],
  ['an index of nothing', 'DELETE FROM post WHERE id = (SELECT min(id) FROM post)', /no index|damaged/],
  [
    'the index of another segment',
    `UPDATE post SET id = id + 1000000000000 WHERE id / 1048576 = (SELECT max(id) FROM segment);
     UPDATE post SET id = id % 1048576 + (SELECT max(id) FROM segment) * 1048576 WHERE id / 1048576 = (SELECT min(id) FROM segment)`,
    /not found|damaged|no index/,
  ],
  [
    'an index of SQLite',
    "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'token_name'",
    /SQLite finds/,
  ],
]

describe('verifying', () => {
  it('finds nothing in a store that is as it should be', async t => {
    const path = await closed(t)
    assert.deepEqual(faultsOf(path), [])
    assert.deepEqual(faultsOf(path, false), [])
  })

  for (const [what, sql, expected] of WRONG)
    it(`finds ${what}`, async t => {
      const path = await closed(t)
      const db = new Database(path)
      db.unsafeMode()
      db.exec(sql)
      db.close()
      assert.match(faultsOf(path).join('\n'), expected)
    })
})
