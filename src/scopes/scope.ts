import type { LogFilter } from '../chain/logs/scoped-source.ts'

/** What of a chain is wanted where not all of it is. A log is wanted that one of a network's scopes fits. */
export interface Scope extends LogFilter {
  /** Addresses that an event of another contract names are wanted, too, each from the block of that event on. */
  factory: Factory | undefined
  /** First block, inclusive. */
  from: number
  /** Last block, inclusive; undefined: the scope goes on with the chain. */
  to: number | undefined
  /** Transactions from or to the addresses are wanted, too, though none of their logs is. */
  transactions: boolean
}

export interface Factory {
  /** Lower-case addresses of the contracts that name others. */
  addresses: readonly string[]
  /** First topic of the event. */
  topic: string
  /** Where in the event the address stands: in a topic (from 1), or in a word of the data (from 0). */
  place: { topic: number } | { word: number }
}
