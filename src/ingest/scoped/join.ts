import type { RawBlock, RpcLog, RpcReceipt, RpcTrace } from '../../chain/wire.ts'
import { stop } from '../../lib/errors.ts'

/** All that two parts of one block hold. */
export const joinParts = (one: RawBlock, other: RawBlock): RawBlock => {
  if (one.block.hash !== other.block.hash)
    throw stop(
      'block_unlinked',
      `block ${Number(one.block.number)} is stored as ${one.block.hash}, but the node has ${other.block.hash}: they belong to different branches or chains. Index them into different data folders, or remove the stored ones`,
    )
  const transactions = byPlace([...one.block.transactions, ...other.block.transactions], tx => tx.transactionIndex)
  const logsOf = new Map<string, RpcLog[]>()
  for (const { transactionHash, logs } of [...one.receipts, ...other.receipts])
    logsOf.set(transactionHash, [...(logsOf.get(transactionHash) ?? []), ...logs])
  const receipts = byPlace<RpcReceipt>([...one.receipts, ...other.receipts], receipt => receipt.transactionIndex).map(
    receipt => ({ ...receipt, logs: byPlace(logsOf.get(receipt.transactionHash)!, log => log.logIndex) }),
  )
  const traces = byTransaction(one.traces ?? [], other.traces ?? [])
  return {
    ...other,
    block: { ...other.block, transactions },
    receipts,
    ...(traces.length > 0 && { traces }),
    partial: true,
  }
}

/** In the order of the transactions; of one that both have, those of one. */
const byTransaction = (one: readonly RpcTrace[], other: readonly RpcTrace[]): RpcTrace[] => {
  const positionOf = (it: RpcTrace) => (it.type === 'reward' ? Number.POSITIVE_INFINITY : it.transactionPosition)
  const there = new Set(one.map(positionOf))
  return [...one, ...other.filter(it => !there.has(positionOf(it)))].sort((a, b) => positionOf(a) - positionOf(b))
}

/** Each once, by a place in the block. */
const byPlace = <T>(all: readonly T[], placeOf: (one: T) => string): T[] => {
  const found = new Map<number, T>()
  for (const one of all) found.set(Number(placeOf(one)), one)
  return [...found].sort(([a], [b]) => a - b).map(([, one]) => one)
}
