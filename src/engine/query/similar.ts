import { refuse } from '../../lib/errors.ts'
import type { Reader } from '../reader.ts'
import { createSimilar } from '../similar.ts'
import { positionsOfIds } from './lookup.ts'
import { segmentAt } from './places.ts'

export interface SimilarRequest {
  /** Of the contract that others are to be like; `0x` hex. */
  address: string
  size: number
}

/** A contract whose code is like that of another one. */
export interface SimilarContract {
  position: number
  /** From 1, the same, to 0, nothing in common. */
  similarity: number
}

/**
 * The contracts whose codes have most in common with that of the contract at an address, the nearest first, of one code the newest first.
 * Undefined where no such contract is stored. Asked between the reader's `begin` and `end`.
 */
export const similarContracts = (reader: Reader, { address, size }: SimilarRequest): SimilarContract[] | undefined => {
  const own = positionsOfIds('contract', [address.toLowerCase()], reader)
  const position = own.at(-1)
  if (position === undefined) return undefined
  const row = reader.prepare('SELECT address, code FROM contract WHERE pos = ?').get(position) as {
    address: number
    code: number | null
  }
  const vector = row.code === null ? undefined : similarOf(reader).vector(row.code)
  if (vector === undefined)
    throw refuse(
      'illegal_argument_exception',
      `The code of the contract ${address} is not known, or has no instructions, so no contract is similar to it.`,
    )
  // The newest of each address: what was created several times is one contract.
  const ofCode = reader
    .prepare('SELECT max(pos) FROM contract WHERE code = ? AND address <> ? GROUP BY address ORDER BY 1 DESC')
    .pluck()
  const found: SimilarContract[] = []
  // Each code has a contract, but for those that a reorganisation took back, and the contract's own.
  for (const { id, similarity } of similarOf(reader).nearest(vector, size + SPARE)) {
    if (found.length >= size) break
    for (const position of ofCode.iterate(id, row.address) as Iterable<number>) {
      if (found.length >= size) break
      // That of a block that was pruned is not shown.
      if (segmentAt(position, reader)) found.push({ position, similarity })
    }
  }
  return found
}

const SPARE = 20

const similarOf = (reader: Reader) => {
  let similar = known.get(reader)
  if (!similar) {
    similar = createSimilar(reader.db)
    known.set(reader, similar)
  }
  return similar
}
const known = new WeakMap<Reader, ReturnType<typeof createSimilar>>()
