import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Batch, TableName } from '../../../src/engine/documents/batch.ts'
import { tableColumns } from '../../../src/engine/documents/forms.ts'
import { rowInserter } from '../../../src/engine/documents/insert.ts'
import { openForWriting } from '../../../src/engine/open.ts'
import { positionOf } from '../../../src/engine/schema.ts'
import { createWriter } from '../../../src/engine/writer.ts'
import { createChunkWriter, type Layout, openStore, rowsOf } from './chunks.ts'
import { columnsOfBatch, createColumnWriter } from './fields.ts'
import type { Input } from './input.ts'
import { type Figure, summedUp, timed } from './measure.ts'
import { recordsOf } from './records.ts'

/** Writes one part of a store. */
interface Target {
  name: string
  path: string
  /** Work for the thread that decodes, in place of what it does today. */
  prepare(batch: Batch): unknown
  write(prepared: unknown): void
  /** Removes the documents of this block and those above. */
  remove?(block: number): void
  checkpoint(): void
}

export interface Written {
  name: string
  path: string
  /** Microseconds a log. */
  prepare: number
  write: number
  /** Bytes of the file, and bytes that were handed to the system, a log. */
  stored: number
  written: number
  /** One block a commit. */
  head: Figure
  /** Microseconds to take the newest five blocks out, where that was done. */
  removal: number | undefined
}

const WIDTHS = {
  block: 1 + tableColumns('block', 'block').length,
  tx: 1 + tableColumns('tx', 'tx').length,
  tx_bulk: 1 + tableColumns('tx', 'tx_bulk').length,
  log: 7,
  trace: 2 + tableColumns('trace', 'trace').length,
  trace_bulk: 1 + tableColumns('trace', 'trace_bulk').length,
  call: 11,
} satisfies Partial<Record<TableName, number>>

const EMPTY = { cells: new Float64Array(0), pool: new Uint8Array(0) }

const withoutRows = (batch: Batch): Batch => ({
  ...batch,
  rows: {
    block: EMPTY,
    tx: EMPTY,
    tx_bulk: EMPTY,
    log: EMPTY,
    trace: EMPTY,
    trace_bulk: EMPTY,
    call: EMPTY,
    contract: EMPTY,
  },
})

const same = (batch: Batch) => batch

/** Documents as rows of many columns. */
const rowTarget = (path: string): Target => {
  const db = openForWriting(path)
  const names = Object.keys(WIDTHS) as (keyof typeof WIDTHS)[]
  const inserters = names.map(name => ({ name, insert: rowInserter(db, name, WIDTHS[name], 16) }))
  const write = db.transaction((batch: Batch) => {
    for (const { name, insert } of inserters) insert.add(batch.rows[name])
  })
  const remove = db.transaction((block: number) => {
    for (const name of names) db.prepare(`DELETE FROM "${name}" WHERE pos >= ?`).run(positionOf(block, 0))
  })
  return {
    name: 'rows',
    path,
    prepare: same,
    write: batch => void write.immediate(batch as Batch),
    remove: block => void remove.immediate(block),
    checkpoint: () => void db.pragma('wal_checkpoint(TRUNCATE)'),
  }
}

/** Postings, points, dictionaries and segments, without documents. */
const indexTarget = (path: string): Target => {
  const db = openForWriting(path)
  const writer = createWriter(db)
  return {
    name: 'index',
    path,
    prepare: withoutRows,
    write: batch => writer.apply(batch as Batch),
    checkpoint: () => void db.pragma('wal_checkpoint(TRUNCATE)'),
  }
}

const columnTarget = (path: string): Target => {
  const db = openStore(path, {})
  const write = createColumnWriter(db)
  const remove = db.prepare('DELETE FROM col WHERE segment >= ?')
  return {
    name: 'columns',
    path,
    prepare: batch => ({ segment: batch.first, columns: columnsOfBatch(batch) }),
    write(prepared) {
      const { segment, columns } = prepared as { segment: number; columns: ReturnType<typeof columnsOfBatch> }
      write(segment, columns)
    },
    remove: block => void remove.run(block),
    checkpoint: () => void db.pragma('wal_checkpoint(TRUNCATE)'),
  }
}

const chunkTarget = (path: string, layout: Layout): Target => {
  const { db, write, remove } = createChunkWriter(path, layout)
  return {
    name: layout.name,
    path,
    prepare: batch => recordsOf(batch).map(records => rowsOf(records, layout)),
    write: rows => write(rows as Parameters<typeof write>[0]),
    remove,
    checkpoint: () => void db.pragma('wal_checkpoint(TRUNCATE)'),
  }
}

const LAST = 5

/** Writes all batches into every target, batch by batch in turn, then the head block by block. */
export const writeAll = (input: Input, folder: string, layouts: readonly Layout[]): Written[] => {
  const targets = [
    rowTarget(join(folder, 'rows-only.sqlite')),
    ...layouts.map((layout, i) => chunkTarget(join(folder, `layout-${i}.sqlite`), layout)),
    indexTarget(join(folder, 'index-only.sqlite')),
    columnTarget(join(folder, 'columns.sqlite')),
  ]
  const sums = targets.map(() => ({ prepare: 0, write: 0, written: 0, stored: 0, head: [] as Figure[] }))
  for (const batch of input.batches)
    for (const [i, { prepare, write }] of targets.entries()) {
      const sum = sums[i]!
      let prepared: unknown
      sum.prepare += timed(() => {
        prepared = prepare(batch)
        return 1
      }).cpu
      const before = bytesWritten()
      sum.write += timed(() => {
        write(prepared)
        return 1
      }).cpu
      sum.written += bytesWritten() - before
    }
  for (const [i, { path, checkpoint }] of targets.entries()) {
    const before = bytesWritten()
    sums[i]!.write += timed(() => {
      checkpoint()
      return 1
    }).cpu
    sums[i]!.written += bytesWritten() - before
    sums[i]!.stored = statSync(path).size
  }
  for (const batch of input.head)
    for (const [i, { prepare, write }] of targets.entries()) {
      const prepared = prepare(batch)
      sums[i]!.head.push(
        timed(() => {
          write(prepared)
          return 1
        }),
      )
    }
  const top = input.head.at(-1)
  return targets.map(({ name, path, remove, checkpoint }, i) => {
    const { prepare, write, written, stored, head } = sums[i]!
    const removal =
      top && remove
        ? timed(() => {
            remove(top.last + 1 - LAST)
            return 1
          }).wall
        : undefined
    // What is read afterwards are the batches alone.
    if (input.head[0]) remove?.(input.head[0].first)
    checkpoint()
    const { logs } = input
    return {
      ...{ name, path, removal, head: summedUp(head) },
      prepare: prepare / logs,
      write: write / logs,
      written: written / logs,
      stored: stored / logs,
    }
  })
}

/** Bytes that this process has handed to the system so far; 0 where the system does not tell. */
const bytesWritten = (): number => {
  try {
    return Number(/^wchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}
