import { createByteWriter } from '../../lib/bytes.ts'
import type { Db } from '../../sqlite/database.ts'
import type { PostInserter } from '../documents/insert.ts'
import { callSignatures, kindOfFacet } from './counted.ts'
import { mergeColumns, readColumn } from './points.ts'
import { readOrdinals, writeOrdinals } from './postings.ts'
import { encodeHeader, type SegmentHeader } from './segment.ts'
import { FAN, FULL_LEVEL, readHeader, SEGMENT_COLUMNS, type SegmentRow, segmentInserter } from './segments.ts'
import { facetOf } from './terms.ts'

/**
 * Makes one segment of neighbouring ones, in steps so small that nobody who waits for a block waits long: each is a transaction of its own. The index
 * of a segment that is not listed is seen by nobody, so that it can be written, and later be removed, bit by bit; only when it is whole
 * the new segment takes the place of the others. What is not listed stands in `dropped` until it is gone, also after a crash.
 */
export interface Merging {
  /** One step, if need be of another merge around this block; whether there may be more to do. Within a transaction. */
  step(block: number): boolean
  /** Gives up what is under way, since the segments change, or since a step failed. */
  abandon(): void
}

/** Rows of the index that one step takes from the largest segment, or removes. */
const ROWS = 1_000
/** Numbers that one step puts together, at least one facet's. */
const NUMBERS = 10_000

export const createMerging = (db: Db, insertPost: PostInserter): Merging => {
  const at = db.prepare(`SELECT ${SEGMENT_COLUMNS} FROM segment WHERE first <= ? ORDER BY first DESC LIMIT 1`)
  const after = db.prepare(`SELECT ${SEGMENT_COLUMNS} FROM segment WHERE first = ?`)
  const before = db.prepare(`SELECT ${SEGMENT_COLUMNS} FROM segment WHERE first < ? ORDER BY first DESC LIMIT 1`)
  const reserve = db.prepare("UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'segment' RETURNING seq").pluck()
  const drop = db.prepare('INSERT INTO dropped (segment) VALUES (?)')
  const gone = db.prepare('DELETE FROM dropped WHERE segment = ?')
  const oldest = db.prepare('SELECT segment FROM dropped LIMIT 1').pluck()
  const unlist = db.prepare('DELETE FROM segment WHERE id = ?')
  const insertSegment = segmentInserter(db)
  const insertNum = db.prepare('INSERT INTO num (segment, facet, n, vals, ords) VALUES (?, ?, ?, ?, ?)')
  const nthTerm = db
    .prepare('SELECT term FROM post WHERE segment = ? AND term > ? ORDER BY term, mark LIMIT 1 OFFSET ?')
    .pluck()
  const dropPosts = db.prepare('DELETE FROM post WHERE segment = ? AND term <= ?')
  const dropNums = db.prepare('DELETE FROM num WHERE segment = ?')
  const isCall = callSignatures(db)
  let work: Iterator<void> | undefined

  /** The run of neighbouring segments of one level that holds this block, where there are enough of them. */
  const runAround = (block: number): SegmentRow[] | undefined => {
    const middle = at.get(block) as SegmentRow | undefined
    // It may be gone by now.
    if (!middle || middle.last < block || middle.level >= FULL_LEVEL) return undefined
    const run = [middle]
    while (run.length < FAN) {
      const next = before.get(run[0]!.first) as SegmentRow | undefined
      if (next?.level !== middle.level || next.last !== run[0]!.first - 1) break
      run.unshift(next)
    }
    while (run.length < FAN) {
      const next = after.get(run.at(-1)!.last + 1) as SegmentRow | undefined
      if (next?.level !== middle.level) break
      run.push(next)
    }
    return run.length < FAN ? undefined : run
  }

  function* merge(run: readonly SegmentRow[]): Generator<void, void> {
    const segment = reserve.get() as number
    drop.run(segment)
    const offsets = offsetsOf(run)
    yield* mergePosts(segment, run, offsets)
    yield* mergeNumbers(segment, run, offsets)
    const header = concatHeaders(run.map(({ id, first }) => readHeader(db, id, first)))
    for (const { id } of run) {
      unlist.run(id)
      drop.run(id)
    }
    insertSegment(countsOf(run), encodeHeader(header), header, segment)
    gone.run(segment)
  }

  function* mergePosts(segment: number, run: readonly SegmentRow[], offsets: Offsets): Generator<void, void> {
    const ids = run.map(({ id }) => id).join(',')
    const largest = run.reduce((most, one) => (sizeOf(one) > sizeOf(most) ? one : most))
    const slice = db
      .prepare(
        `SELECT term, mark, segment, n, ords FROM post WHERE segment IN (${ids}) AND term > ? AND term <= ? ORDER BY term, mark`,
      )
      .raw()
    const list = createByteWriter(1 << 12)
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
        const parts = posts.slice(i, next).sort((a, b) => offsets.get(a[2])!.at - offsets.get(b[2])!.at)
        const ordinals = parts.flatMap(([, , id, n, ords]) => {
          const offset = offsets.get(id)![kind]
          return Array.from(readOrdinals(ords, n), ordinal => ordinal + offset)
        })
        if (ordinals.length === 1) insertPost.add(segment, term, mark, 1, ordinals[0]!)
        else {
          list.truncate(0)
          writeOrdinals(list, ordinals)
          insertPost.add(segment, term, mark, ordinals.length, Buffer.from(list.view()))
        }
        i = next
      }
      insertPost.flush()
      yield
    }
  }

  function* mergeNumbers(segment: number, run: readonly SegmentRow[], offsets: Offsets): Generator<void, void> {
    const ids = run.map(({ id }) => id).join(',')
    const sizes = db.prepare(`SELECT facet, sum(n) FROM num WHERE segment IN (${ids}) GROUP BY facet`).raw().all() as [
      facet: number,
      n: number,
    ][]
    const select = db.prepare(`SELECT segment, vals, ords FROM num WHERE segment IN (${ids}) AND facet = ?`).raw()
    let numbers = 0
    for (const [facet, n] of sizes) {
      if (numbers > 0 && numbers + n > NUMBERS) {
        numbers = 0
        yield
      }
      numbers += n
      const kind = kindOfFacet(facet >> 1, isCall)
      const columns = (select.all(facet) as [segment: number, vals: Buffer, ords: Buffer][])
        .sort(([a], [b]) => offsets.get(a)!.at - offsets.get(b)!.at)
        .map(([id, vals, ords]) => {
          const { values, ordinals } = readColumn(facet, vals, ords)
          const offset = offsets.get(id)![kind]
          return { values, ordinals: ordinals.map(ordinal => ordinal + offset) }
        })
      const { values, ordinals } = mergeColumns(facet, columns)
      insertNum.run(segment, facet, n, Buffer.from(values.buffer), Buffer.from(ordinals.buffer))
    }
    yield
  }

  const sweep = (segment: number) => {
    const end = nthTerm.get(segment, -1, ROWS) as number | undefined
    dropPosts.run(segment, end ?? Number.MAX_SAFE_INTEGER)
    if (end !== undefined) return
    dropNums.run(segment)
    gone.run(segment)
  }

  return {
    step(block) {
      if (!work) {
        const segment = oldest.get() as number | undefined
        if (segment !== undefined) {
          sweep(segment)
          return true
        }
        const run = runAround(block)
        if (!run) return false
        work = merge(run)
      }
      if (work.next().done) work = undefined
      return true
    },
    abandon() {
      work = undefined
    },
  }
}

type PostRow = [term: number, mark: number, segment: number, n: number, ords: number | Buffer]

/** What the ordinals of each segment grow by, by its number, and which one of the run it is. */
type Offsets = ReadonlyMap<number, Record<'block' | 'tx' | 'log' | 'trace' | 'call' | 'at', number>>

const offsetsOf = (run: readonly SegmentRow[]): Offsets => {
  const seen = { block: 0, tx: 0, log: 0, trace: 0, call: 0 }
  return new Map(
    run.map(({ id, first, last, txs, logs, traces, calls }, at) => {
      const offset = { ...seen, at }
      seen.block += last - first + 1
      seen.tx += txs
      seen.log += logs
      seen.trace += traces
      seen.call += calls
      return [id, offset]
    }),
  )
}

const countsOf = (run: readonly SegmentRow[]) => ({
  first: run[0]!.first,
  last: run.at(-1)!.last,
  txs: sum(run, 'txs'),
  logs: sum(run, 'logs'),
  traces: sum(run, 'traces'),
  calls: sum(run, 'calls'),
  events: sum(run, 'events'),
})

const sizeOf = ({ txs, logs, traces, calls }: SegmentRow): number => txs + logs + traces + calls

const sum = (rows: readonly SegmentRow[], key: 'txs' | 'logs' | 'traces' | 'calls' | 'events'): number =>
  rows.reduce((total, row) => total + row[key], 0)

const concatHeaders = (headers: SegmentHeader[]): SegmentHeader => {
  const txEnds: number[] = []
  const logEnds: number[] = []
  const traceEnds: number[] = []
  const callEnds: number[] = []
  const times: number[] = []
  const excerpts: SegmentHeader['excerpts'] = new Map()
  for (const header of headers) {
    for (const [index, excerpt] of header.excerpts) excerpts.set(times.length + index, excerpt)
    const [txs, logs, traces, calls] = [txEnds, logEnds, traceEnds, callEnds].map(ends => ends.at(-1) ?? 0) as [
      number,
      number,
      number,
      number,
    ]
    for (let i = 0; i < header.times.length; i++) {
      txEnds.push(header.txEnds[i]! + txs)
      logEnds.push(header.logEnds[i]! + logs)
      traceEnds.push(header.traceEnds[i]! + traces)
      callEnds.push(header.callEnds[i]! + calls)
      times.push(header.times[i]!)
    }
  }
  return {
    first: headers[0]!.first,
    last: headers.at(-1)!.last,
    txEnds: Uint32Array.from(txEnds),
    logEnds: Uint32Array.from(logEnds),
    traceEnds: Uint32Array.from(traceEnds),
    callEnds: Uint32Array.from(callEnds),
    times: Float64Array.from(times),
    excerpts,
  }
}
