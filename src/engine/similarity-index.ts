import { DIMENSIONS } from '../decode/code-similarity.ts'
import { rawBytesOf } from '../lib/bytes.ts'
import { messageOf, refuse } from '../lib/errors.ts'
import { useVectorExtension } from '../lib/runtime.ts'
import type { Db } from '../sqlite/database.ts'

/**
 * Vectors of distinct codes by id; ids are dense. `similar_bits` has three bits per component,
 * whose Hamming distance selects candidates with few reads.
 */
export const SIMILAR_SCHEMA: readonly string[] = [
  'CREATE TABLE similar (id INTEGER PRIMARY KEY, vector BLOB NOT NULL)',
  'CREATE TABLE similar_bits (id INTEGER PRIMARY KEY, bits BLOB NOT NULL)',
]

/** Migrates rows with the bits of 126 codes. `meta.similar_bits`: first id without bits. */
export const SIMILAR_MIGRATION: readonly string[] = [
  'DROP TABLE similar_signs',
  SIMILAR_SCHEMA[1]!,
  "INSERT INTO meta (key, value) VALUES ('similar_bits', 0)",
]

const WITHOUT_BITS = "SELECT value FROM meta WHERE key = 'similar_bits'"

export type SimilarSearch = ReturnType<typeof createSimilar>

/** Works without sqlite-vec, so stores can be written everywhere. */
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
    /** Inserts or replaces a code's vector within the open transaction. */
    put(id: number, vector: Int8Array): void {
      putVector.run(id, rawBytesOf(vector))
      putBits.run(id, quarterBits(vector))
    },
    /** Adds some missing bits; returns whether more are left. Call within a transaction. */
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

/** Throws if sqlite-vec cannot be loaded. */
export const createSimilar = (db: Db) => {
  loadVectors(db)
  let checking = () => {}
  // SQLite cannot interrupt a statement from its own thread, so the statement calls this.
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
    /** The vector of a code; undefined where none is stored. */
    vector(id: number): Int8Array | undefined {
      const vector = getVector.get(id)
      return vector && int8Of(vector)
    },

    /**
     * The most similar codes first, from 1 (equal) to above 0 (nothing in common): at least
     * `count`, if that many have anything in common. Calls `check` every few milliseconds.
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

/** Describes the first code whose bits do not match its vector. Reads all codes. */
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

/** Candidates by bits, which are ranked by vector: recall is 96 % of an exhaustive search. */
const CANDIDATES = 1500
/** Rows between two clock checks: a power of two. */
const CHECK_EVERY = 2 ** 13
/** Codes that get their bits in one transaction: some 5 ms. */
const CODES_PER_STEP = 500

/** Quartiles of the normal distribution, in standard deviations. */
const QUARTERS = [-0.67, 0, 0.67]

/** Quartile of each component, in unary: more distant values differ in more bits. */
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

/** Loads sqlite-vec into a connection; throws with the reason if that fails. */
export const loadVectors = (db: Db) => {
  // Its types lack the second parameter.
  const load: (path: string, entryPoint: string) => unknown = db.loadExtension
  try {
    useVectorExtension(path => load.call(db, path, 'sqlite3_vec_init'))
  } catch (error) {
    // Hides file names of the server from clients.
    const reason = messageOf(error).replaceAll(/\S*[/\\]\S*/g, '…')
    throw refuse(
      'not_implemented_exception',
      `Similar contracts, events and calls need sqlite-vec, which cannot be loaded on this server (${process.platform} ${process.arch}): ${reason}. Everything else works.`,
      error,
    )
  }
}
