import type { Kind } from '../mapping/index.ts'
import type { Reader } from '../store/reader.ts'
import { blockOf, placeOf, positionOf } from '../store/schema.ts'
import { FACETS, HASHED, termOf } from '../store/terms.ts'
import { type Numbered, positionOfOrdinal } from './places.ts'

/** Position of the block with this hash (lower-case hex). */
export const findBlock = (hash: string, reader: Reader): number | undefined =>
  find(hash, 'block', FACETS['block.hash'], 'block', reader)

export const findTransaction = (hash: string, reader: Reader): number | undefined =>
  find(hash, 'tx', FACETS['tx.hash'], 'tx_bulk', reader)

/** Positions of the documents with these ids, ascending. */
export const positionsOfIds = (kind: Kind, ids: readonly string[], reader: Reader): number[] => {
  const positions = new Set(ids.flatMap(id => positionOfId(kind, id, reader) ?? []))
  return [...positions].sort((a, b) => a - b)
}

const positionOfId = (kind: Kind, id: string, reader: Reader): number | undefined => {
  if (kind === 'block') return findBlock(id, reader)
  if (kind === 'tx') return findTransaction(id, reader)
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

const find = (hash: string, numbered: Numbered, facet: number, table: string, reader: Reader): number | undefined => {
  if (!/^0x[0-9a-f]{64}$/.test(hash)) return undefined
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
