import type { ScopedPart } from '../logs/scoped-source.ts'
import type { RawBlock } from '../wire.ts'

/** Methods that find transactions by an address. */
export type SearchMethod = 'trace_filter' | 'ots_searchTransactionsAfter'

/** How nodes find transactions by an address, or why none does. */
export type Searching = { by: SearchMethod } | { by: null; why: string }

export interface FindTransactions {
  /** Found by which method; null: each block is read. */
  by: SearchMethod | null
  /** Which of some transactions need not be fetched. */
  known(hashes: readonly string[]): ReadonlySet<string>
}

/** Finds transactions from and to addresses, which are lower-case. When a signal aborts, promises reject with its reason. */
export interface TransactionSource {
  /** Asks the nodes whether they find transactions, of blocks as old as this one. */
  searching(from: number, signal: AbortSignal): Promise<Searching>
  /**
   * Blocks of a range with transactions from or to any of the addresses, part by part in ascending order without gaps. They are partial, and their
   * receipts have no logs: which of these are wanted, others say. The answers have been checked.
   */
  find(
    addresses: readonly string[],
    range: { from: number; to: number },
    options: FindTransactions,
    signal: AbortSignal,
  ): AsyncIterable<ScopedPart>
  /**
   * The same of one block of the head, whose header came with its transactions; undefined where there is none. Throws `retry` after some
   * tries: then the block may be gone.
   */
  findIn(addresses: readonly string[], raw: RawBlock, signal: AbortSignal): Promise<RawBlock | undefined>
}
