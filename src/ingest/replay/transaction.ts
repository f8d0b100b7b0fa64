import { resultOf } from '../../chain/answers.ts'
import { checkBlock, inconsistent } from '../../chain/check.ts'
import type { Endpoint } from '../../chain/endpoint.ts'
import type { RawBlock, RpcBlock, RpcReceipt, RpcTransaction } from '../../chain/wire.ts'
import { refuse, retry } from '../../lib/errors.ts'
import type { Limits } from '../../limits/index.ts'

/** The block of a transaction, cut down to that one. */
export const readTransaction = async (
  endpoint: Endpoint,
  hash: string,
  { signal, limits }: { signal: AbortSignal; limits: Limits },
): Promise<RawBlock> => {
  const ask = async (method: string, ...params: unknown[]) => {
    const [answer] = await endpoint.send([{ method, params }], signal)
    return resultOf(answer!, method)
  }
  const tx = (await ask('eth_getTransactionByHash', hash)) as RpcTransaction | null
  if (tx === null)
    throw refuse(
      'unknown_transaction',
      `${endpoint.name} does not have the transaction ${hash}: check the hash, and name its node with --rpc.`,
    )
  if (typeof tx.blockHash !== 'string')
    throw refuse('pending_transaction', `The transaction ${hash} is not in a block yet: try again when it is.`)
  const block = (await ask('eth_getBlockByHash', tx.blockHash, false)) as RpcBlock | null
  const receipt = (await ask('eth_getTransactionReceipt', hash)) as RpcReceipt | null
  if (block === null || receipt === null || !Array.isArray(block.transactions))
    throw retry('block_missing', `${endpoint.name} does not have block ${tx.blockHash} of the transaction any more`)
  if (tx.hash !== hash) throw inconsistent(`${endpoint.name} answers for ${hash} with the transaction ${tx.hash}`)
  const excerpt = { ...block, transactions: [tx], transactionCount: Math.max(2, block.transactions.length) }
  const raw: RawBlock = { block: excerpt, receipts: [receipt] }
  checkBlock(raw, { excerpts: true, bloom: false, limits })
  return raw
}
