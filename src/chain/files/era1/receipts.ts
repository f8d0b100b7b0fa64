import { keccak256 } from '../../../lib/keccak.ts'
import { decodeRlpList, encodeRlp, type Rlp, rlpBytes, rlpList } from '../../../lib/rlp.ts'
import type { Hex, RpcLog, RpcReceipt } from '../../wire.ts'
import { hexOf, quantityOf } from './header.ts'
import type { Transaction } from './transaction.ts'

export interface DecodedReceipts {
  /** What the receipts root is of. */
  encoded: Uint8Array[]
  receipts: RpcReceipt[]
}

/** Where a transaction is in the chain, as each of its members states it. */
export interface Place {
  blockHash: Hex
  blockNumber: Hex
  transactionIndex: Hex
}

/** The receipts of a block, with what JSON-RPC derives from its transactions. */
export const decodeReceipts = (
  items: readonly Rlp[],
  transactions: readonly Transaction[],
  places: readonly Place[],
): DecodedReceipts => {
  if (items.length !== transactions.length)
    throw new RangeError(`it has ${transactions.length} transactions but ${items.length} receipts`)
  let gas = 0n
  let logIndex = 0
  const encoded: Uint8Array[] = []
  const receipts: RpcReceipt[] = []
  for (const [i, item] of items.entries()) {
    const transaction = transactions[i]!
    const { hash, from, to, nonce, type, gasPrice } = transaction.members
    const bytes = item instanceof Uint8Array ? item : encodeRlp(item)
    encoded.push(bytes)
    const [outcome, cumulative, bloom, logs] =
      item instanceof Uint8Array ? decodeRlpList(item.subarray(1), 4) : rlpList(item, 4)
    const at = { transactionHash: hash, ...places[i]! }
    const total = BigInt(quantityOf(cumulative))
    receipts.push({
      ...at,
      type,
      from,
      to,
      contractAddress: to === null ? createdBy(transaction.sender, nonce) : null,
      ...outcomeOf(outcome),
      cumulativeGasUsed: quantityOf(cumulative),
      gasUsed: `0x${(total - gas).toString(16)}`,
      effectiveGasPrice: gasPrice,
      logsBloom: hexOf(bloom),
      logs: rlpList(logs).map(log => decodeLog(log, at, logIndex++)),
    })
    gas = total
  }
  return { encoded, receipts }
}

const decodeLog = (item: Rlp, at: Place & { transactionHash: Hex }, index: number): RpcLog => {
  const [address, topics, data] = rlpList(item, 3)
  return {
    ...at,
    address: hexOf(address),
    topics: rlpList(topics).map(hexOf),
    data: hexOf(data),
    logIndex: `0x${index.toString(16)}`,
    removed: false,
  }
}

/** Before Byzantium receipts had the root of the state after the transaction, and nothing said whether it failed. */
const outcomeOf = (item: Rlp | undefined) =>
  rlpBytes(item).length === 32 ? { root: hexOf(item) } : { status: quantityOf(item) }

/** The address of the contract that a transaction creates: of its sender and the sender's nonce. */
export const createdBy = (sender: Uint8Array, nonce: Hex): Hex => {
  const digits = nonce === '0x0' ? '' : nonce.slice(2)
  const bytes = Buffer.from(digits.length % 2 ? `0${digits}` : digits, 'hex')
  return hexOf(keccak256(encodeRlp([sender, bytes])).subarray(12))
}
