import { retry } from '../../lib/errors.ts'
import { keccak256 } from '../../lib/keccak.ts'
import { type Answer, resultOf } from '../rpc/answers.ts'
import type { Endpoint } from '../rpc/endpoint.ts'
import { type Hex, type RpcBlock, type RpcReceipt, type RpcTransaction, toQuantity } from '../wire.ts'

/**
 * State-sync transactions of Polygon PoS. Before the Madhugiri fork they were not part of the
 * block: by its version, a node appends them, with a hash derived from the block's, to the block,
 * its receipts, both or neither.
 */

/** Chain ids of Polygon PoS and its testnet Amoy. */
const MAINNET = 137
const CHAINS: ReadonlySet<number | undefined> = new Set([MAINNET, 80_002])
/** From this mainnet block on they are part of the block, with their own hash. */
const MADHUGIRI = 80_084_800
/** Only every 16th block has one; formerly every 64th. */
const SPRINT = 16

export const hasStateSync = (chainId: number | undefined): boolean => CHAINS.has(chainId)

/** Keccak-256 (`0x` hex) of the key under which bor stores the receipt. */
export const stateSyncHash = ({ number, hash }: Pick<RpcBlock, 'number' | 'hash'>): Hex => {
  const key = Buffer.alloc(PREFIX.length + 8 + 32)
  PREFIX.copy(key)
  key.writeBigUInt64BE(BigInt(number), PREFIX.length)
  key.write(hash.slice(2), PREFIX.length + 8, 'hex')
  return `0x${Buffer.from(keccak256(key)).toString('hex')}`
}

const PREFIX = Buffer.from('matic-bor-receipt-')

/** Which half of the state-sync transaction a list lacks; undefined if nothing can be missing. */
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

/** Appends a block's state-sync transaction, and requests the half that the node left out. */
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

/** As bor creates it: zero value from the zero address to the zero address. */
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
