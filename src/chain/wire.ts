/**
 * Raw JSON-RPC results as nodes send them (Ethereum JSON-RPC names, hex strings). Nodes differ in what they carry, so
 * only the fields that the program cannot do without are typed as required; everything else passes through untouched.
 */

/** `0x`-prefixed hex text. */
export type Hex = string

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

/** One block with everything that belongs to it: also the shape of one line of a block pack. */
export interface RawBlock {
  /** EIP-155 chain id, where the source tells it. */
  chainId?: number
  /** Result of `eth_getBlockByNumber(n, true)`. */
  block: RpcBlock
  /** Result of `eth_getBlockReceipts(n)`, in transaction order. */
  receipts: RpcReceipt[]
  /** Result of `trace_block(n)`. */
  traces?: unknown[]
}
