import { DIMENSIONS } from '../decode/code-similarity.ts'
import { rawBytesOf } from '../lib/bytes.ts'
import { messageOf, refuse } from '../lib/errors.ts'
import { useVectorExtension } from '../lib/runtime.ts'
import type { Db } from '../sqlite/database.ts'

/**
 * Vectors of distinct codes by id; ids are dense. `similar_bits` has three bits per component,
 * whose Hamming distance selects candidates. A row has those of `CODES_PER_ROW` codes, since SQLite
 * takes as long for one code. A place without a code is empty: a vector always has a bit that is
 * set.
 */
export const SIMILAR_SCHEMA: readonly string[] = [
  'CREATE TABLE similar (id INTEGER PRIMARY KEY, vector BLOB NOT NULL)',
  'CREATE TABLE similar_bits (run INTEGER PRIMARY KEY, bits BLOB NOT NULL)',
]

/** Replaces the bits of layouts before. `meta.similar_bits`: first id without bits. */
export const similarMigration = (before: 'similar_signs' | 'similar_bits'): readonly string[] => [
  `DROP TABLE ${before}`,
  SIMILAR_SCHEMA[1]!,
  "INSERT OR REPLACE INTO meta (key, value) VALUES ('similar_bits', 0)",
]

const BITS_OF_RUN = 'SELECT bits FROM similar_bits WHERE run = ?'
const WITHOUT_BITS = "SELECT value FROM meta WHERE key = 'similar_bits'"

export type SimilarSearch = ReturnType<typeof createSimilar>

/** Works without sqlite-vec, so stores can be written everywhere. */
export const createSimilarWriter = (db: Db) => {
  const putVector = db.prepare('INSERT OR REPLACE INTO similar (id, vector) VALUES (?, ?)')
  const bitsOf = db.prepare<[number], Buffer>(BITS_OF_RUN).pluck()
  const putRun = db.prepare('INSERT OR REPLACE INTO similar_bits (run, bits) VALUES (?, ?)')
  const withoutBits = db.prepare<[], number>(WITHOUT_BITS).pluck()
  const vectorsFrom = db
    .prepare<[number, number], [number, Buffer]>('SELECT id, vector FROM similar WHERE id >= ? ORDER BY id LIMIT ?')
    .raw()
  const setWithoutBits = db.prepare("UPDATE meta SET value = ? WHERE key = 'similar_bits'")
  const allHaveBits = db.prepare("DELETE FROM meta WHERE key = 'similar_bits'")

  const putBits = (id: number, vector: Int8Array) => {
    const run = Math.floor(id / CODES_PER_ROW)
    const bits = bitsOf.get(run) ?? Buffer.alloc(CODES_PER_ROW * CODE_BYTES)
    bits.set(quarterBits(vector), (id % CODES_PER_ROW) * CODE_BYTES)
    putRun.run(run, bits)
  }

  return {
    /** Inserts or replaces a code's vector within the open transaction. */
    put(id: number, vector: Int8Array): void {
      putVector.run(id, rawBytesOf(vector))
      putBits(id, vector)
    },
    /** Adds some missing bits; returns whether more are left. Call within a transaction. */
    addBits(): boolean {
      const from = withoutBits.get()
      if (from === undefined) return false
      const rows = vectorsFrom.all(from, CODES_PER_STEP)
      for (const [id, vector] of rows) putBits(id, int8Of(vector))
      if (rows.length < CODES_PER_STEP) allHaveBits.run()
      else setWithoutBits.run(rows.at(-1)![0] + 1)
      return rows.length === CODES_PER_STEP
    },
  }
}

/** Throws if sqlite-vec cannot be loaded. */
export const createSimilar = (db: Db) => {
  loadVectors(db)
  const getVector = db.prepare<[number], Buffer>('SELECT vector FROM similar WHERE id = ?').pluck()
  const withoutBits = db.prepare<[], number>(WITHOUT_BITS).pluck()
  const nearest = db.prepare<[object], { id: number; similarity: number | null }>(`
    SELECT id, round(1 - vec_distance_cosine(vec_int8(vector), vec_int8(@vector)), 9) AS similarity
      FROM (SELECT value AS candidate FROM json_each(@candidates)
        UNION ALL SELECT id FROM similar WHERE id >= @from) CROSS JOIN similar ON id = candidate
      ORDER BY similarity DESC, id`)
  const candidates = createCandidates(db)

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
      const ids = candidates(vector, { from, most: Math.max(CANDIDATES, 4 * count), check })
      const asked = { from, candidates: JSON.stringify(ids), vector: rawBytesOf(vector) }
      // A vector of zeros has a similarity of NULL to all.
      for (const { id, similarity } of nearest.iterate(asked)) {
        if (!similarity || similarity <= 0) return
        yield { id, similarity }
      }
    },
  }
}

interface CandidatesOptions {
  /** The first id without bits. */
  from: number
  most: number
  check(): void
}

/** Finds the codes below `from` whose bits differ least; among equals, the lowest ids. */
const createCandidates = (db: Db) => {
  const runs = createRuns(db)
  return (vector: Int8Array, { from, most, check }: CandidatesOptions): number[] => {
    const asked = uint32Of(quarterBits(vector))
    const ids: number[] = []
    const distances: number[] = []
    const counts = new Uint32Array(8 * CODE_BYTES + 1)
    /** The largest distance of a candidate so far, and how many candidates there are. */
    let reach = 8 * CODE_BYTES
    let within = 0
    let read = 0
    for (const [run, words] of runs()) {
      if (++read % RUNS_PER_CHECK === 0) check()
      const first = run * CODES_PER_ROW
      for (let i = 0; i < CODES_PER_ROW && first + i < from; i++) {
        const at = i * asked.length
        const distance = distanceOf(asked, words, at)
        if (distance > reach || hasNoBit(words, at, at + asked.length)) continue
        ids.push(first + i)
        distances.push(distance)
        counts[distance]!++
        within++
        while (within - counts[reach]! >= most) within -= counts[reach--]!
      }
    }
    let ties = most - (within - counts[reach]!)
    return ids.filter((_, i) => distances[i]! < reach || (distances[i] === reach && ties-- > 0))
  }
}

const hasNoBit = (words: Uint32Array, from: number, to: number): boolean => {
  while (from < to && words[from] === 0) from++
  return from === to
}

type RunOfCodes = readonly [run: number, words: Uint32Array]

/** All bits, kept in memory until something is stored: SQLite takes twice as long as comparing. */
const createRuns = (db: Db) => {
  const select = db.prepare<[], [run: number, bits: Buffer]>('SELECT run, bits FROM similar_bits ORDER BY run').raw()
  // Commits of other connections, and of this one.
  const state = db.prepare<[], string>("SELECT data_version || ' ' || total_changes() FROM pragma_data_version").pluck()
  let kept: { state: string; runs: RunOfCodes[] } | undefined
  return function* (): Iterable<RunOfCodes> {
    const now = state.get()!
    if (kept?.state === now) return yield* kept.runs
    kept = undefined
    let all: RunOfCodes[] | undefined = []
    for (const [number, bits] of select.iterate()) {
      const run = [number, uint32Of(bits)] as const
      if (all && all.push(run) > MAX_KEPT_RUNS) all = undefined
      yield run
    }
    if (all) kept = { state: now, runs: all }
  }
}

/** The number of bits in which a code's words from `at` on differ from `asked`. */
const distanceOf = (asked: Uint32Array, words: Uint32Array, at: number): number => {
  const third = asked.length / 3
  let bytes = 0
  for (let i = 0; i < third; i++) {
    const nibbles =
      bitsByNibble(asked[i]! ^ words[at + i]!) +
      bitsByNibble(asked[i + third]! ^ words[at + i + third]!) +
      bitsByNibble(asked[i + 2 * third]! ^ words[at + i + 2 * third]!)
    bytes += (nibbles & 0x0f0f0f0f) + ((nibbles >>> 4) & 0x0f0f0f0f)
  }
  const halves = (bytes & 0x00ff00ff) + ((bytes >>> 8) & 0x00ff00ff)
  return (halves & 0xffff) + (halves >>> 16)
}

const bitsByNibble = (word: number): number => {
  const pairs = word - ((word >>> 1) & 0x55555555)
  return (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
}

const uint32Of = ({ buffer, byteOffset, length }: Buffer): Uint32Array =>
  byteOffset % 4 === 0
    ? new Uint32Array(buffer, byteOffset, length >> 2)
    : new Uint32Array(buffer.slice(byteOffset, byteOffset + length))

/** Describes the first code whose bits do not match its vector. Reads all codes. */
export const findSimilarFault = (db: Db): string | undefined => {
  const bitsOf = db.prepare<[number], Buffer>(BITS_OF_RUN).pluck()
  const rows = db
    .prepare<[], [number, Buffer]>(`SELECT id, vector FROM similar WHERE id < ifnull((${WITHOUT_BITS}), 1 << 62)`)
    .raw()
  for (const [id, vector] of rows.iterate()) {
    const at = (id % CODES_PER_ROW) * CODE_BYTES
    const bits = bitsOf.get(Math.floor(id / CODES_PER_ROW))?.subarray(at, at + CODE_BYTES)
    if (vector.length !== DIMENSIONS || !bits?.equals(quarterBits(int8Of(vector))))
      return `the bits by which codes like code ${id} are found are not those of its vector`
  }
  return undefined
}

/** Candidates by bits, which are ranked by vector: recall is 96 % of an exhaustive search. */
const CANDIDATES = 1500
/** Codes in a row of bits, which fills three pages. */
const CODES_PER_ROW = 126
/** Runs that each reader keeps: 12 MB. */
const MAX_KEPT_RUNS = 1000
/** Rows between two clock checks: some 200 µs. */
const RUNS_PER_CHECK = 32
/** Codes that get their bits in one transaction: some 5 ms. */
const CODES_PER_STEP = 500

/** Quartiles of the normal distribution, in standard deviations. */
const QUARTERS = [-0.67, 0, 0.67]

/** Bytes of the bits of a code. */
const CODE_BYTES = (QUARTERS.length * DIMENSIONS) / 8

/** Quartile of each component, in unary: more distant values differ in more bits. */
const quarterBits = (vector: Int8Array): Buffer => {
  const deviation = Math.sqrt(vector.reduce((sum, number) => sum + number * number, 0) / DIMENSIONS)
  const bits = Buffer.alloc(CODE_BYTES)
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
