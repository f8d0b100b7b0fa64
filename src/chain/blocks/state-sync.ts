import { retry } from '../../lib/errors.ts'
import { keccak256 } from '../../lib/keccak.ts'
import { type Answer, resultOf } from '../rpc/answers.ts'
import type { Endpoint } from '../rpc/endpoint.ts'
import { type Hex, type RpcBlock, type RpcReceipt, type RpcTransaction, toQuantity } from '../wire.ts'

/**
 * Transactions by which Polygon PoS takes over state of its parent chain. Until the fork Madhugiri they were no part of the block: nodes show them as its
 * last transaction, with a hash that follows from the block's, in the block, among its receipts, in both or in neither, by their version.
 */

/** Polygon PoS and Amoy, its chain for tests. */
const MAINNET = 137
const CHAINS: ReadonlySet<number | undefined> = new Set([MAINNET, 80_002])
/** Since this block of the mainnet they are a part of the block, with a hash of their own. */
const MADHUGIRI = 80_084_800
/** Only one of so many blocks has any; it was one of 64 once. */
const SPRINT = 16

export const hasStateSync = (chainId: number | undefined): boolean => CHAINS.has(chainId)

/** `0x` hex of Keccak-256 of the key under which bor keeps the receipt. */
export const stateSyncHash = ({ number, hash }: Pick<RpcBlock, 'number' | 'hash'>): Hex => {
  const key = Buffer.alloc(PREFIX.length + 8 + 32)
  PREFIX.copy(key)
  key.writeBigUInt64BE(BigInt(number), PREFIX.length)
  key.write(hash.slice(2), PREFIX.length + 8, 'hex')
  return `0x${Buffer.from(keccak256(key)).toString('hex')}`
}

const PREFIX = Buffer.from('matic-bor-receipt-')

/** What of a block's state-sync transaction is not in both lists; undefined where nothing may be missing. */
const missingStateSync = (
  { number, transactions }: RpcBlock,
  receipts: readonly RpcReceipt[],
  derived: Hex,
  chainId?: number,
) => {
  const [tx, receipt] = [transactions.at(-1), receipts.at(-1)]
  if (transactions.length === receipts.length + 1 && receipt?.transactionHash !== tx?.hash) return 'receipt'
  if (receipts.length === transactions.length + 1 && receipt?.transactionHash === derived) return 'transaction'
  const isDue = Number(number) % SPRINT === 0 && !(chainId === MAINNET && Number(number) >= MADHUGIRI)
  return isDue && tx?.hash !== derived && receipts.length === transactions.length ? 'both' : undefined
}

export const lacksStateSync = (block: RpcBlock, receipts: readonly RpcReceipt[], chainId?: number): boolean =>
  missingStateSync(block, receipts, stateSyncHash(block), chainId) !== undefined ||
  receipts.at(-1)?.transactionHash === stateSyncHash(block)

/** Puts a block's state-sync transaction in its place, asking for what the node left out. */
export const completeStateSync = async (
  endpoint: Endpoint,
  block: RpcBlock,
  receipts: RpcReceipt[],
  signal: AbortSignal,
  urgent?: boolean,
): Promise<{ block: RpcBlock; receipts: RpcReceipt[] }> => {
  const derived = stateSyncHash(block)
  const missing = missingStateSync(block, receipts, derived, endpoint.chainId)
  const ask = async (method: string, hash: Hex): Promise<Answer> =>
    (await endpoint.send([{ method, params: [hash] }], signal, urgent))[0]!
  let { transactions } = block
  let all = receipts
  if (missing === 'receipt' || missing === 'both') {
    const hash = missing === 'receipt' ? transactions.at(-1)!.hash : derived
    const answer = await ask(RECEIPT, hash)
    const receipt = resultOf(answer, `the state-sync receipt of block ${Number(block.number)}`) as RpcReceipt | null
    if (receipt === null && missing === 'both') return { block, receipts }
    if (receipt === null)
      throw retry('block_inconsistent', `block ${Number(block.number)}: the node has no receipt of ${hash}`)
    all = [...receipts, receipt]
  }
  if (missing === 'transaction' || missing === 'both') {
    const answer = await ask(TRANSACTION, derived)
    const tx = answer.error === undefined ? (answer.result as RpcTransaction | null) : null
    transactions = [...transactions, tx ?? fromReceipt(all.at(-1)!)]
  }
  if (all.at(-1)?.transactionHash === derived) all = [...all.slice(0, -1), placedLast(all)]
  return { block: { ...block, transactions }, receipts: all }
}

const RECEIPT = 'eth_getTransactionReceipt'
const TRANSACTION = 'eth_getTransactionByHash'

const NOBODY = `0x${'0'.repeat(40)}`

/** As bor makes it: nobody sends nothing to nobody. */
const fromReceipt = (receipt: RpcReceipt): RpcTransaction => ({
  hash: receipt.transactionHash,
  blockHash: receipt.blockHash,
  blockNumber: receipt.blockNumber,
  transactionIndex: receipt.transactionIndex,
  from: NOBODY,
  to: NOBODY,
  value: '0x0',
  input: '0x',
  nonce: '0x0',
  gas: '0x0',
  gasPrice: '0x0',
  type: '0x0',
})

const placedLast = (receipts: readonly RpcReceipt[]): RpcReceipt => {
  const last = receipts.at(-1)!
  if (!Array.isArray(last.logs)) return last
  const transactionIndex = toQuantity(receipts.length - 1)
  const before = receipts.slice(0, -1).reduce((sum, { logs }) => sum + (Array.isArray(logs) ? logs.length : 0), 0)
  const logs = last.logs.map((log, i) => ({ ...log, transactionIndex, logIndex: toQuantity(before + i) }))
  return { ...last, transactionIndex, logs }
}
