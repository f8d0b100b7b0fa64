import { keccak256 } from '../../../lib/keccak.ts'
import { decodeRlpList, encodeRlp, type Rlp, rlpList } from '../../../lib/rlp.ts'
import { trieRootOf } from '../../../lib/trie.ts'
import type { Hex, RawBlock } from '../../wire.ts'
import { type Entry, entriesIn, TYPES } from './entries.ts'
import { decodeHeader, type Header, hexOf, quantityOf } from './header.ts'
import { decodeReceipts, type Place } from './receipts.ts'
import { unpackFrames } from './snappy.ts'
import { chainIdOf, decodeTransaction } from './transaction.ts'

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
