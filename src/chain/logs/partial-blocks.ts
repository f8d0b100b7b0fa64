import { type CheckOptions, checkBlock, inconsistent } from '../check/check-block.ts'
import type { RawBlock, RpcLog, RpcReceipt, RpcTransaction } from '../wire.ts'
import { mayHold } from './log-filter.ts'

/**
 * The header with some transactions, their receipts and their traces. `keep`: which logs of a transaction stay; undefined where it does not stay
 * itself.
 */
export const cutBlock = (
  raw: RawBlock,
  keep: (tx: RpcTransaction, receipt: RpcReceipt) => RpcLog[] | undefined,
): RawBlock => {
  const receipts: RpcReceipt[] = []
  const transactions: RpcTransaction[] = []
  for (const [i, receipt] of raw.receipts.entries()) {
    const tx = raw.block.transactions[i]!
    const logs = keep(tx, receipt)
    if (!logs) continue
    receipts.push({ ...receipt, logs })
    transactions.push(tx)
  }
  const hashes = new Set(transactions.map(({ hash }) => hash))
  const traces = raw.traces?.filter(it => it.type !== 'reward' && hashes.has(it.transactionHash))
  return { ...raw, block: { ...raw.block, transactions }, receipts, partial: true, ...(traces && { traces }) }
}

/** Checks a block of which some transactions are at hand, of so many. */
export const checkExcerpt = (
  raw: RawBlock,
  count: number,
  { bloom, limits }: Required<Pick<CheckOptions, 'bloom' | 'limits'>>,
) => {
  const { block, receipts } = raw
  // Then its bloom says whether logs are missing.
  if (receipts.length === count) return checkBlock(raw, { bloom, limits })
  // An excerpt states that there are more.
  checkBlock({ ...raw, block: { ...block, transactionCount: count } }, { bloom, limits, excerpts: true })
  if (bloom && !receipts.flatMap(({ logs }) => logs).every(log => mayHold(block.logsBloom, log)))
    throw inconsistent(
      `block ${Number(block.number)}: its logs bloom does not cover its logs: they belong to another block, or set skip-bloom for this network`,
    )
}
