import type Database from 'better-sqlite3'
import { createByteWriter } from '../lib/bytes.ts'
import type { Db } from './database.ts'
import type { manyInserter } from './insert.ts'
import { sortedColumn } from './numbers.ts'
import { readOrdinals, writeOrdinals } from './postings.ts'
import { decodeHeader, encodeHeader, type SegmentHeader } from './segment.ts'
import { FAN, FULL_LEVEL, SEGMENT_COLUMNS, type SegmentRow, segmentInserter } from './segments.ts'
import { FACETS, facetOf } from './terms.ts'

type PostInserter = ReturnType<typeof manyInserter>

/** Merges the run of neighbouring segments of one level that holds this block into one; returns whether there were enough of them. */
export const mergeAround = (db: Db, block: number, insertPost: PostInserter): boolean => {
  const at = db.prepare(`SELECT ${SEGMENT_COLUMNS} FROM segment WHERE first <= ? ORDER BY first DESC LIMIT 1`)
  const after = db.prepare(`SELECT ${SEGMENT_COLUMNS} FROM segment WHERE first = ?`)
  const before = db.prepare(`SELECT ${SEGMENT_COLUMNS} FROM segment WHERE first < ? ORDER BY first DESC LIMIT 1`)
  const middle = at.get(block) as SegmentRow | undefined
  // It may be gone by now.
  if (!middle || middle.last < block || middle.level >= FULL_LEVEL) return false
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
  if (run.length < FAN) return false
  merge(db, run, insertPost)
  return true
}

/** Makes one segment of neighbouring ones, in place of them. */
const merge = (db: Db, run: SegmentRow[], insertPost: PostInserter) => {
  const headers = run.map(({ id, first }) => readHeader(db, id, first))
  const counts = {
    first: run[0]!.first,
    last: run.at(-1)!.last,
    txs: sum(run, 'txs'),
    logs: sum(run, 'logs'),
    traces: sum(run, 'traces'),
    events: sum(run, 'events'),
  }
  const header = concatHeaders(headers)
  const offsets = new Map(run.map(({ id }, i) => [id, { block: 0, tx: 0, log: 0, trace: 0, at: i }]))
  const seen = { block: 0, tx: 0, log: 0, trace: 0 }
  for (const { id, first, last, txs, logs, traces } of run) {
    Object.assign(offsets.get(id)!, seen)
    seen.block += last - first + 1
    seen.tx += txs
    seen.log += logs
    seen.trace += traces
  }
  const ids = run.map(({ id }) => id).join(',')
  const posts = db
    .prepare(`SELECT term, mark, segment, n, ords FROM post WHERE segment IN (${ids}) ORDER BY term, mark`)
    .raw()
    .all() as PostRow[]
  const nums = db
    .prepare(`SELECT facet, segment, n, vals, ords FROM num WHERE segment IN (${ids})`)
    .raw()
    .all() as NumRow[]
  remove(db, ids)
  const segment = segmentInserter(db)(counts, encodeHeader(header), counts.traces > 0 ? header.traceEnds : null)

  const list = createByteWriter(1 << 16)
  for (let i = 0; i < posts.length; ) {
    const [term, mark] = posts[i]!
    let end = i + 1
    while (end < posts.length && posts[end]![0] === term && posts[end]![1] === mark) end++
    const kind = kindOfFacet(facetOf(term))
    // Segments were added in any order; their ordinals follow the chain.
    const parts = posts.slice(i, end).sort((a, b) => offsets.get(a[2])!.at - offsets.get(b[2])!.at)
    const ordinals = parts.flatMap(([, , id, n, ords]) => {
      const offset = offsets.get(id)![kind]
      return Array.from(readOrdinals(ords, n), ordinal => ordinal + offset)
    })
    if (ordinals.length === 1) insertPost.add(segment, term, mark, 1, ordinals[0]!)
    else {
      const start = list.length
      writeOrdinals(list, ordinals)
      insertPost.add(segment, term, mark, ordinals.length, Buffer.from(list.view(start)))
      list.truncate(0)
    }
    i = end
  }
  insertPost.flush()
  mergeNumbers(db, segment, nums, id => offsets.get(id)!.log)
}

type PostRow = [term: number, mark: number, segment: number, n: number, ords: number | Buffer]
type NumRow = [facet: number, segment: number, n: number, vals: Buffer, ords: Buffer]

const mergeNumbers = (db: Db, segment: number, rows: NumRow[], offset: (segment: number) => number) => {
  const insert = db.prepare('INSERT INTO num (segment, facet, n, vals, ords) VALUES (?, ?, ?, ?, ?)')
  for (const [facet, parts] of Map.groupBy(rows, row => row[0])) {
    const pairs: { value: bigint | number; ordinal: number }[] = []
    for (const [, id, n, vals, ords] of parts) {
      const values = facet % 2 === 0 ? new BigInt64Array(aligned(vals)) : new Float64Array(aligned(vals))
      const ordinals = new Uint32Array(aligned(ords))
      for (let i = 0; i < n; i++) pairs.push({ value: values[i]!, ordinal: ordinals[i]! + offset(id) })
    }
    writeNumbers(insert, segment, facet, pairs)
  }
}

const writeNumbers = (
  insert: Database.Statement<unknown[]>,
  segment: number,
  facet: number,
  pairs: { value: bigint | number; ordinal: number }[],
) => {
  const target = facet % 2 === 0 ? new BigInt64Array(pairs.length) : new Float64Array(pairs.length)
  const { values, ordinals } = sortedColumn(
    facet,
    target,
    i => pairs[i]!.value,
    i => pairs[i]!.ordinal,
  )
  insert.run(segment, facet, pairs.length, Buffer.from(values.buffer), Buffer.from(ordinals.buffer))
}

/** Takes all blocks above `to` out of the index. */
export const cut = (db: Db, to: number, insertPost: PostInserter) => {
  const rows = db.prepare(`SELECT ${SEGMENT_COLUMNS} FROM segment WHERE last > ?`).all(to) as SegmentRow[]
  for (const row of rows) {
    if (row.first > to) {
      remove(db, String(row.id))
      continue
    }
    const header = readHeader(db, row.id, row.first)
    const blocks = to - row.first + 1
    const kept = {
      block: blocks,
      tx: header.txEnds[blocks - 1]!,
      log: header.logEnds[blocks - 1]!,
      trace: header.traceEnds[blocks - 1]!,
    }
    const posts = db
      .prepare('SELECT term, mark, segment, n, ords FROM post WHERE segment = ?')
      .raw()
      .all(row.id) as PostRow[]
    const nums = db
      .prepare('SELECT facet, segment, n, vals, ords FROM num WHERE segment = ?')
      .raw()
      .all(row.id) as NumRow[]
    remove(db, String(row.id))
    let undecoded = 0
    const cutPosts = posts.flatMap(([term, mark, , n, ords]) => {
      const facet = facetOf(term)
      const limit = kept[kindOfFacet(facet)]
      const ordinals = readOrdinals(ords, n).filter(ordinal => ordinal < limit)
      if (facet === FACETS.undecoded) undecoded = ordinals.length
      return ordinals.length ? [{ term, mark, ordinals }] : []
    })
    const shorter: SegmentHeader = {
      first: row.first,
      last: to,
      txEnds: header.txEnds.slice(0, blocks),
      logEnds: header.logEnds.slice(0, blocks),
      traceEnds: header.traceEnds.slice(0, blocks),
      times: header.times.slice(0, blocks),
      excerpts: new Map([...header.excerpts].filter(([index]) => index < blocks)),
    }
    const counts = {
      first: row.first,
      last: to,
      txs: kept.tx,
      logs: kept.log,
      traces: kept.trace,
      events: kept.log - undecoded,
    }
    const segment = segmentInserter(db)(counts, encodeHeader(shorter), kept.trace > 0 ? shorter.traceEnds : null)
    const list = createByteWriter()
    for (const { term, mark, ordinals } of cutPosts) {
      list.truncate(0)
      if (ordinals.length > 1) writeOrdinals(list, ordinals)
      insertPost.add(
        segment,
        term,
        mark,
        ordinals.length,
        ordinals.length === 1 ? ordinals[0]! : Buffer.from(list.view()),
      )
    }
    insertPost.flush()
    const insertNum = db.prepare('INSERT INTO num (segment, facet, n, vals, ords) VALUES (?, ?, ?, ?, ?)')
    for (const [facet, , n, vals, ords] of nums) {
      const values = facet % 2 === 0 ? new BigInt64Array(aligned(vals)) : new Float64Array(aligned(vals))
      const ordinals = new Uint32Array(aligned(ords))
      const pairs = Array.from({ length: n }, (_, i) => ({ value: values[i]!, ordinal: ordinals[i]! }))
      const left = pairs.filter(({ ordinal }) => ordinal < kept.log)
      if (left.length) writeNumbers(insertNum, segment, facet, left)
    }
  }
}

const remove = (db: Db, ids: string) => {
  for (const table of ['post', 'num']) db.prepare(`DELETE FROM ${table} WHERE segment IN (${ids})`).run()
  db.prepare(`DELETE FROM segment WHERE id IN (${ids})`).run()
}

const readHeader = (db: Db, id: number, first: number): SegmentHeader =>
  decodeHeader(
    first,
    ...(db.prepare('SELECT blocks, trace_ends FROM segment WHERE id = ?').raw().get(id) as [Buffer, Buffer | null]),
  )

const concatHeaders = (headers: SegmentHeader[]): SegmentHeader => {
  const txEnds: number[] = []
  const logEnds: number[] = []
  const traceEnds: number[] = []
  const times: number[] = []
  const excerpts: SegmentHeader['excerpts'] = new Map()
  for (const header of headers) {
    for (const [index, excerpt] of header.excerpts) excerpts.set(times.length + index, excerpt)
    const [txs, logs, traces] = [txEnds.at(-1) ?? 0, logEnds.at(-1) ?? 0, traceEnds.at(-1) ?? 0]
    for (let i = 0; i < header.times.length; i++) {
      txEnds.push(header.txEnds[i]! + txs)
      logEnds.push(header.logEnds[i]! + logs)
      traceEnds.push(header.traceEnds[i]! + traces)
      times.push(header.times[i]!)
    }
  }
  return {
    first: headers[0]!.first,
    last: headers.at(-1)!.last,
    txEnds: Uint32Array.from(txEnds),
    logEnds: Uint32Array.from(logEnds),
    traceEnds: Uint32Array.from(traceEnds),
    times: Float64Array.from(times),
    excerpts,
  }
}

/** Which kind's ordinals the postings of a facet hold. */
const kindOfFacet = (facet: number): 'block' | 'tx' | 'log' | 'trace' => {
  switch (facet) {
    case FACETS['block.hash']:
    case FACETS['block.miner']:
      return 'block'
    case FACETS['tx.from']:
    case FACETS['tx.to']:
    case FACETS['tx.contractAddress']:
    case FACETS['tx.hash']:
    case FACETS['tx.method']:
    case FACETS.failed:
      return 'tx'
    case FACETS['trace.action.from']:
    case FACETS['trace.action.to']:
    case FACETS['trace.action.address']:
    case FACETS['trace.action.refundAddress']:
    case FACETS['trace.action.author']:
    case FACETS['trace.result.address']:
    case FACETS['trace.error']:
      return 'trace'
    default:
      return 'log'
  }
}

const sum = (rows: SegmentRow[], key: 'txs' | 'logs' | 'traces' | 'events'): number =>
  rows.reduce((total, row) => total + row[key], 0)

const aligned = (bytes: Buffer): ArrayBuffer => new Uint8Array(bytes).buffer
