import { bytesOf, createByteWriter } from '../../lib/bytes.ts'
import type { Db } from '../../sqlite/database.ts'
import { createRewriter } from '../documents/rewrite.ts'
import { type Column, columnsOfNumbers, readColumn } from './points.ts'
import { groupPairs, type Postings, readOrdinals, writeOrdinals } from './postings.ts'
import type { Revision } from './revision.ts'

/** A revision in the form in which it is written; sorting it needs no transaction. */
export interface SortedRevision extends Omit<Revision, 'removed' | 'put'> {
  removed: { postings: Postings; columns: Column[] }
  put: { postings: Postings; columns: Column[] }
}

export const sortRevision = ({ removed, put, ...rest }: Revision): SortedRevision => ({
  ...rest,
  removed: { postings: groupPairs(removed.pairs), columns: columnsOfNumbers(removed.numbers) },
  put: { postings: groupPairs(put.pairs), columns: columnsOfNumbers(put.numbers) },
})

/** Writes revisions; false, and nothing is written, where the segment is no more. */
export const createReviser = (db: Db): ((revision: SortedRevision) => boolean) => {
  const exists = db.prepare('SELECT 1 FROM segment WHERE id = ?').pluck()
  const rewrite = createRewriter(db)
  const setSegment = db.prepare('UPDATE segment SET events = events + ?, revised = revised + 1 WHERE id = ?')
  const findPost = db.prepare('SELECT n, ords FROM post WHERE segment = ? AND term = ? AND mark = ?').raw()
  const setPost = db.prepare('INSERT OR REPLACE INTO post (segment, term, mark, n, ords) VALUES (?, ?, ?, ?, ?)')
  const dropPost = db.prepare('DELETE FROM post WHERE segment = ? AND term = ? AND mark = ?')
  const findNum = db.prepare('SELECT vals, ords FROM num WHERE segment = ? AND facet = ?').raw()
  const setNum = db.prepare('INSERT OR REPLACE INTO num (segment, facet, n, vals, ords) VALUES (?, ?, ?, ?, ?)')
  const dropNum = db.prepare('DELETE FROM num WHERE segment = ? AND facet = ?')
  const list = createByteWriter(1 << 12)

  const writePostings = (segment: number, removed: Postings, put: Postings) => {
    for (const { term, mark, gone, come } of changesOf(removed, put)) {
      const [n, ords] = (findPost.get(segment, term, mark) as [number, number | Buffer] | undefined) ?? [0, NOTHING]
      const ordinals = changed(readOrdinals(ords, n), gone, come)
      if (ordinals.length === 0) dropPost.run(segment, term, mark)
      else if (ordinals.length === 1) setPost.run(segment, term, mark, 1, ordinals[0]!)
      else {
        list.truncate(0)
        writeOrdinals(list, ordinals)
        setPost.run(segment, term, mark, ordinals.length, list.view())
      }
    }
  }

  const writeNumbers = (segment: number, removed: readonly Column[], put: readonly Column[]) => {
    const come = new Map(put.map(column => [column.facet, column]))
    const gone = new Map(removed.map(({ facet, ordinals }) => [facet, new Set(ordinals)]))
    for (const facet of new Set([...gone.keys(), ...come.keys()])) {
      const row = findNum.get(segment, facet) as [Buffer, Buffer] | undefined
      const column = merged(facet, row, gone.get(facet) ?? new Set(), come.get(facet))
      const { values, ordinals } = column
      if (ordinals.length === 0) dropNum.run(segment, facet)
      else setNum.run(segment, facet, ordinals.length, bytesOf(values), bytesOf(ordinals))
    }
  }

  return ({ segment, removed, put, events, ...documents }) => {
    if (exists.get(segment) === undefined) return false
    rewrite(documents)
    writePostings(segment, removed.postings, put.postings)
    writeNumbers(segment, removed.columns, put.columns)
    setSegment.run(events, segment)
    return true
  }
}

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

/** A column without what some documents had in it, and with another one. Linear, since a column may be of a whole segment. */
const merged = (
  facet: number,
  row: [Buffer, Buffer] | undefined,
  gone: ReadonlySet<number>,
  come: Column | undefined,
): Column => {
  const before = readColumn(facet, ...(row ?? [NOTHING, NOTHING]))
  const after = come ?? readColumn(facet, NOTHING, NOTHING)
  const most = before.ordinals.length + after.ordinals.length
  const values = facet % 2 === 0 ? new BigInt64Array(most) : new Float64Array(most)
  const ordinals = new Uint32Array(most)
  let size = 0
  let at = 0
  const take = (from: Pick<Column, 'values' | 'ordinals'>, i: number) => {
    values[size] = from.values[i]!
    ordinals[size++] = from.ordinals[i]!
  }
  for (let i = 0; i < before.ordinals.length; i++) {
    if (gone.has(before.ordinals[i]!)) continue
    while (at < after.ordinals.length && after.values[at]! < before.values[i]!) take(after, at++)
    take(before, i)
  }
  while (at < after.ordinals.length) take(after, at++)
  return { facet, values: values.subarray(0, size) as Column['values'], ordinals: ordinals.subarray(0, size) }
}

const NOTHING = Buffer.alloc(0)
const NONE = new Uint32Array(0)
