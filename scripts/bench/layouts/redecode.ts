import Database from 'better-sqlite3'
import { openForWriting } from '../../../src/engine/open.ts'
import { blockOf, placeOf, positionOf } from '../../../src/engine/schema.ts'
import { createByteWriter } from '../../../src/lib/bytes.ts'
import { chunkOf, type Layout, opened, packedRow } from './chunks.ts'
import { decodeColumn, encodeColumn, valueAt } from './columns.ts'
import { compare, type Figure } from './measure.ts'
import { readLog } from './show-log.ts'
import { startsIn } from './source.ts'

export interface RedecodeOptions {
  /** Stores of documents as rows, of documents in chunks, and of columns. */
  rows: string
  chunks: { path: string; layout: Layout }
  columns: string
  /** Positions of logs of the first segment, which get another signature, and their ordinals in it. */
  logs: readonly { position: number; ordinal: number }[]
  rounds: number
}

/** What it costs to give logs another decoding, in microseconds a log; the index is left out. */
export const measureRedecoding = ({ rows, chunks, columns, logs, rounds }: RedecodeOptions): Map<string, Figure> => {
  let signature = 1
  const contestants = [
    { name: 'a row each', write: inRows(rows) },
    { name: 'in their chunks', write: inChunks(chunks) },
    { name: 'in a column', write: inColumn(columns) },
  ].map(({ name, write }) => ({
    name,
    run() {
      write(logs, ++signature)
      return logs.length
    },
  }))
  return compare(contestants, rounds)
}

type Logs = RedecodeOptions['logs']
type Write = (logs: Logs, signature: number) => void

const inRows = (path: string): Write => {
  const db = openForWriting(path)
  const update = db.prepare('UPDATE log SET signature = ?, decimals = ? WHERE pos = ?')
  return db.transaction((logs: Logs, signature: number) => {
    for (const { position } of logs) update.run(signature, null, position)
  })
}

const inChunks = ({ path, layout }: RedecodeOptions['chunks']): Write => {
  const db = new Database(path)
  const size = layout.chunk === 'transaction' ? 1 : chunkOf(layout.chunk, 'log')
  const select = db.prepare('SELECT bytes FROM log WHERE pos = ?').pluck()
  const update = db.prepare('UPDATE log SET bytes = ? WHERE pos = ?')
  const out = createByteWriter()
  const changed = (record: Buffer, signature: number): Uint8Array => {
    const { tx, address, decimals, topics } = readLog({ bytes: record, start: 0, end: record.length })
    out.truncate(0)
    for (const number of [tx, address, signature]) out.varint(number)
    out.byte(decimals + 1)
    out.bytes(record, topics - 1)
    return out.take()
  }
  return db.transaction((logs: Logs, signature: number) => {
    const byChunk = Map.groupBy(logs, ({ position }) => position - (placeOf(position) % size))
    for (const [key, some] of byChunk) {
      const body = opened(select.get(key) as Buffer, undefined, true)
      const starts = startsIn(body, new Uint32Array(64))
      const places = new Set(some.map(({ position }) => position - key))
      const count = starts.indexOf(body.bytes.length - CHECKSUM)
      const records = Array.from({ length: count }, (_, i) => {
        const record = body.bytes.subarray(starts[i], starts[i + 1])
        return places.has(i) ? changed(record, signature) : record
      })
      update.run(packedRow(records, undefined, true), positionOf(blockOf(key), placeOf(key)))
    }
  })
}

const CHECKSUM = 4

const inColumn = (path: string): Write => {
  const db = new Database(path)
  const segment = db.prepare('SELECT min(segment) FROM col').pluck().get()
  const select = db.prepare("SELECT data FROM col WHERE field = 'log.signature' AND segment = ?").pluck()
  const update = db.prepare("UPDATE col SET data = ? WHERE field = 'log.signature' AND segment = ?")
  return db.transaction((logs: Logs, signature: number) => {
    const column = decodeColumn(select.get(segment) as Buffer)
    const values = Float64Array.from({ length: column.count }, (_, i) => valueAt(column, i))
    for (const { ordinal } of logs) values[ordinal] = signature
    update.run(encodeColumn(values), segment)
  })
}
