/** Raw JSON-RPC results as nodes send them. Only fields that the program needs are required. */

export type Hex = string

export const toQuantity = (value: number): Hex => `0x${value.toString(16)}`

export interface RpcTransaction {
  hash: Hex
  blockHash: Hex
  blockNumber: Hex
  transactionIndex: Hex
  from: Hex
  to: Hex | null
  value: Hex
  input: Hex
  nonce: Hex
  gas: Hex
  [field: string]: unknown
}

export interface RpcBlock {
  number: Hex
  hash: Hex
  parentHash: Hex
  timestamp: Hex
  logsBloom: Hex
  transactions: RpcTransaction[]
  [field: string]: unknown
}

export interface RpcLog {
  address: Hex
  topics: Hex[]
  data: Hex
  blockHash: Hex
  blockNumber: Hex
  transactionHash: Hex
  transactionIndex: Hex
  logIndex: Hex
  removed?: boolean
  [field: string]: unknown
}

export interface RpcReceipt {
  transactionHash: Hex
  transactionIndex: Hex
  blockHash: Hex
  blockNumber: Hex
  logs: RpcLog[]
  [field: string]: unknown
}

/** A block with receipts and traces; also the format of a line of a block pack. */
export interface RawBlock {
  chainId?: number
  /** Result of `eth_getBlockByNumber(n, true)`. */
  block: RpcBlock
  /** Result of `eth_getBlockReceipts(n)`, in transaction order. */
  receipts: RpcReceipt[]
  /** Result of `trace_block(n)` or an equivalent; absent if not requested or not available. */
  traces?: RpcTrace[]
  /** Set if transactions and logs are limited to those of a scope; the header is whole. */
  partial?: true
}

/** A step as in `trace_block`, or a reward; parents before children, siblings in order. */
export type RpcTrace = CallTrace | CreateTrace | SuicideTrace | RewardTrace

interface TraceBase {
  blockHash: Hex
  blockNumber: number
  subtraces: number
  traceAddress: number[]
}

interface TransactionTraceBase extends TraceBase {
  transactionHash: Hex
  transactionPosition: number
  /** Failure by `toTraceError`. Absent on success, even if a caller above was reverted. */
  error?: string
}

export interface CallTrace extends TransactionTraceBase {
  type: 'call'
  action: {
    /** `call`, `callcode`, `delegatecall` or `staticcall`. */
    callType: string
    from: Hex
    to: Hex
    gas: Hex
    input: Hex
    /** A delegatecall shows its caller's value, but transfers nothing. */
    value: Hex
  }
  /** Null on failure, except a revert: then `output` is its reason. */
  result: { gasUsed: Hex; output: Hex } | null
}

export interface CreateTrace extends TransactionTraceBase {
  type: 'create'
  action: {
    /** `create` or `create2`. Some nodes omit it. */
    creationMethod?: string
    from: Hex
    gas: Hex
    init: Hex
    value: Hex
  }
  /** Null on failure, except a revert: then there is no address, and `code` is the reason. */
  result: { address?: Hex; code: Hex; gasUsed: Hex } | null
}

export interface SuicideTrace extends TransactionTraceBase {
  type: 'suicide'
  action: { address: Hex; refundAddress: Hex; balance: Hex }
  result: null
}

export interface RewardTrace extends TraceBase {
  type: 'reward'
  action: { author: Hex; rewardType: string; value: Hex }
  result: null
}
