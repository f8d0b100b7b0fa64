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
 * Stored documents as the bytes of their records. Fields are read from them by `locate` or `seek` (transactions and blocks), `readTrace`,
 * `readLog` and `readCall` in `records/`, or one by one by `valueReader` (record-values.ts).
 */
export interface Records {
  /**
   * The record of the document at a position, undefined where none is stored. The view is the same object each time for a kind, and
   * holds until the next record of that kind is asked for; its bytes never change.
   */
  find(kind: RecordKind, position: number): RecordView | undefined
  /** All records between two positions in order, read by runs of rows. Ends early where `visit` returns false. */
  each(kind: RecordKind, from: number, to: number, visit: (position: number, view: RecordView) => unknown): void
  /** What all documents of a block show of it. */
  block(number: number): StoredBlock | undefined
  /** The record of a block, beside what `block` tells. */
  blockRecord(number: number): RecordView | undefined
  /** The packed call data of the transaction at a position; null and undefined as the node told. */
  txInput(position: number): RecordView | null | undefined
  /** The packed call data of the trace at a position; null and undefined as the node told. */
  traceInput(position: number): RecordView | null | undefined
}

/** A record in the row that it lies in. */
export interface RecordView {
  bytes: Buffer
  start: number
  end: number
}

export interface RecordsOptions {
  prepare(sql: string): Statement
  /** Changes with the state of the store: what was read of another one is forgotten. */
  version(): unknown
}

/** Blocks that are held: some 5 kB each. */
const BLOCKS = 500
/** Rows that are read in one go. */
const RUN = 64

export const createRecords = ({ prepare, version }: RecordsOptions): Records => {
  const rowOf = (kind: RecordKind): Row => ({
    kind,
    size: PLACES_PER_ROW[kind],
    select: prepare(`SELECT bytes FROM ${kind} WHERE pos = ?`).pluck(),
    selectRun: prepare(`SELECT pos, bytes FROM ${kind} WHERE pos BETWEEN ? AND ? ORDER BY pos LIMIT ${RUN}`).raw(),
    position: -1,
    bytes: NOTHING,
    starts: newStarts(),
    count: 0,
    view: { bytes: NOTHING, start: 0, end: 0 },
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

  const take = (row: Row, position: number, bytes: Buffer) => {
    // Were it damaged, the row before would still be there under its own position.
    row.position = -1
    row.count = startsIn(bytes, row.kind, position, row.starts)
    row.bytes = bytes
    row.position = position
  }

  /** The record at a place of the row that was read last. */
  const viewOf = (row: Row, inside: number): RecordView | undefined => {
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
            // What is visited may ask for records itself.
            if (row.position !== position) take(row, position, bytes)
            const view = viewOf(row, inside)
            if (view && visit(position + inside, view) === false) return
          }
        }
        if (run.length < RUN) return
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
      if (blocks.size >= BLOCKS) blocks.clear()
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

/** What transactions and steps are called with, of records that are found by their positions. */
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

/** The row of a kind that was read last: neighbours lie in one. */
interface Row {
  kind: RecordKind
  /** Places of a row. */
  size: number
  select: Statement
  selectRun: Statement
  position: number
  bytes: Buffer
  starts: Uint32Array
  count: number
  view: RecordView
}

const NOTHING: Buffer = Buffer.alloc(0)
const INPUT_OF_TX = columnIndex('tx', 'input')
