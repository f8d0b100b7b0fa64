import { createByteWriter } from '../../lib/bytes.ts'
import type { Db } from '../../sqlite/database.ts'
import { manyInserter } from '../documents/insert.ts'
import { callSignatures, kindOfFacet } from './counted.ts'
import { groupPairs, type Postings, readOrdinals, writeOrdinals } from './postings.ts'
import type { SegmentRow } from './segments.ts'
import type { IndexStructure } from './structure.ts'
import { facetOf } from './terms.ts'

/** Rows that one step takes from the largest segment, or removes. */
const ROWS = 1_000

export interface PostingStructure extends IndexStructure {
  /** Documents that have a term of mark 0. */
  count(segment: number, term: number): number
}

/** The table `post`. */
export const createPostingStructure = (db: Db): PostingStructure => {
  const inserter = manyInserter(db, 'post', 5, 64)
  const find = db.prepare('SELECT n, ords FROM post WHERE segment = ? AND term = ? AND mark = ?').raw()
  const all = db.prepare('SELECT term, mark, n, ords FROM post WHERE segment = ?').raw()
  const set = db.prepare('INSERT OR REPLACE INTO post (segment, term, mark, n, ords) VALUES (?, ?, ?, ?, ?)')
  const drop = db.prepare('DELETE FROM post WHERE segment = ? AND term = ? AND mark = ?')
  const dropUpTo = db.prepare('DELETE FROM post WHERE segment = ? AND term <= ?')
  const nthTerm = db
    .prepare('SELECT term FROM post WHERE segment = ? AND term > ? ORDER BY term, mark LIMIT 1 OFFSET ?')
    .pluck()
  const isCall = callSignatures(db)
  const list = createByteWriter(1 << 12)

  const insert = (segment: number, term: number, mark: number, ordinals: ArrayLike<number>) => {
    if (ordinals.length === 1) return inserter.add(segment, term, mark, 1, ordinals[0]!)
    list.truncate(0)
    writeOrdinals(list, ordinals)
    inserter.add(segment, term, mark, ordinals.length, Buffer.from(list.view()))
  }

  return {
    build({ pairs }) {
      const { terms, marks, counts, places, lists: bytes } = groupPairs(pairs)
      return segment => {
        const lists = Buffer.from(bytes.buffer)
        let start = 0
        for (let i = 0; i < terms.length; i++) {
          const count = counts[i]!
          const place = places[i]!
          if (count === 1) inserter.add(segment, terms[i]!, marks[i]!, 1, place)
          else {
            inserter.add(segment, terms[i]!, marks[i]!, count, lists.subarray(start, place))
            start = place
          }
        }
        inserter.flush()
      }
    },

    patch({ segment, removed, put }) {
      const [before, after] = [groupPairs(removed.pairs), groupPairs(put.pairs)]
      return () => {
        for (const { term, mark, gone, come } of changesOf(before, after)) {
          const [n, ords] = (find.get(segment, term, mark) as [number, number | Buffer] | undefined) ?? [0, NOTHING]
          const ordinals = changed(readOrdinals(ords, n), gone, come)
          if (ordinals.length === 0) drop.run(segment, term, mark)
          else if (ordinals.length === 1) set.run(segment, term, mark, 1, ordinals[0]!)
          else {
            list.truncate(0)
            writeOrdinals(list, ordinals)
            set.run(segment, term, mark, ordinals.length, list.view())
          }
        }
      }
    },

    *merge(segment, run) {
      const ids = run.map(({ id }) => id).join(',')
      const parts = new Map(run.map(({ id, offset }, at) => [id, { offset, at }]))
      const largest = run.reduce((most, one) => (sizeOf(one) > sizeOf(most) ? one : most))
      const slice = db
        .prepare(
          `SELECT term, mark, segment, n, ords FROM post WHERE segment IN (${ids}) AND term > ? AND term <= ? ORDER BY term, mark`,
        )
        .raw()
      let done = -1
      while (done < Number.MAX_SAFE_INTEGER) {
        const end = (nthTerm.get(largest.id, done, ROWS) as number | undefined) ?? Number.MAX_SAFE_INTEGER
        const posts = slice.all(done, end) as PostRow[]
        done = end
        for (let i = 0; i < posts.length; ) {
          const [term, mark] = posts[i]!
          let next = i + 1
          while (next < posts.length && posts[next]![0] === term && posts[next]![1] === mark) next++
          const kind = kindOfFacet(facetOf(term), isCall)
          // Segments were added in any order; their ordinals follow the chain.
          const ordinals = posts
            .slice(i, next)
            .sort((a, b) => parts.get(a[2])!.at - parts.get(b[2])!.at)
            .flatMap(([, , id, n, ords]) => {
              const offset = parts.get(id)!.offset[kind]
              return Array.from(readOrdinals(ords, n), ordinal => ordinal + offset)
            })
          insert(segment, term, mark, ordinals)
          i = next
        }
        inserter.flush()
        yield
      }
    },

    truncate(from, to, kept) {
      for (const [term, mark, n, ords] of all.all(from) as [number, number, number, number | Buffer][]) {
        const limit = kept[kindOfFacet(facetOf(term), isCall)]
        const ordinals = readOrdinals(ords, n).filter(ordinal => ordinal < limit)
        if (ordinals.length > 0) insert(to, term, mark, ordinals)
      }
      inserter.flush()
    },

    remove(segment) {
      const end = nthTerm.get(segment, -1, ROWS) as number | undefined
      dropUpTo.run(segment, end ?? Number.MAX_SAFE_INTEGER)
      return end !== undefined
    },

    discard: inserter.discard,

    count: (segment, term) => (find.get(segment, term, 0) as [number, unknown] | undefined)?.[0] ?? 0,
  }
}

type PostRow = [term: number, mark: number, segment: number, n: number, ords: number | Buffer]

const sizeOf = ({ txs, logs, traces, calls }: SegmentRow): number => txs + logs + traces + calls

interface Change {
  term: number
  mark: number
  gone: Uint32Array
  come: Uint32Array
}

/** The terms of either in the order of the table, with the ordinals that they lose and get. */
function* changesOf(removed: Postings, put: Postings): Generator<Change> {
  const [left, right] = [termsOf(removed), termsOf(put)]
  let a = left.next().value
  let b = right.next().value
  while (a || b) {
    const order = !a ? 1 : !b ? -1 : a.term - b.term || a.mark - b.mark
    const { term, mark } = (order <= 0 ? a : b)!
    yield { term, mark, gone: order <= 0 ? a!.ordinals : NONE, come: order >= 0 ? b!.ordinals : NONE }
    if (order <= 0) a = left.next().value
    if (order >= 0) b = right.next().value
  }
}

interface Term {
  term: number
  mark: number
  ordinals: Uint32Array
}

function* termsOf({ terms, marks, counts, places, lists }: Postings): Generator<Term, undefined> {
  let start = 0
  for (let i = 0; i < terms.length; i++) {
    const [n, place] = [counts[i]!, places[i]!]
    yield {
      term: terms[i]!,
      mark: marks[i]!,
      ordinals: readOrdinals(n === 1 ? place : lists.subarray(start, place), n),
    }
    if (n > 1) start = place
  }
}

/** All three ascend. */
const changed = (from: Uint32Array, gone: Uint32Array, come: Uint32Array): Uint32Array => {
  const result = new Uint32Array(from.length + come.length)
  let size = 0
  let [g, c] = [0, 0]
  for (const ordinal of from) {
    while (gone[g]! < ordinal) g++
    if (gone[g] === ordinal) continue
    while (come[c]! < ordinal) result[size++] = come[c++]!
    if (come[c] !== ordinal) result[size++] = ordinal
  }
  while (c < come.length) result[size++] = come[c++]!
  return result.subarray(0, size)
}

const NOTHING = Buffer.alloc(0)
const NONE = new Uint32Array(0)
