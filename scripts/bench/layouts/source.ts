import Database from 'better-sqlite3'
import { datetime } from '../../../src/documents/show.ts'
import type { Reader } from '../../../src/engine/reader.ts'
import { PLACES, positionOf } from '../../../src/engine/schema.ts'
import { chunkOf, DOCUMENT_KINDS, type DocumentKind, keyOf, type Layout, opened, type Row } from './chunks.ts'
import { bytes } from './json.ts'
import { type Addresses, createAddresses, cursor, varint } from './values.ts'

/** What all documents of a block show of it. */
export interface BlockContext {
  number: number
  hash: Uint8Array
  /** `"blockHash":"0x…","blockNumber":{…}` */
  place: Uint8Array
  /** `"timestamp":"…"`, and the same in seconds. */
  datetime: Uint8Array
  seconds: Uint8Array
  hashes: Buffer
  /** Logs of the block up to and with each transaction. */
  logEnds: Uint32Array
}

/** A record in the row that it lies in. */
export interface View {
  bytes: Buffer
  start: number
  end: number
}

export interface Source {
  addresses: Addresses
  reader: Reader
  block(number: number): BlockContext
  /** Finds a record; the view holds until the next call. */
  record(kind: DocumentKind, number: number, place: number): View
  forget(): void
  close(): void
}

const BLOCKS = 1000

/** Reads the records of one layout. Dictionaries are read from today's store. */
export const openSource = (path: string, layout: Layout, reader: Reader): Source => {
  const db = new Database(path, { readonly: true })
  db.pragma('cache_size = -65536')
  db.pragma('mmap_size = 17179869184')
  // One transaction for all reads, as a search has: else each of them takes and leaves locks.
  db.exec('BEGIN')
  const { chunk, zstd, oneTable = false, crc = true } = layout
  const isMixed = chunk === 'transaction'
  const sizes = DOCUMENT_KINDS.map(kind => Math.min(isMixed ? 1 : chunkOf(chunk, kind), PLACES))
  const select = (name: Row['table']) => db.prepare(`SELECT bytes FROM "${name}" WHERE pos = ?`).pluck()
  const shared = isMixed || oneTable ? select('mixed') : undefined
  const selects = DOCUMENT_KINDS.map(kind => shared ?? select(kind))
  const readBlock = db.prepare('SELECT hash, time, hashes, ends FROM block WHERE number = ?').raw()
  const blocks = new Map<number, BlockContext>()
  const view: View = { bytes: Buffer.alloc(0), start: 0, end: 0 }
  /** The row read last, for each kind: neighbours lie in one. */
  const last = DOCUMENT_KINDS.map(() => ({ key: -1, bytes: view.bytes, starts: new Uint32Array(64) }))

  const block = (number: number): BlockContext => {
    let found = blocks.get(number)
    if (!found) {
      const [hash, time, hashes, ends] = readBlock.get(number) as [Buffer, number, Buffer, Buffer]
      found = {
        number,
        hash: bytes(`0x${hash.toString('hex')}`),
        place: bytes(
          `"blockHash":"0x${hash.toString('hex')}","blockNumber":{"num":${number},"raw":"0x${number.toString(16)}"}`,
        ),
        datetime: bytes(`"timestamp":"${datetime(time)}"`),
        seconds: bytes(`"timestamp":${time}`),
        hashes,
        logEnds: endsOf(ends, hashes.length / 32),
      }
      if (blocks.size > BLOCKS) blocks.clear()
      blocks.set(number, found)
    }
    return found
  }

  const find = (index: number, name: Row['table'], key: number, place: number): View => {
    const row = last[index]!
    if (row.key !== key) {
      const stored = selects[index]!.get(keyOf(name, key, oneTable)) as Buffer
      const body = opened(stored, zstd?.[name], crc)
      row.key = key
      row.bytes = body.bytes
      row.starts = startsIn(body, row.starts)
    }
    view.bytes = row.bytes
    view.start = row.starts[place]!
    view.end = row.starts[place + 1]!
    return view
  }

  return {
    addresses: createAddresses(reader.addressDigits),
    reader,
    block,
    record(kind, number, place) {
      const index = DOCUMENT_KINDS.indexOf(kind)
      if (isMixed) {
        if (kind === 'tx') return find(0, 'mixed', positionOf(number, place), 0)
        const { logEnds } = block(number)
        const tx = transactionOf(logEnds, place)
        return find(0, 'mixed', positionOf(number, tx), 1 + place - (tx === 0 ? 0 : logEnds[tx - 1]!))
      }
      const size = sizes[index]!
      const first = place - (place % size)
      return find(index, kind, positionOf(number, first), place - first)
    },
    forget() {
      blocks.clear()
      for (const row of last) row.key = -1
    },
    close: () => db.close(),
  }
}

/** Where the records of a row begin, and where the last one ends. */
export const startsIn = (
  { bytes, start }: { bytes: Buffer; start: number },
  into: Uint32Array<ArrayBuffer>,
): Uint32Array<ArrayBuffer> => {
  cursor.at = start
  const count = varint(bytes)
  const starts = into.length > count ? into : new Uint32Array(count * 2)
  let sum = 0
  for (let i = 0; i < count; i++) {
    starts[i] = sum
    sum += varint(bytes)
  }
  starts[count] = sum
  for (let i = 0; i <= count; i++) starts[i]! += cursor.at
  return starts
}

/** Counts of logs, as varints, as ends. */
const endsOf = (counts: Buffer, size: number): Uint32Array => {
  const ends = new Uint32Array(size)
  cursor.at = 0
  let sum = 0
  for (let i = 0; i < size; i++) {
    sum += varint(counts)
    ends[i] = sum
  }
  return ends
}

const transactionOf = (ends: Uint32Array, log: number): number => {
  let low = 0
  let high = ends.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if (ends[middle]! > log) high = middle
    else low = middle + 1
  }
  return low
}
