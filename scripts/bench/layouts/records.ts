import type { Batch } from '../../../src/engine/documents/batch.ts'
import { type Column, type Form, tableColumns } from '../../../src/engine/documents/forms.ts'
import { blockOf, placeOf } from '../../../src/engine/schema.ts'
import { type ByteWriter, createByteWriter } from '../../../src/lib/bytes.ts'

/**
 * Packed records of documents, made from the cells of a batch. A record begins with one presence bit for each
 * column, then holds the values of the present ones in the order of `RECORD_COLUMNS`.
 */
export interface BlockRecords {
  number: number
  hash: Buffer
  time: number
  /** Hashes of the transactions, 32 bytes each: logs, events, calls and traces show them too. */
  hashes: Buffer
  block: Uint8Array
  txs: Uint8Array[]
  logs: Uint8Array[]
  /** Place of the transaction of each log and trace; -1 for a reward. */
  logTxs: number[]
  traces: Uint8Array[]
  traceTxs: number[]
  calls: Uint8Array[]
}

const without = (columns: Column[], ...fields: string[]) => columns.filter(({ field }) => !fields.includes(field))

const SOURCE = {
  block: tableColumns('block', 'block'),
  tx: tableColumns('tx', 'tx'),
  txBulk: tableColumns('tx', 'tx_bulk'),
  trace: tableColumns('trace', 'trace'),
  traceBulk: tableColumns('trace', 'trace_bulk'),
}

/** What a record holds, in its order; a block's own row holds hash and time, and the hashes of its transactions. */
export const RECORD_COLUMNS = {
  block: without(SOURCE.block, 'hash', 'timestamp'),
  tx: without([...SOURCE.tx, ...SOURCE.txBulk], 'hash'),
  /** Behind them comes what the step is called with, which is often that of the transaction or of the step above. */
  trace: without([...SOURCE.trace, ...SOURCE.traceBulk], 'action.input'),
}

/** Where the input of a step is kept. */
const INPUT = { none: 0, own: 1, transaction: 2, before: 3 } as const

const LENGTH = 2 ** 24
/** The smallest chunk of traces that is compared. */
const TRACE_CHUNK = 16

interface Table {
  cells: Float64Array
  pool: Buffer
  stride: number
}

const tableOf = ({ cells, pool }: Batch['rows']['tx'], stride: number): Table => ({
  cells,
  pool: Buffer.from(pool.buffer, pool.byteOffset, pool.byteLength),
  stride,
})

/** The bytes of a blob cell, as a view of the pool. */
const blobOf = (cell: number, pool: Buffer): Buffer => {
  const place = -1 - cell
  const offset = Math.floor(place / LENGTH)
  return pool.subarray(offset, offset + (place - offset * LENGTH))
}

/** Bytes below 128 are the integer itself; 128 + n says that n bytes follow; 254 keeps padded digits; 255 is an explicit null. */
const integer = (out: ByteWriter, cell: number, pool: Buffer) => {
  if (cell === Number.POSITIVE_INFINITY) return out.byte(255)
  if (cell < 0) {
    const bytes = blobOf(cell, pool)
    if (bytes[0] === 0) {
      out.byte(254)
      out.byte(bytes.length - 1)
    } else out.byte(128 + bytes.length - 1)
    return out.bytes(bytes, 1)
  }
  if (cell < 128) return out.byte(cell)
  let size = 1
  for (let rest = cell / 256; rest >= 1; rest /= 256) size++
  out.byte(128 + size)
  const target = out.reserve(size)
  target.writeUIntBE(cell, out.length, Math.min(size, 6))
  if (size > 6) throw new Error('integers of numbers have six bytes at most')
  out.advance(size)
}

const value = (out: ByteWriter, form: Form, cell: number, pool: Buffer) => {
  switch (form) {
    case 'address':
    case 'name':
      return out.varint(cell)
    case 'uint':
    case 'digits':
      // Seven-byte integers below 2^53 are rare and take the long way.
      if (cell >= 2 ** 48 && cell !== Number.POSITIVE_INFINITY) return wideInteger(out, cell)
      return integer(out, cell, pool)
    case 'boolean':
      return out.byte(cell)
    default: {
      if (cell >= 0) return out.byte(form === 'bloom' && cell === 1 ? 1 : 0)
      const bytes = blobOf(cell, pool)
      out.varint(bytes.length + 2)
      out.bytes(bytes)
    }
  }
}

const wideInteger = (out: ByteWriter, cell: number) => {
  out.byte(128 + 7)
  const digits = cell.toString(16).padStart(14, '0')
  out.hex(digits)
}

const fields = (
  out: ByteWriter,
  columns: readonly Column[],
  cellOf: (index: number) => { cell: number; pool: Buffer },
) => {
  const start = out.length
  for (let at = 0; at < columns.length; at += 8) out.byte(0)
  for (let index = 0; index < columns.length; index++) {
    const { cell, pool } = cellOf(index)
    if (Number.isNaN(cell)) continue
    out.view(start + (index >> 3), start + (index >> 3) + 1)[0]! |= 1 << (index & 7)
    value(out, columns[index]!.form, cell, pool)
  }
}

/** Cells of a row that lies in two tables, some of which a record leaves out. */
const picker = (columns: readonly Column[], parts: { table: Table; columns: readonly Column[]; skip: number }[]) => {
  const places = columns.map(({ field }) => {
    for (const { table, columns: own, skip } of parts) {
      const index = own.findIndex(column => column.field === field)
      if (index >= 0) return { table, offset: skip + index }
    }
    throw new Error(`no column ${field}`)
  })
  return (row: number) => (index: number) => {
    const { table, offset } = places[index]!
    return { cell: table.cells[row * table.stride + offset]!, pool: table.pool }
  }
}

export const recordsOf = ({ rows }: Batch): BlockRecords[] => {
  const block = tableOf(rows.block, 1 + SOURCE.block.length)
  const tx = tableOf(rows.tx, 1 + SOURCE.tx.length)
  const txBulk = tableOf(rows.tx_bulk, 1 + SOURCE.txBulk.length)
  const log = tableOf(rows.log, 7)
  const trace = tableOf(rows.trace, 2 + SOURCE.trace.length)
  const traceBulk = tableOf(rows.trace_bulk, 1 + SOURCE.traceBulk.length)
  const call = tableOf(rows.call, 11)
  const pickBlock = picker(RECORD_COLUMNS.block, [{ table: block, columns: SOURCE.block, skip: 1 }])
  const pickTx = picker(RECORD_COLUMNS.tx, [
    { table: tx, columns: SOURCE.tx, skip: 1 },
    { table: txBulk, columns: SOURCE.txBulk, skip: 1 },
  ])
  const pickTrace = picker(RECORD_COLUMNS.trace, [
    { table: trace, columns: SOURCE.trace, skip: 2 },
    { table: traceBulk, columns: SOURCE.traceBulk, skip: 1 },
  ])
  const inputAt = 1 + SOURCE.traceBulk.findIndex(({ field }) => field === 'action.input')
  const txInputAt = 1 + SOURCE.txBulk.findIndex(({ field }) => field === 'input')
  const hashAt = 1 + SOURCE.txBulk.findIndex(({ field }) => field === 'hash')
  const blockHashAt = 1 + SOURCE.block.findIndex(({ field }) => field === 'hash')
  const timeAt = 1 + SOURCE.block.findIndex(({ field }) => field === 'timestamp')

  const out = createByteWriter(1 << 16)
  const record = (write: () => void): Uint8Array => {
    out.truncate(0)
    write()
    return out.take()
  }
  const next = { tx: 0, log: 0, trace: 0, call: 0 }
  /** Rows of a block, which stand together in every table. */
  const rowsOf = (name: keyof typeof next, table: Table, number: number): [number, number] => {
    const from = next[name]
    let to = from
    while (to * table.stride < table.cells.length && blockOf(table.cells[to * table.stride]!) === number) to++
    next[name] = to
    return [from, to]
  }
  const range = <T>([from, to]: [number, number], make: (row: number) => T): T[] =>
    Array.from({ length: to - from }, (_, i) => make(from + i))

  const logRecord = (row: number) => () => {
    const at = row * log.stride
    const [address, signature, place, decimals, topics, data] = log.cells.subarray(at + 1, at + 7)
    out.varint(place!)
    out.varint(address!)
    out.varint(signature!)
    out.byte(Number.isNaN(decimals!) ? 0 : decimals! + 1)
    const packed = Number.isNaN(topics!) ? log.pool.subarray(0, 0) : blobOf(topics!, log.pool)
    out.byte(packed.length)
    out.bytes(packed)
    if (!Number.isNaN(data!)) out.bytes(blobOf(data!, log.pool))
  }
  const blobAt = ({ cells, pool, stride }: Table, row: number, offset: number): Buffer | undefined => {
    const cell = cells[row * stride + offset]!
    return cell < 0 ? blobOf(cell, pool) : undefined
  }
  /** A chunk is read without the one before it: its first step never points there. */
  const traceRecord = (row: number, firstTx: number, firstRow: number) => () => {
    const place = trace.cells[row * trace.stride + 1]!
    out.varint(Number.isNaN(place) ? 0 : place + 1)
    fields(out, RECORD_COLUMNS.trace, pickTrace(row))
    const input = blobAt(traceBulk, row, inputAt)
    const isAlone = (row - firstRow) % TRACE_CHUNK === 0
    if (!input) out.byte(INPUT.none)
    else if (blobAt(txBulk, firstTx + place, txInputAt)?.equals(input)) out.byte(INPUT.transaction)
    else if (!isAlone && blobAt(traceBulk, row - 1, inputAt)?.equals(input)) out.byte(INPUT.before)
    else {
      out.byte(INPUT.own)
      out.bytes(input)
    }
  }
  /** Without what the trace of the call holds; the place of that trace, or 0. */
  const callRecord = (row: number) => () => {
    const at = row * call.stride
    const [place, trace, from, to, signature, decimals, reverted, , depth, type] = call.cells.subarray(at + 1, at + 11)
    out.varint(Number.isNaN(trace!) ? 0 : trace! + 1)
    out.varint(signature!)
    out.byte(Number.isNaN(decimals!) ? 0 : decimals! + 1)
    out.byte(reverted!)
    if (!Number.isNaN(trace!)) return
    for (const number of [place!, from!, to!, depth!, type!]) out.varint(number)
  }

  return Array.from({ length: block.cells.length / block.stride }, (_, row) => {
    const number = blockOf(block.cells[row * block.stride]!)
    const txRows = rowsOf('tx', tx, number)
    const logRows = rowsOf('log', log, number)
    const traceRows = rowsOf('trace', trace, number)
    if (placeOf(log.cells[logRows[0] * log.stride] ?? 0) !== 0) throw new Error('partial blocks are left out here')
    return {
      number,
      hash: blobOf(block.cells[row * block.stride + blockHashAt]!, block.pool),
      time: block.cells[row * block.stride + timeAt]!,
      hashes: Buffer.concat(range(txRows, i => blobOf(txBulk.cells[i * txBulk.stride + hashAt]!, txBulk.pool))),
      block: record(() => fields(out, RECORD_COLUMNS.block, pickBlock(row))),
      txs: range(txRows, i => record(() => fields(out, RECORD_COLUMNS.tx, pickTx(i)))),
      logs: range(logRows, i => record(logRecord(i))),
      logTxs: range(logRows, i => log.cells[i * log.stride + 3]!),
      traces: range(traceRows, i => record(traceRecord(i, txRows[0], traceRows[0]))),
      traceTxs: range(traceRows, i => {
        const place = trace.cells[i * trace.stride + 1]!
        return Number.isNaN(place) ? -1 : place
      }),
      calls: range(rowsOf('call', call, number), i => record(callRecord(i))),
    }
  })
}
