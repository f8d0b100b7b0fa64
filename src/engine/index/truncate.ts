import { bytesOf, createByteWriter } from '../../lib/bytes.ts'
import type { Db } from '../../sqlite/database.ts'
import type { PostInserter } from '../documents/insert.ts'
import { callSignatures, kindOfFacet } from './counted.ts'
import { readColumn } from './points.ts'
import { readOrdinals, writeOrdinals } from './postings.ts'
import { encodeHeader, type SegmentHeader } from './segment.ts'
import { readHeader, SEGMENT_COLUMNS, type SegmentRow, segmentInserter } from './segments.ts'
import { FACETS, facetOf } from './terms.ts'

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
    const posts = db.prepare('SELECT term, mark, n, ords FROM post WHERE segment = ?').raw().all(row.id) as PostRow[]
    const nums = db.prepare('SELECT facet, vals, ords FROM num WHERE segment = ?').raw().all(row.id) as NumRow[]
    remove(db, String(row.id))
    let undecoded = 0
    const cutPosts = posts.flatMap(([term, mark, n, ords]) => {
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
    for (const [facet, vals, ords] of nums) {
      const { values, ordinals } = readColumn(facet, vals, ords)
      const limit = kept[kindOfFacet(facet >> 1, calls)]
      const isKept = (_: unknown, i: number) => ordinals[i]! < limit
      const left = ordinals.filter(isKept)
      if (left.length > 0)
        insertNum.run(segment, facet, left.length, bytesOf((values as Float64Array).filter(isKept)), bytesOf(left))
    }
  }
}

type PostRow = [term: number, mark: number, n: number, ords: number | Buffer]
type NumRow = [facet: number, vals: Buffer, ords: Buffer]

const remove = (db: Db, ids: string) => {
  for (const table of ['post', 'num']) db.prepare(`DELETE FROM ${table} WHERE segment IN (${ids})`).run()
  db.prepare(`DELETE FROM segment WHERE id IN (${ids})`).run()
}
