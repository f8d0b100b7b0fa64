import { keccak256 } from '../../../lib/keccak.ts'
import { decodeRlpList, encodeRlp, type Rlp, rlpBytes, rlpList, trieRootOf } from '../../../lib/rlp.ts'
import type { Hex, RawBlock, RpcLog, RpcReceipt } from '../../wire.ts'
import { decodeHeader, type Header, hexOf, quantityOf } from './header.ts'
import { unpackFrames } from './snappy.ts'
import { type Entry, entriesIn, TYPES } from './survey.ts'
import { chainIdOf, decodeTransaction, type Transaction } from './transaction.ts'

interface Unpacked {
  header: Uint8Array
  body: Uint8Array
  receipts: Uint8Array
  /** 32 bytes, the least significant first. */
  difficulty: Uint8Array
}

/**
 * A block from its four entries. Everything in it follows from the header's hash, which the next block names: transactions, receipts,
 * uncles and withdrawals are compared with the roots that the header states. Throws a `RangeError` where they differ.
 */
export const decodeBlock = (bytes: Buffer, most: number): RawBlock => {
  const unpacked = unpack(bytes, most)
  const header = decodeHeader(unpacked.header)
  const { hash, members } = header
  const [transactions, uncles, withdrawals] = decodeRlpList(unpacked.body, 2)
  const baseFee = BigInt(members.baseFeePerGas ?? '0x0')
  const decoded = rlpList(transactions).map(item => decodeTransaction(item, baseFee))
  compare(header, 'transactionsRoot', trieRootOf(decoded.map(({ encoded }) => encoded)))
  compare(header, 'sha3Uncles', keccak256(encodeRlp(rlpList(uncles))))
  const places = decoded.map(
    (_, i): Place => ({ blockHash: hash, blockNumber: members.number!, transactionIndex: `0x${i.toString(16)}` }),
  )
  const { encoded, receipts } = decodeReceipts(decodeRlpList(unpacked.receipts), decoded, places)
  compare(header, 'receiptsRoot', trieRootOf(encoded))
  const chainId = decoded.find(it => it.chainId !== undefined)?.chainId
  const foreign = decoded.find(it => it.chainId !== undefined && it.chainId !== chainId)
  if (foreign) throw new RangeError(`it has transactions of the chains ${chainId} and ${foreign.chainId}`)
  return {
    ...(chainId !== undefined && { chainId }),
    block: {
      ...members,
      number: members.number!,
      hash,
      parentHash: header.parentHash,
      timestamp: members.timestamp!,
      logsBloom: members.logsBloom!,
      totalDifficulty: `0x${BigInt(`0x${Buffer.from(unpacked.difficulty).reverse().toString('hex')}`).toString(16)}`,
      size: `0x${sizeOf(unpacked).toString(16)}`,
      uncles: rlpList(uncles).map(uncle => hexOf(keccak256(encodeRlp(uncle)))),
      ...(withdrawals !== undefined && { withdrawals: withdrawalsOf(header, rlpList(withdrawals)) }),
      transactions: decoded.map(({ members }, i) => ({ ...members, ...places[i]! }) as never),
    },
    receipts,
  }
}

/** The chain that the transactions of a block are for, where they say it. */
export const chainIdIn = (bytes: Buffer, most: number): number | undefined => {
  const [transactions] = decodeRlpList(unpack(bytes, most).body, 2)
  for (const item of rlpList(transactions)) {
    const chainId = chainIdOf(item)
    if (chainId !== undefined) return chainId
  }
  return undefined
}

const ORDER = [TYPES.header, TYPES.body, TYPES.receipts, TYPES.difficulty]

const unpack = (bytes: Buffer, most: number): Unpacked => {
  const entries = entriesIn(bytes)
  if (entries.length !== ORDER.length || entries.some(({ type }, i) => type !== ORDER[i]))
    throw new RangeError('it is not of header, body, receipts and total difficulty')
  const value = ({ from, to }: Entry) => bytes.subarray(from, to)
  const [header, body, receipts, difficulty] = entries as [Entry, Entry, Entry, Entry]
  return {
    header: unpackFrames(value(header), most),
    body: unpackFrames(value(body), most),
    receipts: unpackFrames(value(receipts), most),
    difficulty: value(difficulty),
  }
}

const compare = ({ members }: Header, name: string, found: Uint8Array) => {
  if (hexOf(found) === members[name]) return
  throw new RangeError(`its ${name} is ${members[name]}, but that of what it holds is ${hexOf(found)}`)
}

/** Bytes of the block as RLP, which has header and body in one list. */
const sizeOf = ({ header, body }: Unpacked): number => {
  const items: Rlp[] = [decodeRlpList(header), ...decodeRlpList(body)]
  return encodeRlp(items).length
}

const withdrawalsOf = (header: Header, items: readonly Rlp[]): Record<string, Hex>[] => {
  compare(header, 'withdrawalsRoot', trieRootOf(items.map(encodeRlp)))
  return items.map(item => {
    const [index, validatorIndex, address, amount] = rlpList(item, 4)
    return {
      index: quantityOf(index),
      validatorIndex: quantityOf(validatorIndex),
      address: hexOf(address),
      amount: quantityOf(amount),
    }
  })
}

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
