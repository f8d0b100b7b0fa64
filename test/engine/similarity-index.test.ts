import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import { createRandom } from '../../scripts/lib/random.ts'
import { DIMENSIONS, similarityOf } from '../../src/decode/code-similarity.ts'
import {
  createSimilar,
  createSimilarWriter,
  findSimilarFault,
  SIMILAR_SCHEMA,
  similarMigration,
} from '../../src/engine/similarity-index.ts'
import type { Db } from '../../src/sqlite/database.ts'

const META = 'CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID'

const open = (path = ':memory:') => {
  const db = new Database(path)
  db.pragma('journal_mode = WAL')
  for (const statement of [META, ...SIMILAR_SCHEMA]) db.exec(statement)
  return db
}

const both = (db: Db) => ({ ...createSimilarWriter(db), nearest: nearestIn(db) })

const nearestIn = (db: Db) => {
  const { nearest } = createSimilar(db)
  return (vector: Int8Array, count: number) => [...nearest(vector, count, () => {})].slice(0, count)
}

const random = createRandom()
const randomVector = () => Int8Array.from({ length: DIMENSIONS }, () => random.below(255) - 127)
/** The vector with a share of its numbers exchanged. */
const forkOf = (vector: Int8Array, share: number) =>
  vector.map(number => (random.unit() < share ? random.below(255) - 127 : number))

/** What an exact search finds, computed without sqlite-vec. */
const exactly = (vectors: ReadonlyMap<number, Int8Array>, asked: Int8Array, count: number) =>
  rounded([...vectors].map(([id, vector]) => ({ id, similarity: similarityOf(asked, vector) })))
    .filter(({ similarity }) => similarity > 0)
    .sort((a, b) => b.similarity - a.similarity || a.id - b.id)
    .slice(0, count)

const rounded = (list: readonly { id: number; similarity: number }[]) =>
  list.map(({ id, similarity }) => ({ id, similarity: Number(similarity.toFixed(4)) }))

/** Puts a vector under each of the numbers. */
const putAll = (
  { put }: ReturnType<typeof createSimilarWriter>,
  ids: readonly number[],
  make: (id: number) => Int8Array = randomVector,
) => {
  const vectors = new Map(ids.map(id => [id, make(id)]))
  for (const [id, vector] of vectors) put(id, vector)
  return vectors
}

const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1)

test('the nearest are those that an exact search finds', () => {
  random.seek(1, 2, 3, 4)
  const similar = both(open())
  const families = Array.from({ length: 300 }, randomVector)
  const vectors = putAll(similar, upTo(3000), id => forkOf(families[id % 300]!, 0.3 * random.unit()))
  for (let i = 0; i < 100; i++) {
    const asked = forkOf(families[i]!, 0.2)
    const [found, due] = [similar.nearest(asked, 5), exactly(vectors, asked, 5)]
    for (const [rank, { similarity }] of found.entries())
      assert.ok(Math.abs(similarity - due[rank]!.similarity) < 1e-4, `${similarity}`)
    // Those as near as the last one may stand in for each other, and so may those that differ by less than is shown.
    const last = due.at(-1)!.similarity + 1e-4
    const sure = (list: typeof due) => new Set(list.filter(({ similarity }) => similarity > last).map(({ id }) => id))
    assert.deepEqual(sure(found), sure(due))
  }
})

test('all are found where there are few, but for those with nothing in common', () => {
  random.seek(2, 2, 3, 4)
  const similar = both(open())
  const ids = [0, 1, 4095, 4096, 8192, 10_000, 100_000, 2 ** 40]
  const vectors = putAll(similar, ids)
  const asked = randomVector()
  const all = exactly(vectors, asked, 100)
  assert.ok(all.length > 1 && all.length < ids.length)
  assert.deepEqual(rounded(similar.nearest(asked, 100)), all)
  assert.deepEqual(rounded(similar.nearest(asked, 1)), all.slice(0, 1))
  assert.deepEqual(similar.nearest(new Int8Array(DIMENSIONS), 10), [])
})

test('nothing is found in an empty store', () => {
  assert.deepEqual(nearestIn(open())(randomVector(), 10), [])
})

test('codes of one vector are told by their numbers, the first ones where there are too many', () => {
  const { put, nearest } = both(open())
  const vector = randomVector()
  for (let id = 1; id <= 3000; id++) put(id, vector)
  put(5000, forkOf(vector, 0.01))
  assert.deepEqual(
    nearest(vector, 20),
    upTo(20).map(id => ({ id, similarity: 1 })),
  )
  assert.equal(nearest(vector, 1000).length, 1000)
})

test('a vector put again takes the place of the first, and one of zeros is like none', () => {
  const { put, nearest } = both(open())
  const [first, second] = [randomVector(), randomVector()]
  put(7, first)
  put(8, new Int8Array(DIMENSIONS))
  assert.deepEqual(nearest(first, 10), [{ id: 7, similarity: 1 }])
  put(7, second)
  assert.deepEqual(nearest(second, 10), [{ id: 7, similarity: 1 }])
  assert.deepEqual(rounded(nearest(first, 10)), exactly(new Map([[7, second]]), first, 10))
  put(7, new Int8Array(DIMENSIONS))
  assert.deepEqual(nearest(second, 10), [])
})

test('a code whose row was taken away is not found', () => {
  const db = open()
  const { put, nearest } = both(db)
  const vector = randomVector()
  put(1, vector)
  put(2, vector)
  db.exec('DELETE FROM similar WHERE id = 1')
  assert.deepEqual(nearest(vector, 10), [{ id: 2, similarity: 1 }])
})

test('a store of the layout before finds the same while its bits are added, and from where that was left', () => {
  random.seek(3, 2, 3, 4)
  const db = open()
  const vectors = putAll(createSimilarWriter(db), upTo(1700))
  db.exec('DROP TABLE similar_bits; CREATE TABLE similar_signs (run INTEGER PRIMARY KEY, signs BLOB NOT NULL)')
  for (const statement of similarMigration('similar_signs')) db.exec(statement)
  const asked = randomVector()
  let steps = 0
  for (let more = true; more; steps++) {
    const { put, nearest, addBits } = both(db)
    assert.deepEqual(rounded(nearest(asked, 10)), exactly(vectors, asked, 10), `step ${steps}`)
    assert.equal(findSimilarFault(db), undefined)
    // New codes come meanwhile.
    vectors.set(2000 + steps, forkOf(asked, 0.9))
    put(2000 + steps, vectors.get(2000 + steps)!)
    if (steps === 2) assert.throws(() => db.transaction(() => void (addBits() && undo()))(), /undone/)
    more = db.transaction(addBits)()
  }
  assert.equal(steps, 4)
  assert.equal(createSimilarWriter(db).addBits(), false)
  assert.deepEqual(rounded(both(db).nearest(asked, 10)), exactly(vectors, asked, 10))
  assert.equal(findSimilarFault(db), undefined)
  assert.equal(db.prepare('SELECT count(*) FROM meta').pluck().get(), 0)
})

const undo = () => {
  throw new Error('undone')
}

test('bits that are missing or not those of the vector are a fault', () => {
  for (const damage of ['DELETE FROM similar_bits', "UPDATE similar_bits SET bits = x'00'"]) {
    const db = open()
    putAll(createSimilarWriter(db), upTo(9))
    assert.equal(findSimilarFault(db), undefined)
    db.exec(damage)
    assert.match(findSimilarFault(db)!, /code 1/)
  }
})

test('a search is given up in the middle, by what its check throws, and the next one is whole', () => {
  const db = open()
  const writing = createSimilarWriter(db)
  const vector = randomVector()
  db.transaction(() => {
    for (let id = 1; id <= 30_000; id++) writing.put(id, vector)
  })()
  const { nearest } = createSimilar(db)
  const enough = new Error('enough')
  let checks = 0
  const check = () => {
    if (++checks === 2) throw enough
  }
  assert.throws(
    () => [...nearest(vector, 10, check)],
    error => error === enough,
  )
  checks = -100
  assert.equal([...nearest(vector, 10, check)].length, 1500)
  // Once for some thousand codes, not for each.
  assert.equal(checks, -100 + Math.floor(30_001 / 126 / 32))
})

test('what is put is part of the transaction, read by other connections, and outlives VACUUM', (t: TestContext) => {
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-similar-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'similar.sqlite')
  const db = open(path)
  const writing = createSimilarWriter(db)
  const vectors = Array.from({ length: 10 }, randomVector)
  db.transaction(() => vectors.forEach((vector, i) => void writing.put(i + 1, vector)))()
  const reader = new Database(path, { readonly: true })
  const nearest = nearestIn(reader)
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
  // What comes later is found as well.
  for (const id of [11, 12, 125, 126, 400]) {
    const more = randomVector()
    writing.put(id, more)
    assert.deepEqual(nearest(more, 1), [{ id, similarity: 1 }])
  }
  assert.deepEqual(found(), expected)
  reader.close()
  db.close()
})
