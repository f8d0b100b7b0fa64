import { isRecord } from '../../lib/arrays.ts'
import type { Kind } from '../../mapping/index.ts'
import type { SearchRequest } from '../../query/request.ts'
import { NO_TRANSACTION, RANK_IN_TRANSACTION } from '../entities.ts'
import { searchOf } from '../search.ts'
import type { StoredMatch } from './stored.ts'

/** Places of transactions in their blocks, by their hashes. */
export type TransactionPlaces = ReadonlyMap<string, number>

/**
 * Place of a document in its block, to be compared by `orderOfPlaces`: the order is that of
 * `placeInBlock`. What a document does not show comes last.
 */
export const placeOfDocument = (
  kind: Kind,
  { _source, sort }: Pick<StoredMatch, '_source' | 'sort'>,
  transactions: TransactionPlaces,
): number[] => [
  transactionPlaceOf(kind, _source, transactions),
  RANK_IN_TRANSACTION[kind],
  ...(sort ?? (kind === 'log' || kind === 'event' ? [placeShown(_source.logIndex)] : traceAddressOf(_source))),
]

const transactionPlaceOf = (kind: Kind, source: StoredMatch['_source'], transactions: TransactionPlaces): number => {
  if (kind === 'block') return -1
  if (kind === 'token' || source.type === 'reward') return NO_TRANSACTION
  const shown = placeShown(source.transactionIndex ?? source.transactionPosition)
  return shown < NO_TRANSACTION ? shown : (transactions.get(String(source.transactionHash)) ?? shown)
}

const traceAddressOf = ({ traceAddress }: StoredMatch['_source']): number[] =>
  Array.isArray(traceAddress) ? traceAddress.map(placeShown) : []

const placeShown = (shown: unknown): number => {
  const place = Number((isRecord(shown) ? shown.num : shown) ?? Number.NaN)
  return Number.isNaN(place) ? Number.POSITIVE_INFINITY : place
}

/** What holds others comes before them. */
export const orderOfPlaces = (a: readonly number[], b: readonly number[]): number => {
  const i = a.findIndex((place, i) => place !== b[i])
  if (i < 0) return a.length - b.length
  return b[i] === undefined || a[i]! > b[i] ? 1 : -1
}

/** Transactions whose places matches of one block lack: contracts do not show them. */
export const transactionsLacking = (
  found: readonly { part: { kind: Kind }; match: Pick<StoredMatch, '_source'> }[],
): string[] => {
  if (found.every(({ part }) => part.kind === found[0]!.part.kind)) return []
  const ofContracts = found.filter(({ part }) => part.kind === 'contract')
  return [...new Set(ofContracts.map(({ match }) => String(match._source.transactionHash)))]
}

export const searchOfTransactions = (hashes: readonly string[], block: number): SearchRequest =>
  searchOf(
    {
      ...{ targetType: 'Transaction', alerts: [] },
      targetMap: [{ name: 'hash', operator: 'Equals any', value: [...hashes] }],
    },
    { from: block, to: block, order: 'asc', size: hashes.length },
  )

export const transactionPlaces = (documents: Iterable<Pick<StoredMatch, '_source'>>): TransactionPlaces => {
  const places = new Map<string, number>()
  for (const { _source } of documents) {
    const { transactionHash, hash = transactionHash, transactionIndex, transactionPosition } = _source
    const place = placeShown(transactionIndex ?? transactionPosition)
    if (typeof hash === 'string' && place < NO_TRANSACTION) places.set(hash, place)
  }
  return places
}
