import type { Document } from '../../documents/document.ts'
import { rememberedBy } from '../../lib/caches.ts'
import { refuse } from '../../lib/errors.ts'
import type { StoreReader } from '../reader.ts'
import { createSimilar } from '../similarity-index.ts'
import { positionsOfIds } from './fields/find-by-id.ts'
import { segmentAt } from './fields/ordinals.ts'

export interface SimilarRequest {
  kind: SimilarKind
  /** The reference document; for a contract, its address. */
  id: string
  size: number
}

export type SimilarKind = 'contract' | 'event' | 'call'

/** A document whose contract has similar code. */
export interface SimilarFound {
  position: number
  /** Code similarity from 0 (nothing in common) to 1 (equal). */
  similarity: number
}

export interface SimilarDocument {
  document: Document
  /** Code similarity from 0 (nothing in common) to 1 (equal). */
  similarity: number
}

export interface SimilarOptions {
  reader: StoreReader
  load(kind: 'log' | 'call', position: number): Document
  /** The newest document with these field values. */
  newest(kind: 'log' | 'call', values: Readonly<Record<string, string>>): number | undefined
}

/**
 * Contracts by code similarity, newest first within one code. For an event or call, the newest of
 * that signature or selector per contract of the family. Undefined without the document itself.
 * Call between the reader's `begin` and `end`.
 */
export const findSimilar = (request: SimilarRequest, options: SimilarOptions): SimilarFound[] | undefined => {
  const { kind, id, size } = request
  const { reader } = options
  const position = positionsOfIds(kind, [id.toLowerCase()], reader).at(-1)
  if (position === undefined) return undefined
  if (kind === 'contract') return firstSimilar(size, contractsLike(position, id, size, reader))
  return firstSimilar(size, happeningsLike(kind, position, request, options))
}

/** Least similarity within a family. */
const FAMILY = 0.5
/** Most contracts of the family to search for similar events or calls. */
const LOOKED_AT = 200

function* happeningsLike(
  kind: 'event' | 'call',
  position: number,
  { id, size }: SimilarRequest,
  { reader, load, newest }: SimilarOptions,
): Generator<SimilarFound> {
  const { stored, owner, what } = HAPPENINGS[kind]
  const happening = happeningOf({ kind, id }, load(stored, position)._source)
  for (const { address, similarity } of familyOf(happening, { kind, id, size }, reader)) {
    const found = newest(stored, { [owner]: address, [what]: happening.value })
    if (found !== undefined) yield { position: found, similarity }
  }
}

/** Stored kind, owning contract's field and compared field. An event is a decoded log. */
export const HAPPENINGS = {
  event: { stored: 'log', owner: 'address', what: 'signature' },
  call: { stored: 'call', owner: 'to', what: 'selector' },
} as const

/** The contract of an event or a call, and its signature or selector. */
export interface Happening {
  address: string
  value: string
}

interface HappeningId {
  kind: 'event' | 'call'
  id: string
}

/** `source`: the stored document. */
export const happeningOf = ({ kind, id }: HappeningId, source: object): Happening => {
  const { owner, what } = HAPPENINGS[kind]
  const { [owner]: address, [what]: value } = source as Record<string, string | null | undefined>
  if (!address || !value) throw refuseSimilar(`The ${kind} ${id} has no ${what}, so no ${kind} is similar to it.`)
  return { address, value }
}

/** Contracts to search for similar events or calls, most similar first. */
export function* familyOf(
  { address }: Happening,
  { kind, size }: HappeningId & { size: number },
  reader: StoreReader,
): Generator<{ address: string; similarity: number }> {
  const contract = positionsOfIds('contract', [address.toLowerCase()], reader).at(-1)
  if (contract === undefined)
    throw refuseSimilar(
      `The creation of the contract ${address} is not stored, so its code is not known, and no ${kind} is similar to that of it.`,
    )
  let looked = 0
  for (const { address: other, similarity } of contractsLike(contract, address, Math.max(size, LOOKED_AT), reader)) {
    if (similarity < FAMILY || looked++ === LOOKED_AT) return
    yield { address: `0x${reader.addressDigits(other)}`, similarity }
  }
}

function* contractsLike(
  position: number,
  name: string,
  count: number,
  reader: StoreReader,
): Generator<SimilarFound & { address: number }> {
  const row = reader.prepare('SELECT address, code FROM contract WHERE pos = ?').get(position) as {
    address: number
    code: number | null
  }
  const similar = similarOf(reader)
  const vector = row.code === null ? undefined : similar.vector(row.code)
  if (vector === undefined)
    throw refuseSimilar(
      `The code of the contract ${name} is not known, or has no instructions, so no contract is similar to it.`,
    )
  // The newest per address: a contract created several times is one contract.
  const ofCode = reader.prepare(
    'SELECT max(pos) AS position, address FROM contract WHERE code = ? AND address <> ? GROUP BY address ORDER BY 1 DESC',
  )
  // Skips codes without other contracts (after a reorganisation), and contracts of pruned blocks.
  for (const { id, similarity } of similar.nearest(vector, count, reader.check))
    for (const contract of ofCode.iterate(id, row.address) as Iterable<{ position: number; address: number }>)
      if (segmentAt(contract.position, reader)) yield { ...contract, similarity }
}

const firstSimilar = (count: number, found: Iterable<SimilarFound>): SimilarFound[] => {
  const taken: SimilarFound[] = []
  for (const { position, similarity } of found) if (taken.push({ position, similarity }) >= count) break
  return taken
}

const refuseSimilar = (message: string) => refuse('illegal_argument_exception', message)

const similarOf = rememberedBy((reader: StoreReader) => createSimilar(reader.db))
