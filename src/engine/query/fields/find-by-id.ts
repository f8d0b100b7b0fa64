import type { Kind, RowKind } from '../../../mapping/index.ts'
import { columnIndex } from '../../documents/columns.ts'
import type { RecordView } from '../../documents/record-reader.ts'
import { hashOfTx, hashStart, type StoredBlock } from '../../documents/records/block.ts'
import { newCallRecord, readCall } from '../../documents/records/call.ts'
import { newLogRecord, readLog } from '../../documents/records/log.ts'
import { newTraceRecord, readTrace, txOfTrace } from '../../documents/records/trace.ts'
import { integersAt } from '../../forms/bytes.ts'
import { fieldId, HASHED, termOf } from '../../index/terms.ts'
import type { StoreReader } from '../../reader.ts'
import { blockOf, PLACES_PER_BLOCK, placeOf, positionOf } from '../../schema.ts'
import type { Documents } from '../documents.ts'
import { isRowKind, positionOfOrdinal, segmentAt } from './ordinals.ts'

const [BLOCK_HASH, TX_HASH] = [fieldId('block', 'hash'), fieldId('tx', 'hash')]

/** Position of the block with this hash (lower-case hex). */
export const findBlock = (hash: string, reader: StoreReader): number | undefined =>
  find(hash, 'block', BLOCK_HASH, reader)

export const findTransaction = (hash: string, reader: StoreReader): number | undefined =>
  find(hash, 'tx', TX_HASH, reader)

/** Ascending positions of documents with these ids; several for a contract created repeatedly. */
export const positionsOfIds = (kind: Kind, ids: readonly string[], reader: StoreReader): number[] => {
  const positions = new Set(
    ids.flatMap(id =>
      isRowKind(kind) ? positionsOfAddress(kind, id, reader) : (positionOfId(kind, id, reader) ?? []),
    ),
  )
  return [...positions].sort((a, b) => a - b)
}

const positionOfId = (kind: Exclude<Kind, RowKind>, id: string, reader: StoreReader): number | undefined => {
  if (kind === 'block') return findBlock(id, reader)
  if (kind === 'tx') return findTransaction(id, reader)
  if (kind === 'trace') return positionOfTrace(id, reader)
  if (kind === 'call') return positionOfCall(id, reader)
  const [, hash, letter, index] = /^(0x[0-9a-f]{64})_([le])_(0|[1-9]\d{0,6})$/.exec(id) ?? []
  if (!hash || letter !== kind[0]) return undefined
  const transaction = findTransaction(hash, reader)
  if (transaction === undefined) return undefined
  const position = positionOf(blockOf(transaction), Number(index))
  const view = reader.records.find('log', position)
  if (!view) return undefined
  const log = newLogRecord()
  readLog(view.bytes, view.start, log)
  if (log.tx !== placeOf(transaction)) return undefined
  return kind === 'log' || reader.signature(log.signature).event ? position : undefined
}

const positionsOfAddress = (kind: RowKind, id: string, reader: StoreReader): number[] => {
  reader.check()
  const address = /^0x[0-9a-f]{40}$/.test(id) ? reader.addressId(id.slice(2)) : undefined
  const column = kind === 'token' ? 'id' : 'address'
  const select = reader.prepare(`SELECT pos FROM ${kind} WHERE ${column} = ? AND pos IS NOT NULL`).pluck()
  const positions = address === undefined ? [] : (select.all(address) as number[])
  // Rows of blocks that were pruned stay: decoding needs to know them.
  return positions.filter(position => segmentAt(position, reader))
}

const positionOfTrace = (id: string, reader: StoreReader): number | undefined => {
  const [, hash, address] = /^(0x[0-9a-f]{64})_t((?:_(?:0|[1-9]\d{0,9})){0,1100})$/.exec(id) ?? []
  if (hash === undefined || address === undefined) return undefined
  const path = address.split('_').slice(1).map(Number)
  const transaction = findTransaction(hash, reader)
  if (transaction === undefined) return path.length === 1 ? positionOfReward(hash, path[0]!, reader) : undefined
  return first(transaction, 'trace', reader, ({ bytes, start }) => {
    readTrace(bytes, start, traceRecord)
    if (traceRecord.tx !== placeOf(transaction)) return false
    const found = integersAt(bytes, traceRecord.offsets[TRACE_ADDRESS]!)
    return found.length === path.length && found.every((place, i) => place === path[i])
  })
}

const traceRecord = newTraceRecord()
const TRACE_ADDRESS = columnIndex('trace', 'traceAddress')

/** Position of the first of a block's that a test holds for. */
const first = (
  block: number,
  kind: 'trace' | 'call',
  { records }: StoreReader,
  test: (view: RecordView) => boolean,
): number | undefined => {
  const start = positionOf(blockOf(block), 0)
  let found: number | undefined
  records.each(kind, start, start + PLACES_PER_BLOCK - 1, (position, view) => {
    if (!test(view)) return true
    found = position
    return false
  })
  return found
}

/** A call stands at its trace; where traces are not known, it is its transaction's only one. */
const positionOfCall = (id: string, reader: StoreReader): number | undefined => {
  const [, hash, address] = /^(0x[0-9a-f]{64})_c((?:_(?:0|[1-9]\d{0,9})){0,1100})$/.exec(id) ?? []
  const transaction = hash === undefined ? undefined : findTransaction(hash, reader)
  if (transaction === undefined) return undefined
  const trace = positionOfTrace(`${hash}_t${address}`, reader)
  if (trace === undefined && address !== '') return undefined
  const call = newCallRecord()
  return first(transaction, 'call', reader, ({ bytes, start }) => {
    readCall(bytes, start, call)
    if (call.trace >= 0) return trace !== undefined && call.trace === placeOf(trace)
    return trace === undefined && call.tx === placeOf(transaction)
  })
}

const positionOfReward = (hash: string, place: number, reader: StoreReader): number | undefined => {
  const block = findBlock(hash, reader)
  if (block === undefined) return undefined
  let before = place
  return first(block, 'trace', reader, ({ bytes, start }) => txOfTrace(bytes, start) < 0 && before-- === 0)
}

const find = (hash: string, numbered: 'block' | 'tx', field: number, reader: StoreReader): number | undefined => {
  if (!/^0x[0-9a-f]{64}$/.test(hash)) return undefined
  reader.check()
  const { high, low } = reader.hash(hash)
  const bytes = Buffer.from(hash.slice(2), 'hex')
  for (const posting of reader.postings(termOf(HASHED + high, field), low))
    for (const ordinal of reader.ordinals(posting)) {
      const position = positionOfOrdinal(reader.header(reader.segment(posting.segment)), numbered, ordinal)
      const block = reader.records.block(blockOf(position))
      if (block && (numbered === 'block' ? block.hash.equals(bytes) : isHashOf(block, placeOf(position), bytes)))
        return position
    }
  return undefined
}

const isHashOf = (block: StoredBlock, place: number, hash: Buffer): boolean => {
  const start = hashStart(block, place)
  return start >= 0 && block.hashes.compare(hash, 0, hash.length, start, start + hash.length) === 0
}

/** Reads the `_id` of documents; for blocks and transactions without loading them, if stored. */
export const idReader = (
  kind: Kind,
  { reader, documents }: { reader: StoreReader | undefined; documents: Documents },
): ((position: number) => string | undefined) => {
  const inDocument = (position: number) => documents.load(kind, [position], [])[0]?._id
  if (!reader) return inDocument
  switch (kind) {
    case 'block':
      return position => {
        const block = reader.records.block(blockOf(position))
        return block && `0x${block.hash.toString('hex')}`
      }
    case 'tx':
      return position => {
        const block = reader.records.block(blockOf(position))
        return block && hashOfTx(block, placeOf(position))
      }
    default:
      return inDocument
  }
}
