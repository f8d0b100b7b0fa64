import type { RawBlock } from '../chain/wire.ts'

/** Places in the block of transactions and of logs, in order. */
export interface Places {
  txs: Uint32Array
  logs: Uint32Array
}

/** The places of an excerpt's transactions and logs; undefined for a complete block, where they follow each other. */
export const placesOf = ({ block, receipts }: RawBlock): Places | undefined => {
  const last = receipts.length - 1
  if (last < 0 || Number(block.transactions[last]!.transactionIndex) === last) return undefined
  return {
    txs: Uint32Array.from(block.transactions, tx => Number(tx.transactionIndex)),
    logs: Uint32Array.from(receipts.flatMap(({ logs }) => logs.map(log => Number(log.logIndex)))),
  }
}
