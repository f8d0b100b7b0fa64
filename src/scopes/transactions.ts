import type { LogFilter } from '../chain/logs/scoped-source.ts'
import type { Range } from '../lib/ranges.ts'
import { type Coverage, filterFor, filterOf, type Lacking, lackingOf } from './filter.ts'

/** Stands where topics stand, for transactions in place of logs: no event has it. */
const MARK = 'transactions'

/** What covers transactions from and to addresses, as a filter that no log fits. */
export const transactionsOf = (addresses: Iterable<string>): LogFilter => filterFor(addresses, [MARK])

export const isOfTransactions = ({ topics }: LogFilter): boolean => topics[0] === MARK

/** Of which addresses transactions are still to be asked for in a range: see `lackingOf`. */
export const lackingTransactions = (
  addresses: Iterable<string>,
  coverage: Coverage,
  whole: readonly Range[],
  range: Range,
): Lacking[] => {
  const covered = new Map([...coverage].filter(([text]) => isOfTransactions(filterOf(text))))
  return lackingOf(transactionsOf(addresses), covered, whole, range)
}
