import type { block as mapping } from '../../mapping/documents/block.ts'
import { writeHashes } from '../forms/bytes.ts'
import { blockOf } from '../schema.ts'
import { type Context, placeFields, type ShownBlock } from './context.ts'
import { always, type WriteBy } from './plan.ts'
import { createRecordFields, recordSource } from './record.ts'
import type { Show } from './show.ts'

type Derived = 'number' | 'hash' | 'timestamp' | 'transactions'

export const createBlockShow = (context: Context): Show => {
  const record = createRecordFields('block', context)
  const place = placeFields(() => block)
  let block: ShownBlock

  /** What the block's row tells beside its record. */
  const derived = {
    number: place.blockNumber,
    hash: place.blockHash,
    timestamp: place.seconds,
    transactions: () => always(out => writeHashes(out, block.stored.hashes, 0, block.stored.txs * 32)),
  } satisfies Record<Derived & keyof typeof mapping.fields, WriteBy>

  return {
    find(position) {
      const found = context.block(blockOf(position))
      if (found) block = found
      return found !== undefined
    },
    id: out => out.bytes(block.hash),
    routing: undefined,
    parent: undefined,
    source: recordSource('block', record, derived, () => context.records.blockRecord(block.stored.number)),
  }
}
