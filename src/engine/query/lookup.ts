import { createByteWriter } from '../../lib/bytes.ts'
import type { Kind } from '../../mapping/index.ts'
import { FACETS, HASHED, termOf } from '../index/terms.ts'
import type { Reader, Sparse } from '../reader.ts'
import { blockOf, PLACES, placeOf, positionOf } from '../schema.ts'
import { isSparse, type Numbered, positionOfOrdinal } from './places.ts'

/** Position of the block with this hash (lower-case hex). */
export const findBlock = (hash: string, reader: Reader): number | undefined =>
  find(hash, 'block', FACETS['block.hash'], 'block', reader)

export const findTransaction = (hash: string, reader: Reader): number | undefined =>
  find(hash, 'tx', FACETS['tx.hash'], 'tx_bulk', reader)

/** Positions of the documents with these ids, ascending. A contract that was created several times has as many. */
export const positionsOfIds = (kind: Kind, ids: readonly string[], reader: Reader): number[] => {
  const positions = new Set(
    ids.flatMap(id => (isSparse(kind) ? positionsOfAddress(kind, id, reader) : (positionOfId(kind, id, reader) ?? []))),
  )
  return [...positions].sort((a, b) => a - b)
}

const positionOfId = (kind: Exclude<Kind, Sparse>, id: string, reader: Reader): number | undefined => {
  if (kind === 'block') return findBlock(id, reader)
  if (kind === 'tx') return findTransaction(id, reader)
  if (kind === 'trace') return positionOfTrace(id, reader)
  if (kind === 'call') return positionOfCall(id, reader)
  const [, hash, letter, index] = /^(0x[0-9a-f]{64})_([le])_(0|[1-9]\d{0,6})$/.exec(id) ?? []
  if (!hash || letter !== kind[0]) return undefined
  const transaction = findTransaction(hash, reader)
  if (transaction === undefined) return undefined
  const position = positionOf(blockOf(transaction), Number(index))
  const row = reader.prepare('SELECT tx, signature FROM log WHERE pos = ?').get(position) as
    | { tx: number; signature: number }
    | undefined
  if (row?.tx !== placeOf(transaction)) return undefined
  return kind === 'log' || reader.signature(row.signature).event ? position : undefined
}

const positionsOfAddress = (kind: Sparse, id: string, reader: Reader): number[] => {
  reader.check()
  const address = /^0x[0-9a-f]{40}$/.test(id) ? reader.addressId(id.slice(2)) : undefined
  const column = kind === 'token' ? 'id' : 'address'
  const select = reader.prepare(`SELECT pos FROM ${kind} WHERE ${column} = ? AND pos IS NOT NULL`).pluck()
  return address === undefined ? [] : (select.all(address) as number[])
}

const positionOfTrace = (id: string, reader: Reader): number | undefined => {
  const [, hash, address] = /^(0x[0-9a-f]{64})_t((?:_(?:0|[1-9]\d{0,9})){0,1100})$/.exec(id) ?? []
  if (hash === undefined || address === undefined) return undefined
  const path = address.split('_').slice(1).map(Number)
  const transaction = findTransaction(hash, reader)
  if (transaction === undefined) return path.length === 1 ? positionOfReward(hash, path[0]!, reader) : undefined
  const block = blockOf(transaction)
  const bytes = createByteWriter()
  for (const place of path) bytes.varint(place)
  return reader
    .prepare('SELECT pos FROM trace WHERE pos BETWEEN ? AND ? AND tx = ? AND traceAddress = ?')
    .pluck()
    .get(positionOf(block, 0), positionOf(block, PLACES - 1), placeOf(transaction), Buffer.from(bytes.view())) as
    | number
    | undefined
}

/** A call stands at its trace; where traces are not known, it is its transaction's only one. */
const positionOfCall = (id: string, reader: Reader): number | undefined => {
  const [, hash, address] = /^(0x[0-9a-f]{64})_c((?:_(?:0|[1-9]\d{0,9})){0,1100})$/.exec(id) ?? []
  const transaction = hash === undefined ? undefined : findTransaction(hash, reader)
  if (transaction === undefined) return undefined
  const block = blockOf(transaction)
  const range = [positionOf(block, 0), positionOf(block, PLACES - 1), placeOf(transaction)]
  const trace = positionOfTrace(`${hash}_t${address}`, reader)
  const select = 'SELECT pos FROM call WHERE pos BETWEEN ? AND ? AND tx = ? AND trace'
  if (trace !== undefined)
    return reader
      .prepare(`${select} = ?`)
      .pluck()
      .get(...range, placeOf(trace)) as number | undefined
  return address === ''
    ? (reader
        .prepare(`${select} IS NULL`)
        .pluck()
        .get(...range) as number | undefined)
    : undefined
}

const positionOfReward = (hash: string, place: number, reader: Reader): number | undefined => {
  const block = findBlock(hash, reader)
  if (block === undefined) return undefined
  return reader
    .prepare('SELECT pos FROM trace WHERE pos BETWEEN ? AND ? AND tx IS NULL ORDER BY pos LIMIT 1 OFFSET ?')
    .pluck()
    .get(block, block + PLACES - 1, place) as number | undefined
}

const find = (hash: string, numbered: Numbered, facet: number, table: string, reader: Reader): number | undefined => {
  if (!/^0x[0-9a-f]{64}$/.test(hash)) return undefined
  reader.check()
  const { high, low } = reader.hash(hash)
  const bytes = Buffer.from(hash.slice(2), 'hex')
  const segments = new Map(reader.segments().map(segment => [segment.id, segment]))
  const verify = reader.prepare(`SELECT 1 FROM "${table}" WHERE pos = ? AND hash = ?`)
  for (const posting of reader.postings(termOf(HASHED + high, facet), low))
    for (const ordinal of reader.ordinals(posting)) {
      const position = positionOfOrdinal(reader.header(segments.get(posting.segment)!), numbered, ordinal)
      if (verify.get(position, bytes)) return position
    }
  return undefined
}
