import type { Document } from '../../documents/document.ts'
import { rememberedBy } from '../../lib/caches.ts'
import { refuse } from '../../lib/errors.ts'
import type { StoreReader } from '../reader.ts'
import { createSimilar } from '../similar.ts'
import { positionsOfIds } from './fields/find-by-id.ts'
import { segmentAt } from './fields/ordinals.ts'

export interface SimilarRequest {
  kind: SimilarKind
  /** The document that others are compared with: for a contract, its address. */
  id: string
  size: number
}

export type SimilarKind = 'contract' | 'event' | 'call'

/** A document whose contract has a code that is like that of another one. */
export interface SimilarFound {
  position: number
  /** Of the codes, from 1, equal, to 0, nothing in common. */
  similarity: number
}

export interface SimilarDocument {
  document: Document
  /** From 1, the same, to 0, nothing in common. */
  similarity: number
}

export interface SimilarOptions {
  reader: StoreReader
  load(kind: 'log' | 'call', position: number): Document
  /** The newest document in which fields have certain values. */
  newest(kind: 'log' | 'call', values: Readonly<Record<string, string>>): number | undefined
}

/**
 * Of a contract: those whose codes have most in common with its own, the nearest first, of one code the newest first. Of an event or
 * a call: the newest of the same signature or selector of each contract of the same family. Undefined where no such document is stored.
 * Asked between the reader's `begin` and `end`.
 */
export const findSimilar = (request: SimilarRequest, options: SimilarOptions): SimilarFound[] | undefined => {
  const { kind, id, size } = request
  const { reader } = options
  const position = positionsOfIds(kind, [id.toLowerCase()], reader).at(-1)
  if (position === undefined) return undefined
  if (kind === 'contract') return firstSimilar(size, contractsLike(position, id, size, reader))
  return firstSimilar(size, happeningsLike(kind, position, request, options))
}

/** Contracts whose codes have less in common are not of one family. */
const FAMILY = 0.5
/** Contracts of the family among which what is like an event or a call is looked for. */
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

/** As what they are stored, whose contract counts, and what is the same. An event is a log that is decoded. */
export const HAPPENINGS = {
  event: { stored: 'log', owner: 'address', what: 'signature' },
  call: { stored: 'call', owner: 'to', what: 'selector' },
} as const

/** An event or a call: of which contract it is, and its signature or selector. */
export interface Happening {
  address: string
  value: string
}

interface HappeningId {
  kind: 'event' | 'call'
  id: string
}

/** `source`: as it is stored. */
export const happeningOf = ({ kind, id }: HappeningId, source: object): Happening => {
  const { owner, what } = HAPPENINGS[kind]
  const { [owner]: address, [what]: value } = source as Record<string, string | null | undefined>
  if (!address || !value) throw refuseSimilar(`The ${kind} ${id} has no ${what}, so no ${kind} is similar to it.`)
  return { address, value }
}

/** Contracts among which what is like an event or a call is looked for, the nearest first. */
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
  // The newest of each address: what was created several times is one contract.
  const ofCode = reader.prepare(
    'SELECT max(pos) AS position, address FROM contract WHERE code = ? AND address <> ? GROUP BY address ORDER BY 1 DESC',
  )
  // Some codes have no contract: those that a reorganisation took back, and the contract's own.
  // That of a block that was pruned is not shown.
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
