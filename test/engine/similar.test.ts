import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import { load } from 'sqlite-vec'
import { createRandom } from '../../scripts/bench/random.ts'
import { DIMENSIONS, similarityOf } from '../../src/decode/features.ts'
import { createSimilar, SIMILAR_SCHEMA } from '../../src/engine/similar.ts'

const open = (path = ':memory:') => {
  const db = new Database(path)
  db.pragma('journal_mode = WAL')
  for (const statement of SIMILAR_SCHEMA) db.exec(statement)
  return db
}

const random = createRandom()
const randomVector = () => Int8Array.from({ length: DIMENSIONS }, () => random.below(255) - 127)
/** The vector with a share of its numbers exchanged. */
const forkOf = (vector: Int8Array, share: number) =>
  vector.map(number => (random.unit() < share ? random.below(255) - 127 : number))

/** What an exact search finds, by sqlite-vec's own distances. */
const exactly = (db: Database.Database, vector: Int8Array, count: number) =>
  db
    .prepare<unknown[], { id: number; similarity: number }>(
      'SELECT id, 1 - vec_distance_cosine(vec_int8(vector), vec_int8(?)) AS similarity FROM similar ORDER BY similarity DESC, id LIMIT ?',
    )
    .all(Buffer.from(vector.buffer), count)

const rounded = (list: readonly { id: number; similarity: number }[]) =>
  list.map(({ id, similarity }) => ({ id, similarity: Number(similarity.toFixed(5)) }))

test('the nearest are those that an exact search finds', () => {
  random.seek(1, 2, 3, 4)
  const db = open()
  load(db)
  const { put, nearest } = createSimilar(db)
  const families = Array.from({ length: 300 }, randomVector)
  for (let id = 1; id <= 3000; id++) put(id, forkOf(families[id % 300]!, 0.3 * random.unit()))
  for (let i = 0; i < 100; i++) {
    const asked = forkOf(families[i]!, 0.2)
    assert.deepEqual(rounded(nearest(asked, 5)), rounded(exactly(db, asked, 5)))
  }
})

test('all are found where there are few, but for those with nothing in common', () => {
  random.seek(2, 2, 3, 4)
  const db = open()
  load(db)
  const { put, nearest } = createSimilar(db)
  // Numbers with holes, the first and last of their runs among them.
  const ids = [0, 1, 125, 126, 251, 252, 1000, 100_000]
  for (const id of ids) put(id, randomVector())
  const asked = randomVector()
  const all = exactly(db, asked, 100).filter(({ similarity }) => similarity > 0)
  assert.ok(all.length > 1 && all.length < ids.length)
  assert.deepEqual(rounded(nearest(asked, 100)), rounded(all))
  assert.deepEqual(rounded(nearest(asked, 1)), rounded(all.slice(0, 1)))
  assert.deepEqual(nearest(new Int8Array(DIMENSIONS), 10), [])
})

test('nothing is found in an empty store', () => {
  assert.deepEqual(createSimilar(open()).nearest(randomVector(), 10), [])
})

test('codes of one vector are told by their numbers, the first ones where there are too many', () => {
  const { put, nearest } = createSimilar(open())
  const vector = randomVector()
  for (let id = 1; id <= 2000; id++) put(id, vector)
  put(5000, forkOf(vector, 0.01))
  assert.deepEqual(
    nearest(vector, 20),
    Array.from({ length: 20 }, (_, i) => ({ id: i + 1, similarity: 1 })),
  )
  assert.equal(nearest(vector, 1000).length, 1000)
})

test('a vector put again takes the place of the first, and one of zeros is like none', () => {
  const { put, nearest } = createSimilar(open())
  const [first, second] = [randomVector(), randomVector()]
  put(7, first)
  put(8, new Int8Array(DIMENSIONS))
  assert.deepEqual(nearest(first, 10), [{ id: 7, similarity: 1 }])
  put(7, second)
  assert.deepEqual(nearest(second, 10), [{ id: 7, similarity: 1 }])
  assert.deepEqual(
    rounded(nearest(first, 10)),
    rounded([{ id: 7, similarity: similarityOf(first, second) }]).filter(({ similarity }) => similarity > 0),
  )
  put(7, new Int8Array(DIMENSIONS))
  assert.deepEqual(nearest(second, 10), [])
})

test('a code whose row was taken away is not found', () => {
  const db = open()
  const { put, nearest } = createSimilar(db)
  const vector = randomVector()
  put(1, vector)
  put(2, vector)
  db.exec('DELETE FROM similar WHERE id = 1')
  assert.deepEqual(nearest(vector, 10), [{ id: 2, similarity: 1 }])
})

test('what is put is part of the transaction, read by other connections, and outlives VACUUM', (t: TestContext) => {
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-similar-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'similar.sqlite')
  const db = open(path)
  const writing = createSimilar(db)
  const vectors = Array.from({ length: 10 }, randomVector)
  db.transaction(() => vectors.forEach((vector, i) => void writing.put(i + 1, vector)))()
  const reader = new Database(path, { readonly: true })
  const { nearest } = createSimilar(reader)
  const found = () => vectors.map(vector => nearest(vector, 1)[0])
  const expected = vectors.map((_, i) => ({ id: i + 1, similarity: 1 }))
  assert.deepEqual(found(), expected)

  const undone = new Error('undone')
  assert.throws(
    () =>
      db.transaction(() => {
        writing.put(1, vectors[1]!)
        throw undone
      })(),
    undone,
  )
  assert.deepEqual(found(), expected)
  db.exec('DELETE FROM similar WHERE id = 0; VACUUM')
  assert.deepEqual(found(), expected)
  // What comes later is found as well, in a run that was read before and in others.
  for (const id of [11, 12, 125, 126, 400]) {
    const more = randomVector()
    writing.put(id, more)
    assert.deepEqual(nearest(more, 1), [{ id, similarity: 1 }])
  }
  assert.deepEqual(found(), expected)
  reader.close()
  db.close()
})
