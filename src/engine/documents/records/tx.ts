import type { RpcReceipt, RpcTransaction } from '../../../chain/wire.ts'
import type { Failure } from '../../../documents/failures.ts'
import { restOfTx } from '../../../documents/rest.ts'
import type { ByteWriter } from '../../../lib/bytes.ts'
import { isList, MAPPING, wireName } from '../../../mapping/index.ts'
import { FOLLOWS } from '../../forms/bytes.ts'
import type { Ids } from '../../forms/form.ts'
import { RECORD_COLUMNS } from '../columns.ts'
import { fieldsWriter } from './fields.ts'

/** A transaction with what its receipt says. */
export interface TxInput {
  tx: RpcTransaction
  receipt: RpcReceipt
  /** Name of the function that it calls, undefined where unknown. */
  method: string | undefined
  /** Why it failed, where that is known. */
  failure: Failure | undefined
  /** The bloom filter of its logs, as `0x` hex. */
  bloom: unknown
}

const COLUMNS = RECORD_COLUMNS.tx

/** Reads a field of a transaction, as the mapping names it. */
export const txReader = (field: string): ((input: TxInput) => unknown) => {
  const declaration = MAPPING.tx.fields[field]!
  const wire = wireName(field, declaration)
  if (field === 'method') return ({ method }) => method
  if (declaration.origin === 'rest') return ({ tx, receipt }) => restOfTx(tx, receipt)
  if (declaration.origin === 'decoded') return ({ failure }) => failure?.[field as keyof Failure]
  if (!isList(declaration) && declaration.bloom)
    return ({ receipt, bloom }) => {
      const stated = receipt[wire]
      return typeof stated === 'string' && stated === bloom ? FOLLOWS : stated
    }
  return declaration.origin === 'receipt' ? ({ receipt }) => receipt[wire] : ({ tx }) => tx[wire]
}

/** Appends the record of a transaction. Its hash is in the block's row. */
export const createTxWriter = (ids: Ids): ((out: ByteWriter, input: TxInput) => void) =>
  fieldsWriter(
    COLUMNS,
    COLUMNS.map(({ field }) => txReader(field)),
    ids,
  )
