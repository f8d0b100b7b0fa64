import { refuse } from '../../lib/errors.ts'
import { gapsIn, type Range } from '../../lib/ranges.ts'
import { textOfFactory } from '../../scopes/factory.ts'
import { transactionQuestionsOf } from '../../scopes/questions.ts'
import type { Scope } from '../../scopes/scope.ts'
import { lackingTransactions } from '../../scopes/transactions.ts'
import type { Work } from '../work.ts'
import type { PartsToFill } from './filling.ts'
import type { Known } from './known.ts'

/**
 * What of the transactions of scopes is still to be looked for, scope by scope; it is asked once the logs are there, which name children of
 * factories. Whether nodes find transactions is asked now: what they cannot do should show before hours have gone into logs.
 */
export const openTransactionFilling = async (
  work: Work,
  known: Known,
  scopes: readonly Scope[],
  top: number,
): Promise<(() => PartsToFill)[]> => {
  const { source, pipeline, signal } = work
  const until = ({ to }: Scope) => Math.min(to ?? top, top)
  const lackingOf = (addresses: readonly string[], { from, to }: Range) =>
    lackingTransactions(addresses, known.covered(), pipeline.held(), { from, to })
  const asking = scopes.filter(scope => {
    const range = { from: scope.from, to: until(scope) }
    if (scope.transactions === undefined) return false
    // Whom a factory names is not known yet.
    if (scope.factory) return gapsIn(pipeline.held(), range.from, range.to).length > 0
    return lackingOf(scope.addresses, range).length > 0
  })
  if (asking.length === 0) return []
  const { transactions } = source ?? {}
  if (!transactions) throw refuse('no_scopes', 'the source of this network cannot look for transactions alone')
  const from = asking.reduce((least, scope) => Math.min(least, scope.from), top)
  const found = await transactions.searching(from, signal)
  if (found.by === null) refuseUnlessRead(work, asking, found.why, { from, to: top })
  const isStored = (hashes: readonly string[]) =>
    hashes.length === 0 ? NONE : work.storedBlocks().transactions(hashes)
  const options = { by: found.by, known: isStored }
  return asking.map(scope => () => {
    const { factory } = scope
    const children = factory ? known.children(textOfFactory(factory)) : []
    return {
      parts: transactionQuestionsOf(scope, children, until(scope)).flatMap(it => lackingOf(it.filter.addresses, it)),
      find: part => transactions.find(part.filter.addresses, part, options, signal),
    }
  })
}

const NONE: ReadonlySet<string> = new Set()

const refuseUnlessRead = (
  { network, log }: Pick<Work, 'network' | 'log'>,
  scopes: readonly Scope[],
  why: string,
  { from, to }: Range,
) => {
  if (scopes.some(({ transactions }) => transactions === 'search'))
    throw refuse(
      'no_transaction_search',
      `${network}: a scope has transactions = true, but no node finds the transactions of an address (${why}). Add a node with trace_filter (Erigon, Nethermind, Reth, anvil) or ots_searchTransactionsAfter (Erigon, anvil), ` +
        `or set transactions = "read-blocks" to read the ${to - from + 1} blocks from ${from} to ${to} one by one, or leave transactions out`,
    )
  log.info('Reads each block for the transactions of scopes, since no node finds them', { from, to, why })
}
