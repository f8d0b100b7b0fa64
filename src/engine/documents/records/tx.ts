import type { RpcReceipt, RpcTransaction } from '../../../chain/wire.ts'
import type { ByteWriter } from '../../../lib/bytes.ts'
import { RECORD_COLUMNS } from '../forms.ts'
import { fieldsWriter } from './fields.ts'
import { FOLLOWS, type Ids } from './values.ts'

/** A transaction with what its receipt says. */
export interface TxInput {
  tx: RpcTransaction
  receipt: RpcReceipt
  /** Name of the function that it calls, undefined where unknown. */
  method: string | undefined
  /** The bloom filter of its logs, as `0x` hex. */
  bloom: unknown
}

const COLUMNS = RECORD_COLUMNS.tx

const readers = COLUMNS.map(({ form, origin, wire }) => {
  if (origin === 'decoded') return ({ method }: TxInput): unknown => method
  if (form === 'bloom')
    return ({ receipt, bloom }: TxInput): unknown => {
      const stated = receipt[wire]
      return typeof stated === 'string' && stated === bloom ? FOLLOWS : stated
    }
  return origin === 'receipt'
    ? ({ receipt }: TxInput): unknown => receipt[wire]
    : ({ tx }: TxInput): unknown => tx[wire]
})

/** Appends the record of a transaction. Its hash is in the block's row. */
export const createTxWriter = (ids: Ids): ((out: ByteWriter, input: TxInput) => void) =>
  fieldsWriter(COLUMNS, readers, ids)

/** Of the columns of a transaction's record: the name of the function that it calls. */
export const METHOD = COLUMNS.findIndex(({ field }) => field === 'method')
