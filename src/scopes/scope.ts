import type { LogFilter } from '../chain/logs/scoped-source.ts'

/** What of a chain is wanted where not all of it is. A log is wanted that one of a network's scopes fits. */
export interface Scope extends LogFilter {
  /**
   * Addresses that an event of another contract names are wanted, too, each from the block of that event on. Then a scope without
   * addresses wants of no other contracts.
   */
  factory: Factory | undefined
  /** Whether transactions from and to its contracts are wanted, too, whether or not they have logs. */
  transactions?: Transactions | undefined
  /** First block, inclusive. */
  from: number
  /** Last block, inclusive; undefined: the scope goes on with the chain. */
  to: number | undefined
}

/** How those below the head are found: by nodes that can search, or where none can, by reading each block. */
export type Transactions = 'search' | 'read-blocks'

export interface Factory {
  /** Lower-case addresses of the contracts that name others, sorted. */
  addresses: readonly string[]
  /** First topic of the event. */
  topic: string
  /** Where in the event the address stands: in a topic (from 1), or in a word of the data (from 0). */
  place: { topic: number } | { word: number }
}
