import { bytesOf } from '../../lib/bytes.ts'
import type { Db } from '../../sqlite/database.ts'
import { decodeHeader, type SegmentHeader } from './segment.ts'

/** Neighbouring segments of one level that are merged into one of the next. */
export const FAN = 4
/** Documents from which on a segment is not merged any further: what one probe of the index can cover stays small enough to rewrite. */
export const FULL_SEGMENT = 80_000
/** Blocks from which on a segment is not merged any further, however empty they are. */
const MOST_BLOCKS = 4096
export const FULL_LEVEL = 9

/** Level of a segment of this size: segments of the same level are of similar size and are merged by fours. */
export const levelOf = ({ first, last, txs, logs, traces, calls }: SegmentCounts): number => {
  const blocks = last - first + 1
  return blocks + txs + logs + traces + calls >= FULL_SEGMENT || blocks >= MOST_BLOCKS
    ? FULL_LEVEL
    : Math.floor(Math.log(blocks) / Math.log(FAN) + 1e-9)
}

/** What the row of a segment tells without its header. */
export interface SegmentCounts {
  first: number
  last: number
  txs: number
  logs: number
  traces: number
  calls: number
  /** Logs with a known name. */
  events: number
}

export interface SegmentRow extends SegmentCounts {
  id: number
  level: number
}

export const SEGMENT_COLUMNS = 'id, first, last, txs, logs, traces, calls, events, level'

export const readHeader = (db: Db, id: number, first: number): SegmentHeader => {
  const select = db.prepare('SELECT blocks, trace_ends, call_ends FROM segment WHERE id = ?').raw()
  return decodeHeader(first, ...(select.get(id) as [Buffer, Buffer | null, Buffer | null]))
}

/** Gives numbers for segments that are listed later; no number is used again. */
export const segmentNumbers = (db: Db): (() => number) => {
  const reserve = db.prepare("UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'segment' RETURNING seq").pluck()
  return () => reserve.get() as number
}

/** Returns the new segment's number, which is one that was never used unless it is given. */
export const segmentInserter = (db: Db) => {
  const insert = db.prepare(
    'INSERT INTO segment (id, first, last, txs, logs, traces, calls, events, level, blocks, trace_ends, call_ends) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  )
  return (
    counts: SegmentCounts,
    header: Uint8Array,
    ends: { traceEnds: Uint32Array; callEnds: Uint32Array },
    id: number | null = null,
  ): number => {
    const { first, last, txs, logs, traces, calls, events } = counts
    const level = levelOf(counts)
    const traceEnds = traces > 0 ? bytesOf(ends.traceEnds) : null
    const callEnds = calls > 0 ? bytesOf(ends.callEnds) : null
    const values = [id, first, last, txs, logs, traces, calls, events, level, header, traceEnds, callEnds]
    return Number(insert.run(...values).lastInsertRowid)
  }
}
