import { keccak256 } from '../../../lib/keccak.ts'
import { recoverAddress } from '../../../lib/recover-address.ts'
import { decodeRlpList, encodeRlp, type Rlp, rlpBytes, rlpList, trieRootOf } from '../../../lib/rlp.ts'
import type { Hex, RawBlock, RpcLog, RpcReceipt } from '../../wire.ts'
import { unpackFrames } from './snappy.ts'
import { decodeHeader, ENTRY_TYPES, type Entry, entriesIn, type Header, rlpHex, rlpQuantity } from './survey.ts'

interface Unpacked {
  header: Uint8Array
  body: Uint8Array
  receipts: Uint8Array
  /** 32 bytes, little-endian. */
  difficulty: Uint8Array
}

/** Decodes a block and verifies the roots of its header; throws a `RangeError` if they differ. */
export const decodeBlock = (bytes: Buffer, most: number): RawBlock => {
  const unpacked = unpack(bytes, most)
  const header = decodeHeader(unpacked.header)
  const { hash, members } = header
  const [transactions, uncles, withdrawals] = decodeRlpList(unpacked.body, 2)
  const baseFee = BigInt(members.baseFeePerGas ?? '0x0')
  const decoded = rlpList(transactions).map(item => decodeTransaction(item, baseFee))
  compareRoot(header, 'transactionsRoot', trieRootOf(decoded.map(({ encoded }) => encoded)))
  compareRoot(header, 'sha3Uncles', keccak256(encodeRlp(rlpList(uncles))))
  const places = decoded.map(
    (_, i): TransactionPlace => ({
      blockHash: hash,
      blockNumber: members.number!,
      transactionIndex: `0x${i.toString(16)}`,
    }),
  )
  const { encoded, receipts } = decodeReceipts(decodeRlpList(unpacked.receipts), decoded, places)
  compareRoot(header, 'receiptsRoot', trieRootOf(encoded))
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
      size: `0x${blockSize(unpacked).toString(16)}`,
      uncles: rlpList(uncles).map(uncle => rlpHex(keccak256(encodeRlp(uncle)))),
      ...(withdrawals !== undefined && { withdrawals: withdrawalsOf(header, rlpList(withdrawals)) }),
      transactions: decoded.map(({ members }, i) => ({ ...members, ...places[i]! }) as never),
    },
    receipts,
  }
}

export const chainIdIn = (bytes: Buffer, most: number): number | undefined => {
  const [transactions] = decodeRlpList(unpack(bytes, most).body, 2)
  for (const item of rlpList(transactions)) {
    const chainId = signedChainId(item)
    if (chainId !== undefined) return chainId
  }
  return undefined
}

const ORDER = [ENTRY_TYPES.header, ENTRY_TYPES.body, ENTRY_TYPES.receipts, ENTRY_TYPES.difficulty]

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

const compareRoot = ({ members }: Header, name: string, found: Uint8Array) => {
  if (rlpHex(found) === members[name]) return
  throw new RangeError(`its ${name} is ${members[name]}, but that of what it holds is ${rlpHex(found)}`)
}

const blockSize = ({ header, body }: Unpacked): number => {
  const items: Rlp[] = [decodeRlpList(header), ...decodeRlpList(body)]
  return encodeRlp(items).length
}

const withdrawalsOf = (header: Header, items: readonly Rlp[]): Record<string, Hex>[] => {
  compareRoot(header, 'withdrawalsRoot', trieRootOf(items.map(encodeRlp)))
  return items.map(item => {
    const [index, validatorIndex, address, amount] = rlpList(item, 4)
    return {
      index: rlpQuantity(index),
      validatorIndex: rlpQuantity(validatorIndex),
      address: rlpHex(address),
      amount: rlpQuantity(amount),
    }
  })
}

interface DecodedReceipts {
  encoded: Uint8Array[]
  receipts: RpcReceipt[]
}

interface TransactionPlace {
  blockHash: Hex
  blockNumber: Hex
  transactionIndex: Hex
}

const decodeReceipts = (
  items: readonly Rlp[],
  transactions: readonly Transaction[],
  places: readonly TransactionPlace[],
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
    const total = BigInt(rlpQuantity(cumulative))
    receipts.push({
      ...at,
      type,
      from,
      to,
      contractAddress: to === null ? createdBy(transaction.sender, nonce) : null,
      ...outcomeOf(outcome),
      cumulativeGasUsed: rlpQuantity(cumulative),
      gasUsed: `0x${(total - gas).toString(16)}`,
      effectiveGasPrice: gasPrice,
      logsBloom: rlpHex(bloom),
      logs: rlpList(logs).map(log => decodeLog(log, at, logIndex++)),
    })
    gas = total
  }
  return { encoded, receipts }
}

const decodeLog = (item: Rlp, at: TransactionPlace & { transactionHash: Hex }, index: number): RpcLog => {
  const [address, topics, data] = rlpList(item, 3)
  return {
    ...at,
    address: rlpHex(address),
    topics: rlpList(topics).map(rlpHex),
    data: rlpHex(data),
    logIndex: `0x${index.toString(16)}`,
    removed: false,
  }
}

/** Receipts before Byzantium have the state root instead of a status. */
const outcomeOf = (item: Rlp | undefined) =>
  rlpBytes(item).length === 32 ? { root: rlpHex(item) } : { status: rlpQuantity(item) }

export const createdBy = (sender: Uint8Array, nonce: Hex): Hex => {
  const digits = nonce === '0x0' ? '' : nonce.slice(2)
  const bytes = Buffer.from(digits.length % 2 ? `0${digits}` : digits, 'hex')
  return rlpHex(keccak256(encodeRlp([sender, bytes])).subarray(12))
}

export interface Transaction {
  encoded: Uint8Array
  /** EIP-155 chain id; absent in legacy transactions, which are valid on any chain. */
  chainId: number | undefined
  members: Record<string, unknown> & { hash: Hex; from: Hex; to: Hex | null; nonce: Hex }
  sender: Uint8Array
}

/** Members of EIP-2718 types in RLP order, up to the signature. */
const TYPED: readonly (readonly string[])[] = [
  [],
  ['chainId', 'nonce', 'gasPrice', 'gas', 'to', 'value', 'input', 'accessList'],
  ['chainId', 'nonce', 'maxPriorityFeePerGas', 'maxFeePerGas', 'gas', 'to', 'value', 'input', 'accessList'],
  [
    ...['chainId', 'nonce', 'maxPriorityFeePerGas', 'maxFeePerGas', 'gas', 'to', 'value', 'input', 'accessList'],
    ...['maxFeePerBlobGas', 'blobVersionedHashes'],
  ],
  [
    ...['chainId', 'nonce', 'maxPriorityFeePerGas', 'maxFeePerGas', 'gas', 'to', 'value', 'input', 'accessList'],
    'authorizationList',
  ],
]

const LEGACY = ['nonce', 'gasPrice', 'gas', 'to', 'value', 'input']
const READ: Readonly<Record<string, (item: Rlp | undefined) => unknown>> = {
  to: item => (rlpBytes(item).length === 0 ? null : rlpHex(item)),
  input: rlpHex,
  accessList: item =>
    rlpList(item).map(entry => {
      const [address, keys] = rlpList(entry, 2)
      return { address: rlpHex(address), storageKeys: rlpList(keys).map(rlpHex) }
    }),
  blobVersionedHashes: item => rlpList(item).map(rlpHex),
  authorizationList: item =>
    rlpList(item).map(entry => {
      const [chainId, address, nonce, yParity, r, s] = rlpList(entry, 6)
      return {
        chainId: rlpQuantity(chainId),
        address: rlpHex(address),
        nonce: rlpQuantity(nonce),
        yParity: rlpQuantity(yParity),
        r: rlpQuantity(r),
        s: rlpQuantity(s),
      }
    }),
}

export const decodeTransaction = (item: Rlp, baseFee: bigint): Transaction =>
  item instanceof Uint8Array ? decodeTyped(item, baseFee) : decodeLegacy(item)
const signedChainId = (item: Rlp): number | undefined => {
  if (item instanceof Uint8Array) return Number(rlpQuantity(decodeRlpList(item.subarray(1), 1)[0]))
  return protectedBy(BigInt(rlpQuantity(rlpList(item, 9)[6])))
}

const decodeLegacy = (item: Rlp): Transaction => {
  const items = rlpList(item, 9)
  const v = BigInt(rlpQuantity(items[6]))
  const chainId = protectedBy(v)
  const content: Rlp[] = items.slice(0, 6)
  const signed = chainId === undefined ? content : [...content, toBytes(chainId), EMPTY, EMPTY]
  const encoded = encodeRlp(items)
  return finish(encoded, LEGACY, items, chainId, {
    signed: encodeRlp(signed),
    odd: chainId === undefined ? v === 28n : v % 2n === 0n,
    more: { type: '0x0', v: rlpQuantity(items[6]), ...signatureOf(items, 7) },
    at: 7,
  })
}

const decodeTyped = (bytes: Uint8Array, baseFee: bigint): Transaction => {
  const type = bytes[0]!
  const names = TYPED[type]
  if (type === 0 || !names) throw new RangeError(`it has a transaction of the unknown type ${type}`)
  const items = decodeRlpList(bytes.subarray(1), names.length + 3)
  const at = names.length + 1
  const yParity = rlpQuantity(items[names.length])
  const more: Record<string, unknown> = { type: `0x${type}`, v: yParity, yParity, ...signatureOf(items, at) }
  const chainId = Number(rlpQuantity(items[0]))
  const signed = Buffer.concat([bytes.subarray(0, 1), encodeRlp(items.slice(0, names.length))])
  const made = finish(bytes, names, items, chainId, { signed, odd: yParity === '0x1', more, at })
  const { maxFeePerGas, maxPriorityFeePerGas } = made.members
  // Nodes report the effective gas price, which depends on the block's base fee.
  if (maxFeePerGas !== undefined)
    made.members.gasPrice = `0x${least(BigInt(maxFeePerGas as Hex), baseFee + BigInt(maxPriorityFeePerGas as Hex)).toString(16)}`
  return made
}

interface Signed {
  signed: Uint8Array
  odd: boolean
  more: Record<string, unknown>
  at: number
}

const finish = (
  encoded: Uint8Array,
  names: readonly string[],
  items: readonly Rlp[],
  chainId: number | undefined,
  { signed, odd, more, at }: Signed,
): Transaction => {
  const members: Record<string, unknown> = {}
  for (const [i, name] of names.entries()) members[name] = (READ[name] ?? rlpQuantity)(items[i])
  if (chainId !== undefined) members.chainId = `0x${chainId.toString(16)}`
  const sender = recoverAddress(keccak256(signed), { r: rlpBytes(items[at]), s: rlpBytes(items[at + 1]), odd })
  const own = { ...members, ...more, hash: rlpHex(keccak256(encoded)), from: rlpHex(sender) }
  return { encoded, chainId, members: own as unknown as Transaction['members'], sender }
}

const signatureOf = (items: readonly Rlp[], at: number) => ({
  r: rlpQuantity(items[at]),
  s: rlpQuantity(items[at + 1]),
})

const protectedBy = (v: bigint): number | undefined => (v < 35n ? undefined : Number((v - 35n) / 2n))
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const EMPTY = new Uint8Array(0)
const toBytes = (value: number): Uint8Array => {
  const digits = value.toString(16)
  return Buffer.from(digits.length % 2 ? `0${digits}` : digits, 'hex')
}
