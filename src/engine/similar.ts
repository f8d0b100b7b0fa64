import { DIMENSIONS, similarityOf } from '../decode/features.ts'
import { bytesOf } from '../lib/bytes.ts'
import type { Db } from '../sqlite/database.ts'

/**
 * Vectors of distinct codes by their numbers, which count up from a small one. The signs of a vector's numbers lie a bit each in a
 * row with those of the codes beside it, so that looking for the nearest reads a tenth of what the vectors take, in few rows.
 */
export const SIMILAR_SCHEMA: readonly string[] = [
  'CREATE TABLE similar (id INTEGER PRIMARY KEY, vector BLOB NOT NULL)',
  'CREATE TABLE similar_signs (run INTEGER PRIMARY KEY, signs BLOB NOT NULL)',
]

export interface Similar {
  /** Keeps a code's vector in place of the one it had; part of whatever transaction is open. */
  put(id: number, vector: Int8Array): void
  /** The vector of a code, undefined where none is kept. */
  vector(id: number): Int8Array | undefined
  /** The codes that have most in common with a vector, the nearest first, and how much: 1 all … 0 nothing. */
  nearest(vector: Int8Array, count: number): { id: number; similarity: number }[]
}

export const createSimilar = (db: Db): Similar => {
  const putVector = db.prepare('INSERT OR REPLACE INTO similar (id, vector) VALUES (?, ?)')
  const getVector = db.prepare<[number], Buffer>('SELECT vector FROM similar WHERE id = ?').pluck()
  const putSigns = db.prepare('INSERT OR REPLACE INTO similar_signs (run, signs) VALUES (?, ?)')
  const getSigns = db.prepare<[number], Buffer>('SELECT signs FROM similar_signs WHERE run = ?').pluck()
  const signsFrom = db.prepare<[number], [number, Buffer]>('SELECT run, signs FROM similar_signs WHERE run >= ?').raw()
  const newest = db.prepare<[], number | null>('SELECT max(id) FROM similar').pluck()
  /** The signs of all codes up to the last one that was there when they were read, by run: 32 bytes a code. */
  const runs = new Map<number, Uint32Array>()
  let last = -1

  /** Codes come with ascending numbers and stay as they are: only the new ones are read. */
  const readSigns = (): ReadonlyMap<number, Uint32Array> => {
    const now = newest.get() ?? -1
    if (now < last) forget()
    if (now !== last)
      for (const [run, blob] of signsFrom.iterate(Math.floor(Math.max(last, 0) / RUN))) runs.set(run, wordsOf(blob))
    last = now
    return runs
  }
  const forget = () => {
    runs.clear()
    last = -1
  }

  /** A code that is no longer there has nothing in common with any: its signs stay when its row goes. */
  const similarityTo = (vector: Int8Array, id: number): number => {
    const other = getVector.get(id)
    return other === undefined ? 0 : similarityOf(vector, int8Of(other))
  }

  return {
    put(id, vector) {
      forget()
      putVector.run(id, bytesOf(vector))
      const run = Math.floor(id / RUN)
      const signs = getSigns.get(run) ?? Buffer.alloc(RUN * SIGN_BYTES)
      signs.set(new Uint8Array(signsOf(vector).buffer), (id % RUN) * SIGN_BYTES)
      putSigns.run(run, signs)
    },

    vector(id) {
      const vector = getVector.get(id)
      return vector && int8Of(vector)
    },

    nearest(vector, count) {
      const most = Math.max(CANDIDATES, 4 * count)
      return nearestSigns(readSigns(), signsOf(vector), most)
        .map(id => ({ id, similarity: similarityTo(vector, id) }))
        .filter(({ similarity }) => similarity > 0)
        .sort((a, b) => b.similarity - a.similarity || a.id - b.id)
        .slice(0, count)
    },
  }
}

/** Codes in a row of signs, so that the row fills a page of 4 KiB. */
const RUN = 126
const SIGN_BYTES = DIMENSIONS / 8
const SIGN_WORDS = DIMENSIONS / 32
/** By the signs some hundred candidates are found, by their vectors the nearest of these. */
const CANDIDATES = 300

/** Which numbers of a vector are not below zero, a bit each: some always are, so that a code's place is never empty. */
const signsOf = (vector: Int8Array): Uint32Array => {
  const bytes = new Uint8Array(SIGN_BYTES)
  for (let i = 0; i < DIMENSIONS; i++) if (vector[i]! >= 0) bytes[i >> 3]! |= 1 << (i & 7)
  return new Uint32Array(bytes.buffer)
}

/** The numbers of the codes that differ in the fewest signs, at most so many; of those that differ in as many the first ones. */
const nearestSigns = (runs: Iterable<[number, Uint32Array]>, asked: Uint32Array, most: number): number[] => {
  const ids: number[] = []
  const differences: number[] = []
  const counts = new Uint32Array(DIMENSIONS + 1)
  let reach = DIMENSIONS
  let within = 0
  for (const [run, signs] of runs) {
    for (let at = 0; at < signs.length; at += SIGN_WORDS) {
      let difference = 0
      let any = 0
      for (let i = 0; i < SIGN_WORDS; i++) {
        const word = signs[at + i]!
        any |= word
        difference += bitsIn(word ^ asked[i]!)
      }
      if (any === 0 || difference > reach) continue
      ids.push(run * RUN + at / SIGN_WORDS)
      differences.push(difference)
      counts[difference]!++
      within++
      // What differs by more than enough others do cannot be among the nearest any more.
      while (within - counts[reach]! >= most) within -= counts[reach--]!
    }
  }
  let ties = most - (within - counts[reach]!)
  return ids.filter((_, i) => differences[i]! < reach || (differences[i] === reach && ties-- > 0))
}

/** A copy, which may be kept. */
const wordsOf = (blob: Buffer): Uint32Array => new Uint32Array(new Uint8Array(blob).buffer)

const int8Of = (blob: Buffer): Int8Array => new Int8Array(blob.buffer, blob.byteOffset, blob.length)

const bitsIn = (word: number): number => {
  let bits = word - ((word >>> 1) & 0x55555555)
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333)
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
