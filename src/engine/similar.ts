import { DIMENSIONS } from '../decode/features.ts'
import { rawBytesOf } from '../lib/bytes.ts'
import { messageOf, refuse } from '../lib/errors.ts'
import { useVectorExtension } from '../lib/runtime.ts'
import type { Db } from '../sqlite/database.ts'

/**
 * Vectors of distinct codes by their numbers, which count up from a small one. Three bits for each number of a vector stand in rows of
 * their own: by how many of these differ, those that may be the nearest are told with little to read.
 */
export const SIMILAR_SCHEMA: readonly string[] = [
  'CREATE TABLE similar (id INTEGER PRIMARY KEY, vector BLOB NOT NULL)',
  'CREATE TABLE similar_bits (id INTEGER PRIMARY KEY, bits BLOB NOT NULL)',
]

/** From the layout before, which had the bits of 126 codes in a row. Codes from this number in `meta` on have no bits yet. */
export const SIMILAR_MIGRATION: readonly string[] = [
  'DROP TABLE similar_signs',
  SIMILAR_SCHEMA[1]!,
  "INSERT INTO meta (key, value) VALUES ('similar_bits', 0)",
]

const WITHOUT_BITS = "SELECT value FROM meta WHERE key = 'similar_bits'"

export type SimilarSearch = ReturnType<typeof createSimilar>

/** Needs nothing of sqlite-vec, so that stores are written everywhere. */
export const createSimilarWriter = (db: Db) => {
  const putVector = db.prepare('INSERT OR REPLACE INTO similar (id, vector) VALUES (?, ?)')
  const putBits = db.prepare('INSERT OR REPLACE INTO similar_bits (id, bits) VALUES (?, ?)')
  const withoutBits = db.prepare<[], number>(WITHOUT_BITS).pluck()
  const vectorsFrom = db
    .prepare<[number, number], [number, Buffer]>('SELECT id, vector FROM similar WHERE id >= ? ORDER BY id LIMIT ?')
    .raw()
  const setWithoutBits = db.prepare("UPDATE meta SET value = ? WHERE key = 'similar_bits'")
  const allHaveBits = db.prepare("DELETE FROM meta WHERE key = 'similar_bits'")

  return {
    /** Keeps a code's vector in place of the one it had; part of whatever transaction is open. */
    put(id: number, vector: Int8Array): void {
      putVector.run(id, rawBytesOf(vector))
      putBits.run(id, quarterBits(vector))
    },
    /** One step of adding the bits that are missing; whether there may be more. Within a transaction. */
    addBits(): boolean {
      const from = withoutBits.get()
      if (from === undefined) return false
      const rows = vectorsFrom.all(from, CODES_PER_STEP)
      for (const [id, vector] of rows) putBits.run(id, quarterBits(int8Of(vector)))
      if (rows.length < CODES_PER_STEP) allHaveBits.run()
      else setWithoutBits.run(rows.at(-1)![0] + 1)
      return rows.length === CODES_PER_STEP
    },
  }
}

/** Throws where sqlite-vec cannot be had. */
export const createSimilar = (db: Db) => {
  loadVectors(db)
  let checking = () => {}
  // A statement cannot be stopped from outside.
  db.function('checked', () => {
    checking()
    return 1
  })
  const getVector = db.prepare<[number], Buffer>('SELECT vector FROM similar WHERE id = ?').pluck()
  const withoutBits = db.prepare<[], number>(WITHOUT_BITS).pluck()
  const nearest = db.prepare<[object], { id: number; similarity: number | null }>(`
    WITH candidate AS (
      SELECT id FROM (SELECT id FROM similar_bits WHERE id < @from AND (id & ${CHECK_EVERY - 1} OR checked())
        ORDER BY vec_distance_hamming(vec_bit(bits), vec_bit(@bits)) LIMIT @most)
      UNION ALL SELECT id FROM similar WHERE id >= @from AND (id & ${CHECK_EVERY - 1} OR checked()))
    SELECT id, round(1 - vec_distance_cosine(vec_int8(vector), vec_int8(@vector)), 9) AS similarity
      FROM candidate CROSS JOIN similar USING (id) ORDER BY similarity DESC, id`)

  return {
    /** The vector of a code, undefined where none is kept. */
    vector(id: number): Int8Array | undefined {
      const vector = getVector.get(id)
      return vector && int8Of(vector)
    },

    /**
     * The codes that have most in common with a vector, the nearest first, and how much: 1 all … 0 nothing. These are at least
     * `count` where there are as many that have anything in common. `check` is called every few milliseconds.
     */
    *nearest(vector: Int8Array, count: number, check: () => void): Iterable<{ id: number; similarity: number }> {
      const from = withoutBits.get() ?? Number.MAX_SAFE_INTEGER
      const most = Math.max(CANDIDATES, 4 * count)
      checking = check
      const asked = { from, most, bits: quarterBits(vector), vector: rawBytesOf(vector) }
      // A vector of zeros has a similarity of NULL to all.
      for (const { id, similarity } of nearest.iterate(asked)) {
        if (!similarity || similarity <= 0) return
        yield { id, similarity }
      }
    },
  }
}

/** What is wrong with the bits of codes; undefined where nothing is. Reads all of them. */
export const findSimilarFault = (db: Db): string | undefined => {
  const rows = db
    .prepare<[], [number, Buffer, Buffer | null]>(
      `SELECT id, vector, bits FROM similar LEFT JOIN similar_bits USING (id) WHERE id < ifnull((${WITHOUT_BITS}), 1 << 62)`,
    )
    .raw()
  for (const [id, vector, bits] of rows.iterate())
    if (vector.length !== DIMENSIONS || !bits?.equals(quarterBits(int8Of(vector))))
      return `the bits by which codes like code ${id} are found are not those of its vector`
  return undefined
}

/** By the bits so many candidates are found, by their vectors the nearest of these: 96 % of those that all vectors would tell. */
const CANDIDATES = 1500
/** Codes between two looks at the clock: a power of two. */
const CHECK_EVERY = 2 ** 13
/** Codes that get their bits in one transaction: some 5 ms. */
const CODES_PER_STEP = 500

/** Where the quarters of normally distributed numbers begin, in standard deviations. */
const QUARTERS = [-0.67, 0, 0.67]

/** In which quarter each number of a vector is: numbers that are further apart differ in more bits. */
const quarterBits = (vector: Int8Array): Buffer => {
  const deviation = Math.sqrt(vector.reduce((sum, number) => sum + number * number, 0) / DIMENSIONS)
  const bits = Buffer.alloc((QUARTERS.length * DIMENSIONS) / 8)
  let at = 0
  for (const quarter of QUARTERS)
    for (const number of vector) {
      if (number >= quarter * deviation) bits[at >> 3]! |= 1 << (at & 7)
      at++
    }
  return bits
}

const int8Of = (blob: Buffer): Int8Array => new Int8Array(blob.buffer, blob.byteOffset, blob.length)

/** Has a connection know the functions of sqlite-vec. Whoever asks for them where it cannot be loaded is refused, with the reason. */
export const loadVectors = (db: Db) => {
  // Its types do not know of the second parameter.
  const load: (path: string, entryPoint: string) => unknown = db.loadExtension
  try {
    useVectorExtension(path => load.call(db, path, 'sqlite3_vec_init'))
  } catch (error) {
    // Files of the server are nothing for its clients.
    const reason = messageOf(error).replaceAll(/\S*[/\\]\S*/g, '…')
    throw refuse(
      'not_implemented_exception',
      `Similar contracts, events and calls need sqlite-vec, which cannot be loaded on this server (${process.platform} ${process.arch}): ${reason}. Everything else works.`,
      error,
    )
  }
}
