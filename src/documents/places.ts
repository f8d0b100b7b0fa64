import type { RawBlock } from '../chain/wire.ts'

/** Places in the block of transactions and of logs, in order. */
export interface Places {
  txs: Uint32Array
  logs: Uint32Array
}

/** The places of the transactions and logs of an excerpt, or of a partial block; undefined for a complete block, where they follow each other. */
export const placesOf = ({ block, receipts, partial }: RawBlock): Places | undefined => {
  const last = receipts.length - 1
  if (last < 0 || (!partial && Number(block.transactions[last]!.transactionIndex) === last)) return undefined
  return {
    txs: Uint32Array.from(block.transactions, tx => Number(tx.transactionIndex)),
    logs: Uint32Array.from(receipts.flatMap(({ logs }) => logs.map(log => Number(log.logIndex)))),
  }
}
