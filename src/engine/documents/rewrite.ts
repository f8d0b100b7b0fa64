import { type ByteWriter, createByteWriter } from '../../lib/bytes.ts'
import type { FieldwiseKind, RecordKind } from '../../mapping/index.ts'
import { requirePresent } from '../../sqlite/damage.ts'
import type { Db } from '../../sqlite/database.ts'
import type { NamesChange, Revision } from '../index/redecode-patch.ts'
import { placeOf } from '../schema.ts'
import { PLACES_PER_ROW } from './columns.ts'
import { rewriteCall } from './records/call.ts'
import { rewriteField } from './records/fields.ts'
import { rewriteLog } from './records/log.ts'
import { newStarts, startsIn, writeRow } from './records/rows.ts'
import { fieldsOfTrace } from './records/trace.ts'

/** Writes rows again whose records change by decoding them again. */
export const createRewriter = (db: Db) => {
  const rewriters = {
    tx: createRowRewriter(db, 'tx'),
    log: createRowRewriter(db, 'log'),
    call: createRowRewriter(db, 'call'),
    trace: createRowRewriter(db, 'trace'),
  }
  return ({ logs, calls, txs, traces }: Pick<Revision, 'logs' | 'calls' | 'txs' | 'traces'>): void => {
    rewriters.log(logs, (out, bytes, range, { signature, decimals, topics }) =>
      rewriteLog(out, bytes, range, signature, decimals, topics === null ? NO_TOPICS : topics),
    )
    rewriters.call(calls, (out, bytes, [start], { signature, decimals }) =>
      rewriteCall(out, bytes, start, signature, decimals),
    )
    rewriters.tx(txs, (out, bytes, range, { names }) => rewriteNames(out, 'tx', bytes, range, names))
    rewriters.trace(traces, (out, bytes, [start, end], { names }) => {
      const fields = fieldsOfTrace(bytes, start)
      out.bytes(bytes, start, fields)
      rewriteNames(out, 'trace', bytes, [fields, end], names)
    })
  }
}

const rewriteNames = (
  out: ByteWriter,
  kind: FieldwiseKind,
  bytes: Uint8Array,
  range: readonly [number, number],
  names: NamesChange['names'],
): void => {
  const [[column, name], ...more] = names as [NamesChange['names'][0], ...NamesChange['names']]
  const to = more.length === 0 ? out : createByteWriter()
  rewriteField(to, kind, column, bytes, range, writer => writer.varint(name))
  if (more.length > 0) rewriteNames(out, kind, to.view(), [0, to.length], more)
}

type Rewrite<T> = (out: ByteWriter, bytes: Buffer, range: readonly [start: number, end: number], change: T) => void

const createRowRewriter = (db: Db, kind: RecordKind) => {
  const size = PLACES_PER_ROW[kind]
  const select = db.prepare(`SELECT bytes FROM ${kind} WHERE pos = ?`).pluck()
  const update = db.prepare(`UPDATE ${kind} SET bytes = ? WHERE pos = ?`)
  const starts = newStarts()
  const ends = newStarts()
  const [records, row] = [createByteWriter(), createByteWriter()]

  return <T extends { position: number }>(changes: readonly T[], rewrite: Rewrite<T>): void => {
    const rows = Map.groupBy(changes, ({ position }) => position - (placeOf(position) % size))
    for (const [first, some] of rows) {
      const bytes = requirePresent(select.get(first) as Buffer | undefined, `a row of the table "${kind}"`)
      const count = startsIn(bytes, kind, first, starts)
      const changed = new Map(some.map(change => [change.position - first, change]))
      records.truncate(0)
      for (let i = 0; i < count; i++) {
        const range = [starts[i]!, starts[i + 1]!] as const
        const change = changed.get(i)
        if (change && range[0] < range[1]) rewrite(records, bytes, range, change)
        else records.bytes(bytes, ...range)
        ends[i] = records.length
      }
      row.truncate(0)
      writeRow(row, records, ends, count)
      update.run(row.view(), first)
    }
  }
}

const NO_TOPICS = new Uint8Array(0)
