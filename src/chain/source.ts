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

/** The newest safe and finalized blocks of nodes; null where none of them has such a tag. */
export interface FinalityBlocks {
  safe: BlockRef | null
  finalized: BlockRef | null
}

export interface FollowOptions {
  from: number
  /** Undefined where none is held: the source walks back through these to the common ancestor. */
  stored(number: number): BlockRef | undefined
  tip: BlockRef | undefined
  /** Deepest reorganisation that is followed, in blocks; a deeper one stops with `reorg_too_deep`. */
  finality: number
  /** The highest stored block known to be finalized; a reorganisation below it is an error. */
  finalized?(): number | undefined
  /** Whether all reorganisations above that block are followed, however deep; `finality` holds while none is known. Default false. */
  toFinalized?: boolean
  headers?: boolean
  transactions?: boolean
  signal: AbortSignal
}

export interface RangeOptions {
  from: number
  to: number
  /** `newest` yields runs of blocks from the top down; inside a run blocks are ascending. */
  order: 'oldest' | 'newest'
  /** Blocks that form one run, i.e. one transaction of the store. */
  run: number
  urgent?: boolean
  signal: AbortSignal
}

export type Tracing = { method: TraceMethod } | { method: null; why: string }

export interface EndpointStatus {
  /** The endpoint's address without credentials, path secrets or query. */
  url: string
  heads?: boolean
  lastError: string | null
  /** ISO-8601 UTC. */
  lastErrorAt: string | null
  requests: number
  errors: number
  /** Since when nothing usable came, ISO-8601 UTC; absent where the last answer was good. */
  failingSince?: string
  /** The chain that it is a node of, where that is not the one of the network: then nothing is taken from it. */
  otherChain?: number
  head?: number
  /** A block that it has in the place of a stored one, and since when; absent where it has ours. */
  otherBranch?: BlockRef & { since: string }
  /** Milliseconds from a request to its answer, of the last answers; absent where there was none for five minutes. */
  responseMs?: { median: number; p95: number }
  slow?: boolean
  budget?: BudgetStatus
}

export interface BudgetWait {
  /** `budget`: the head waits; `slow`: it is asked less often; `fill`: others wait, and the head goes on. */
  kind: 'budget' | 'slow' | 'fill'
  for: string
  /** ISO-8601 UTC. */
  since: string
  until: string
}

export type StateQuestion = { codeOf: string } | { storageOf: string; slot: string }

/** A place that blocks come from. All of it rejects with the signal's reason when that aborts. */
export interface ChainSource {
  chainId(signal: AbortSignal): Promise<number>
  head(signal: AbortSignal): Promise<number>
  /** Gives up with `retry` where nodes do not answer now. Absent where a source has no such tags. */
  finality?(signal: AbortSignal): Promise<FinalityBlocks>
  range(options: RangeOptions): AsyncIterable<RawBlock[]>
  parts?<T extends TakenBlocks>(options: RangeOptions, taker: Taker<T>): AsyncIterable<RangePart<T>[]>
  follow(options: FollowOptions): AsyncIterable<ChainEvent>
  /** `eth_call` at the head; null where it reverts. Gives up after a while with `retry`. */
  call?(calls: readonly { to: string; data: string }[], signal: AbortSignal): Promise<(string | null)[]>
  state?(questions: readonly StateQuestion[], signal: AbortSignal): Promise<string[]>
  /** Whether blocks carry traces; undefined until nodes were asked. It may change. */
  tracing?(): Tracing | undefined
  scoped?: ScopedSource
  transactions?: TransactionSource
  endpoints(): EndpointStatus[]
  highest?(): number | undefined
  waitsForBudget?(): BudgetWait | undefined
  close?(): Promise<void>
}

export interface LogFilter {
  /** Contracts whose logs are wanted: lower-case addresses, sorted, each once. Empty: those of any contract. */
  addresses: readonly string[]
  /** First topics that are wanted: lower-case, sorted, each once. Empty: any, and anonymous logs. */
  topics: readonly string[]
}

/** Blocks that hold what is wanted, ascending and partial: whole headers, and what fits. */
export interface ScopedPart {
  from: number
  /** Inclusive: all up to here was looked at. */
  to: number
  blocks: RawBlock[]
}

export interface ScopedSource {
  /** What fits a filter, in parts without gaps. `bloomOf` gives known blooms, which spare questions. */
  find(
    filter: LogFilter,
    range: { from: number; to: number },
    signal: AbortSignal,
    bloomOf?: (number: number) => string | undefined,
  ): AsyncIterable<ScopedPart>
  /** What fits in one block of the head, or undefined. Throws `retry` if the block is gone. */
  findIn(filters: readonly LogFilter[], header: RpcBlock, signal: AbortSignal): Promise<RawBlock | undefined>
}

export type SearchMethod = 'trace_filter' | 'ots_searchTransactionsAfter'
export type Searching = { by: SearchMethod } | { by: null; why: string }
export interface FindTransactions {
  /** Found by which method; null: each block is read. */
  by: SearchMethod | null
  known(hashes: readonly string[]): ReadonlySet<string>
}

export interface TransactionSource {
  searching(from: number, signal: AbortSignal): Promise<Searching>
  /** Partial blocks with transactions from or to addresses, in parts without gaps, without logs. */
  find(
    addresses: readonly string[],
    range: { from: number; to: number },
    options: FindTransactions,
    signal: AbortSignal,
  ): AsyncIterable<ScopedPart>
  /** The same of one block of the head, which came with its transactions; undefined: nothing. */
  findIn(addresses: readonly string[], raw: RawBlock, signal: AbortSignal): Promise<RawBlock | undefined>
}
