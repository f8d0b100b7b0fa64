import type { RawBlock, RpcBlock } from '../wire.ts'

/** What one question to a node may ask for: `eth_getLogs` takes both as lists. */
export interface LogFilter {
  /** Contracts whose logs are wanted: lower-case addresses, sorted, each once. Empty: those of any contract. */
  addresses: readonly string[]
  /** First topics that are wanted: lower-case, sorted, each once. Empty: any, and anonymous logs. */
  topics: readonly string[]
}

/**
 * Blocks of a range that hold what is wanted, ascending, and none of the others. They are partial: the header is whole, and `transactions`
 * and `receipts` hold those with logs that are wanted; `logs` of receipts hold no others.
 */
export interface ScopedPart {
  from: number
  /** Inclusive: all up to here was looked at. */
  to: number
  blocks: RawBlock[]
}

/** Finds in a chain what is wanted of it, with few questions. When a signal aborts, promises reject with its reason. */
export interface ScopedSource {
  /**
   * What fits a filter in a range, part by part in ascending order without gaps. The answers have been checked. Waits while no node has the end of the
   * range, which should be deep enough that it is not reorganised. `bloomOf` tells the logs blooms of headers that are at hand: what they rule out is not
   * asked for where that saves calls.
   */
  find(
    filter: LogFilter,
    range: { from: number; to: number },
    signal: AbortSignal,
    bloomOf?: (number: number) => string | undefined,
  ): AsyncIterable<ScopedPart>
  /**
   * What fits any of some filters in one block of the head, asked by its hash; undefined where nothing does. Throws `retry` after some tries: then the
   * block may be gone.
   */
  findIn(filters: readonly LogFilter[], header: RpcBlock, signal: AbortSignal): Promise<RawBlock | undefined>
}

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
