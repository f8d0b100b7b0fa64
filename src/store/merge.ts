import type Database from 'better-sqlite3'
import { isCallSignature } from '../decode/call-signatures.ts'
import { createByteWriter } from '../lib/bytes.ts'
import type { Db } from './database.ts'
import type { manyInserter } from './insert.ts'
import { sortedColumn } from './numbers.ts'
import { readOrdinals, writeOrdinals } from './postings.ts'
import { decodeHeader, encodeHeader, type SegmentHeader } from './segment.ts'
import { FAN, FULL_LEVEL, SEGMENT_COLUMNS, type SegmentRow, segmentInserter } from './segments.ts'
import { FACETS, facetOf, signatureOfFacet } from './terms.ts'

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
  const calls = callSignatures(db)
  const headers = run.map(({ id, first }) => readHeader(db, id, first))
  const counts = {
    first: run[0]!.first,
    last: run.at(-1)!.last,
    txs: sum(run, 'txs'),
    logs: sum(run, 'logs'),
    traces: sum(run, 'traces'),
    calls: sum(run, 'calls'),
    events: sum(run, 'events'),
  }
  const header = concatHeaders(headers)
  const offsets = new Map(run.map(({ id }, i) => [id, { block: 0, tx: 0, log: 0, trace: 0, call: 0, at: i }]))
  const seen = { block: 0, tx: 0, log: 0, trace: 0, call: 0 }
  for (const { id, first, last, txs, logs, traces, calls } of run) {
    Object.assign(offsets.get(id)!, seen)
    seen.block += last - first + 1
    seen.tx += txs
    seen.log += logs
    seen.trace += traces
    seen.call += calls
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
  const segment = segmentInserter(db)(counts, encodeHeader(header), header)

  const list = createByteWriter(1 << 16)
  for (let i = 0; i < posts.length; ) {
    const [term, mark] = posts[i]!
    let end = i + 1
    while (end < posts.length && posts[end]![0] === term && posts[end]![1] === mark) end++
    const kind = kindOfFacet(facetOf(term), calls)
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
  mergeNumbers(db, segment, nums, (facet, id) => offsets.get(id)![kindOfFacet(facet >> 1, calls)])
}

type PostRow = [term: number, mark: number, segment: number, n: number, ords: number | Buffer]
type NumRow = [facet: number, segment: number, n: number, vals: Buffer, ords: Buffer]

const mergeNumbers = (db: Db, segment: number, rows: NumRow[], offset: (facet: number, segment: number) => number) => {
  const insert = db.prepare('INSERT INTO num (segment, facet, n, vals, ords) VALUES (?, ?, ?, ?, ?)')
  for (const [facet, parts] of Map.groupBy(rows, row => row[0])) {
    const pairs: { value: bigint | number; ordinal: number }[] = []
    for (const [, id, n, vals, ords] of parts) {
      const values = facet % 2 === 0 ? new BigInt64Array(aligned(vals)) : new Float64Array(aligned(vals))
      const ordinals = new Uint32Array(aligned(ords))
      for (let i = 0; i < n; i++) pairs.push({ value: values[i]!, ordinal: ordinals[i]! + offset(facet, id) })
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
  const calls = callSignatures(db)
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
      call: header.callEnds[blocks - 1]!,
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
      const limit = kept[kindOfFacet(facet, calls)]
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
      callEnds: header.callEnds.slice(0, blocks),
      times: header.times.slice(0, blocks),
      excerpts: new Map([...header.excerpts].filter(([index]) => index < blocks)),
    }
    const counts = {
      first: row.first,
      last: to,
      txs: kept.tx,
      logs: kept.log,
      traces: kept.trace,
      calls: kept.call,
      events: kept.log - undecoded,
    }
    const segment = segmentInserter(db)(counts, encodeHeader(shorter), shorter)
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
      const left = pairs.filter(({ ordinal }) => ordinal < kept[kindOfFacet(facet >> 1, calls)])
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
    ...(db.prepare('SELECT blocks, trace_ends, call_ends FROM segment WHERE id = ?').raw().get(id) as [
      Buffer,
      Buffer | null,
      Buffer | null,
    ]),
  )

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

type Counted = 'block' | 'tx' | 'log' | 'trace' | 'call'

/** Which kind's ordinals the postings of a facet hold. */
const kindOfFacet = (facet: number, calls: CallSignatures): Counted => {
  const signature = signatureOfFacet(facet)
  if (signature !== undefined) return calls.has(signature) ? 'call' : 'log'
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
    case FACETS['call.from']:
    case FACETS['call.selector']:
      return 'call'
    default:
      return 'log'
  }
}

interface CallSignatures {
  has(signature: number): boolean
}

/** Which signatures are those of calls; asked one by one, since there may be many. */
const callSignatures = (db: Db): CallSignatures => {
  let known = signaturesOfCalls.get(db)
  if (!known) {
    const select = db.prepare('SELECT key FROM signature WHERE id = ?').pluck()
    const answers = new Map<number, boolean>()
    known = {
      has(signature) {
        let answer = answers.get(signature)
        if (answer === undefined) {
          answer = isCallSignature({ key: select.get(signature) as string })
          answers.set(signature, answer)
        }
        return answer
      },
    }
    signaturesOfCalls.set(db, known)
  }
  return known
}
const signaturesOfCalls = new WeakMap<Db, CallSignatures>()

const sum = (rows: SegmentRow[], key: 'txs' | 'logs' | 'traces' | 'calls' | 'events'): number =>
  rows.reduce((total, row) => total + row[key], 0)

const aligned = (bytes: Buffer): ArrayBuffer => new Uint8Array(bytes).buffer
