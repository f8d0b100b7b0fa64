import { hashStart } from '../documents/records/block.ts'
import { blockOf, placeOf, positionOf } from '../schema.ts'
import { createBloomShow } from './bloom.ts'
import { type Context, placeFields, type ShownBlock, writeTxHash } from './context.ts'
import { createRecordFields, recordSource } from './record.ts'
import type { Show } from './show.ts'

export const createTxShow = (context: Context): Show => {
  const bloom = createBloomShow(context)
  let block: ShownBlock
  let place = 0
  const record = createRecordFields('tx', {
    ...context,
    ownBloom: out => bloom(out, block.stored, place),
  })
  const where = placeFields(() => block)
  const derived = {
    blockHash: where.blockHash,
    blockNumber: where.blockNumber,
    hash: where.transactionHash(() => place),
    timestamp: where.seconds,
    transactionIndex: where.quantity(() => place),
  }

  return {
    find(position) {
      const found = context.block(blockOf(position))
      if (!found || hashStart(found.stored, placeOf(position)) < 0) return false
      block = found
      place = placeOf(position)
      return true
    },
    id(out) {
      writeTxHash(out, block, place)
    },
    routing: out => out.bytes(block.hash),
    parent: out => out.bytes(block.hash),
    source: recordSource('tx', record, derived, () =>
      context.records.find('tx', positionOf(block.stored.number, place)),
    ),
  }
}
