import type { Kind } from '../../../mapping/index.ts'
import { hashOfTx } from '../../documents/records/block.ts'
import type { Reader } from '../../reader.ts'
import { blockOf, placeOf } from '../../schema.ts'
import type { Documents } from '../documents.ts'

/** Reads the `_id` of documents: those of blocks and transactions from the block alone, where there is a store. */
export const idReader = (
  kind: Kind,
  { reader, documents }: { reader: Reader | undefined; documents: Documents },
): ((position: number) => string | undefined) => {
  const inDocument = (position: number) => documents.load(kind, [position], [])[0]?._id
  if (!reader) return inDocument
  switch (kind) {
    case 'block':
      return position => {
        const block = reader.records.block(blockOf(position))
        return block && `0x${block.hash.toString('hex')}`
      }
    case 'tx':
      return position => {
        const block = reader.records.block(blockOf(position))
        return block && hashOfTx(block, placeOf(position))
      }
    default:
      return inDocument
  }
}
