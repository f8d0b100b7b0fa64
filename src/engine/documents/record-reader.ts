import { byKind, RECORD_KINDS, type RecordKind } from '../../mapping/index.ts'
import { cursor, NO_BYTES, takeLength } from '../forms/form.ts'
import type { Statement } from '../reader.ts'
import { blockOf, placeOf, positionOf } from '../schema.ts'
import { columnIndex, PLACES_PER_ROW } from './columns.ts'
import { readBlockRow, type StoredBlock } from './records/block.ts'
import { seek } from './records/fields.ts'
import { newStarts, startsIn } from './records/rows.ts'
import { INPUT, newTraceRecord, readTrace } from './records/trace.ts'

/**
 * Stored documents as bytes. Fields are read by `locate` or `seek` (transactions, blocks),
 * `readTrace`, `readLog`, `readCall`, or one by one by `valueReader`.
 */
export interface Records {
  /**
   * Undefined if no document is stored at the position. The view is one object for each kind, and
   * valid until the next call for that kind.
   */
  find(kind: RecordKind, position: number): RecordView | undefined
  /** Visits all records between two positions, until `visit` returns false. */
  each(kind: RecordKind, from: number, to: number, visit: (position: number, view: RecordView) => unknown): void
  block(number: number): StoredBlock | undefined
  blockRecord(number: number): RecordView | undefined
  /** The packed call data of a transaction; null or undefined as it came from the node. */
  txInput(position: number): RecordView | null | undefined
  /** The same of a trace. */
  traceInput(position: number): RecordView | null | undefined
}

export interface RecordView {
  bytes: Buffer
  start: number
  end: number
}

export interface RecordsOptions {
  prepare(sql: string): Statement
  /** A new state empties the caches. */
  version(): unknown
}

/** Blocks that are cached, of some 5 kB each. */
const MAX_CACHED_BLOCKS = 500
/** Rows of one query. */
const ROWS_PER_QUERY = 64

export const createRecordReader = ({ prepare, version }: RecordsOptions): Records => {
  const rowOf = (kind: RecordKind): LatestRow => ({
    kind,
    size: PLACES_PER_ROW[kind],
    select: prepare(`SELECT bytes FROM ${kind} WHERE pos = ?`).pluck(),
    selectRun: prepare(
      `SELECT pos, bytes FROM ${kind} WHERE pos BETWEEN ? AND ? ORDER BY pos LIMIT ${ROWS_PER_QUERY}`,
    ).raw(),
    position: -1,
    bytes: NO_ROW,
    starts: newStarts(),
    count: 0,
    view: { bytes: NO_ROW, start: 0, end: 0 },
  })
  const rows = byKind(RECORD_KINDS, rowOf)
  const selectBlock = prepare('SELECT hash, time, hashes, ends FROM block WHERE number = ?').raw()
  const selectRecord = prepare('SELECT record FROM block WHERE number = ?').pluck()
  const blocks = new Map<number, StoredBlock>()
  const starts = newStarts()
  let seen: unknown

  const forgetOthers = () => {
    const now = version()
    if (now === seen) return
    seen = now
    blocks.clear()
    for (const kind of RECORD_KINDS) rows[kind].position = -1
  }

  const take = (row: LatestRow, position: number, bytes: Buffer) => {
    // If the new row is damaged, the old one would still have its position.
    row.position = -1
    row.count = startsIn(bytes, row.kind, position, row.starts)
    row.bytes = bytes
    row.position = position
  }

  const viewOf = (row: LatestRow, inside: number): RecordView | undefined => {
    if (inside >= row.count) return undefined
    const { view } = row
    view.bytes = row.bytes
    view.start = row.starts[inside]!
    view.end = row.starts[inside + 1]!
    return view.start === view.end ? undefined : view
  }

  const find = (kind: RecordKind, position: number): RecordView | undefined => {
    forgetOthers()
    const row = rows[kind]
    const inside = placeOf(position) % row.size
    if (row.position !== position - inside) {
      const bytes = row.select.get(position - inside) as Buffer | undefined
      if (!bytes) return undefined
      take(row, position - inside, bytes)
    }
    return viewOf(row, inside)
  }

  return {
    find,
    ...createInputs(find),
    each(kind, from, to, visit) {
      forgetOthers()
      const row = rows[kind]
      let next = from - (placeOf(from) % row.size)
      for (;;) {
        const run = row.selectRun.all(next, to) as [number, Buffer][]
        for (const [position, bytes] of run) {
          take(row, position, bytes)
          for (let inside = 0; inside < row.size; inside++) {
            if (position + inside < from || position + inside > to) continue
            // `visit` may read other records.
            if (row.position !== position) take(row, position, bytes)
            const view = viewOf(row, inside)
            if (view && visit(position + inside, view) === false) return
          }
        }
        if (run.length < ROWS_PER_QUERY) return
        next = run.at(-1)![0] + row.size
      }
    },
    block(number) {
      forgetOthers()
      const known = blocks.get(number)
      if (known) return known
      const row = selectBlock.get(number) as [Buffer, number, Buffer, Buffer] | undefined
      if (!row) return undefined
      const block = readBlockRow(number, row)
      if (blocks.size >= MAX_CACHED_BLOCKS) blocks.clear()
      blocks.set(number, block)
      return block
    },
    blockRecord(number) {
      const bytes = selectRecord.get(number) as Buffer | undefined
      if (!bytes) return undefined
      startsIn(bytes, 'block', positionOf(number, 0), starts)
      return { bytes, start: starts[0]!, end: starts[1]! }
    },
  }
}

export const createInputs = (find: Records['find']): Pick<Records, 'txInput' | 'traceInput'> => {
  const trace = newTraceRecord()
  const txInput = (position: number): RecordView | null | undefined => {
    const view = find('tx', position)
    if (!view || !seek('tx', INPUT_OF_TX, view.bytes, view.start)) return undefined
    const length = takeLength(view.bytes)
    return length === NO_BYTES ? null : { bytes: view.bytes, start: cursor.at, end: cursor.at + length }
  }

  return {
    txInput,
    traceInput(position) {
      for (let at = position; ; at--) {
        const view = find('trace', at)
        if (!view) return undefined
        readTrace(view.bytes, view.start, trace)
        if (trace.input === INPUT.before) continue
        if (trace.input === INPUT.own) return { bytes: view.bytes, start: trace.inputStart, end: view.end }
        if (trace.input === INPUT.transaction) return txInput(positionOf(blockOf(position), trace.tx))
        return trace.input === INPUT.null ? null : undefined
      }
    },
  }
}

/** The row that was read last: neighbours share it. */
interface LatestRow {
  kind: RecordKind
  size: number
  select: Statement
  selectRun: Statement
  position: number
  bytes: Buffer
  starts: Uint32Array
  count: number
  view: RecordView
}

const NO_ROW: Buffer = Buffer.alloc(0)
const INPUT_OF_TX = columnIndex('tx', 'input')
