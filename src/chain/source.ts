import type { RangePart, TakenBlocks, Taker } from './blocks/fetch-range.ts'
import type { BudgetStatus } from './budget/budget.ts'
import type { TraceMethod } from './rpc/trace-methods.ts'
import type { RawBlock, RpcBlock } from './wire.ts'

export interface BlockRef {
  number: number
  /** Lower-case block hash. */
  hash: string
}

/** `rollback` names the last block that stays. Blocks have passed `checkBlock`. */
export type ChainEvent = { type: 'block'; block: RawBlock } | { type: 'rollback'; to: number }

/** The newest safe and finalized blocks of nodes; null if no node has such a tag. */
export interface FinalityBlocks {
  safe: BlockRef | null
  finalized: BlockRef | null
}

export interface FollowOptions {
  from: number
  /** Undefined if not stored: the source walks back by this to the common ancestor. */
  stored(number: number): BlockRef | undefined
  tip: BlockRef | undefined
  /** Maximum depth of a reorganisation in blocks; a deeper one stops with `reorg_too_deep`. */
  finality: number
  /** The highest stored finalized block; a reorganisation below it is an error. */
  finalized?(): number | undefined
  /** Whether the finalized block, once known, replaces `finality` as the limit. Default false. */
  toFinalized?: boolean
  headers?: boolean
  transactions?: boolean
  signal: AbortSignal
}

export interface RangeOptions {
  from: number
  to: number
  /** `newest` yields batches from the top down; within a batch blocks are ascending. */
  order: 'oldest' | 'newest'
  /** Blocks per batch, i.e. per transaction of the store. */
  run: number
  urgent?: boolean
  signal: AbortSignal
}

export type Tracing = { method: TraceMethod } | { method: null; why: string }

export interface EndpointStatus {
  /** URL without credentials, path secrets or query. */
  url: string
  heads?: boolean
  lastError: string | null
  /** ISO-8601 UTC. */
  lastErrorAt: string | null
  requests: number
  errors: number
  /** Begin of the current failures, ISO-8601 UTC; absent if the last answer was good. */
  failingSince?: string
  /** Its chain id if it is not that of the network: the node is not used. */
  otherChain?: number
  head?: number
  /** A block that differs from the stored one, and since when; absent on our branch. */
  otherBranch?: BlockRef & { since: string }
  /** Response times of the last five minutes, in milliseconds; absent if there were none. */
  responseMs?: { median: number; p95: number }
  slow?: boolean
  budget?: BudgetStatus
}

export interface BudgetWait {
  /** `budget`: the head waits; `slow`: its polls are slower; `fill`: only other work waits. */
  kind: 'budget' | 'slow' | 'fill'
  for: string
  /** ISO-8601 UTC. */
  since: string
  until: string
}

/** A balance, or a call, of which a failure by the contract is an answer, too. */
export type ReadQuestion = { balanceOf: string } | { to: string; data: string }
export type StateAnswer = { hex: string } | { error: string }

export type ReadStateAt = (
  blockHash: string,
  questions: readonly ReadQuestion[],
  signal: AbortSignal,
) => Promise<StateAnswer[]>

export type StateQuestion = { codeOf: string } | { storageOf: string; slot: string }

/** A source of blocks. All methods reject with the signal's reason on abort. */
export interface ChainSource {
  chainId(signal: AbortSignal): Promise<number>
  head(signal: AbortSignal): Promise<number>
  /** Throws `retry` if no node answers. Absent if a source has no such tags. */
  finality?(signal: AbortSignal): Promise<FinalityBlocks>
  range(options: RangeOptions): AsyncIterable<RawBlock[]>
  parts?<T extends TakenBlocks>(options: RangeOptions, taker: Taker<T>): AsyncIterable<RangePart<T>[]>
  follow(options: FollowOptions): AsyncIterable<ChainEvent>
  /** `eth_call` at the head; null if it reverts. Gives up after a while with `retry`. */
  call?(calls: readonly { to: string; data: string }[], signal: AbortSignal): Promise<(string | null)[]>
  state?(questions: readonly StateQuestion[], signal: AbortSignal): Promise<string[]>
  /** The state after the block of that hash, only while it is in the chain (EIP-1898). */
  stateAt?: ReadStateAt
  /** The same after all other work. Throws `block_missing` if all nodes lack the state, which is no fault of theirs. */
  pastStateAt?: ReadStateAt
  /** Whether blocks have traces; undefined until nodes were probed. May change. */
  tracing?(): Tracing | undefined
  scoped?: ScopedSource
  transactions?: TransactionSource
  endpoints(): EndpointStatus[]
  highest?(): number | undefined
  waitsForBudget?(): BudgetWait | undefined
  close?(): Promise<void>
}

export interface LogFilter {
  /** Lower-case addresses of contracts, sorted and unique. Empty: any contract. */
  addresses: readonly string[]
  /** Lower-case first topics, sorted and unique. Empty: any, and anonymous logs. */
  topics: readonly string[]
}

/** Partial blocks with matches, ascending: whole headers and only matching contents. */
export interface ScopedPart {
  from: number
  /** Last searched block, inclusive. */
  to: number
  blocks: RawBlock[]
}

export interface ScopedSource {
  /** Matches in contiguous parts. `bloomOf` returns known blooms, which save calls. */
  find(
    filter: LogFilter,
    range: { from: number; to: number },
    signal: AbortSignal,
    bloomOf?: (number: number) => string | undefined,
  ): AsyncIterable<ScopedPart>
  /** Matches in one block of the head, or undefined. Throws `retry` if the block is gone. */
  findIn(filters: readonly LogFilter[], header: RpcBlock, signal: AbortSignal): Promise<RawBlock | undefined>
}

export type SearchMethod = 'trace_filter' | 'ots_searchTransactionsAfter'
export type Searching = { by: SearchMethod } | { by: null; why: string }
export interface FindTransactions {
  /** Search method; null: reads every block. */
  by: SearchMethod | null
  known(hashes: readonly string[]): ReadonlySet<string>
}

export interface TransactionSource {
  searching(from: number, signal: AbortSignal): Promise<Searching>
  /** Partial blocks with transactions from or to addresses, contiguous, without logs. */
  find(
    addresses: readonly string[],
    range: { from: number; to: number },
    options: FindTransactions,
    signal: AbortSignal,
  ): AsyncIterable<ScopedPart>
  /** The same for one block of the head that includes transactions; undefined: no match. */
  findIn(addresses: readonly string[], raw: RawBlock, signal: AbortSignal): Promise<RawBlock | undefined>
}
