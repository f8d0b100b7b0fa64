import type { RpcBlock, RpcReceipt, RpcTrace, RpcTransaction } from '../../chain/wire.ts'
import type { BlockCall } from '../../documents/calls.ts'
import { traceReader } from '../../documents/traces.ts'
import { encodeColumn, MISSING } from './column-codec.ts'
import { COLUMN_FIELDS, type ColumnField, columnNumber } from './column-fields.ts'
import type { Counted } from './counted.ts'

/** A column of a batch, encoded, on its way to the thread that writes. */
export interface BatchColumn {
  /** Number of the column. */
  field: number
  least: number
  greatest: number
  data: Uint8Array<ArrayBuffer>
}

/** Ids in the dictionaries, given if need be. */
interface Ids {
  /** Of an address as the wire has it. */
  address(text: string): number
  name(text: string): number
}

/** Takes the documents of each kind in their order. Addresses, names and signatures go by their ids in the dictionaries. */
export interface ColumnsBuilder {
  block(block: RpcBlock): void
  tx(tx: RpcTransaction, receipt: RpcReceipt, method: string | undefined): void
  /** `tx` is the place of the transaction. */
  log(address: number, signature: number, tx: number): void
  trace(trace: RpcTrace): void
  call(call: BlockCall, signature: number): void
  /** `full` where the segment stays as it is. */
  finish(full: boolean): BatchColumn[]
}

export const createColumnsBuilder = (ids: Ids): ColumnsBuilder => {
  const columns = new Map<number, Growing>(COLUMN_FIELDS.map(({ number }) => [number, createGrowing()]))
  const column = (kind: Counted, field: string) => columns.get(columnNumber(kind, field))!
  const fieldsOf = (kind: Counted) =>
    COLUMN_FIELDS.filter(field => field.kind === kind).map(field => ({
      field: field.field,
      wire: field.declaration.wire ?? field.field,
      origin: field.declaration.origin,
      read: numberReader(field, ids),
      push: columns.get(field.number)!.push,
    }))
  const blockFields = fieldsOf('block')
  const [receiptFields, txFields] = [
    fieldsOf('tx').filter(({ origin }) => origin === 'receipt'),
    fieldsOf('tx').filter(({ origin }) => origin === 'wire'),
  ]
  const traceFields = fieldsOf('trace')
    .filter(({ origin }) => origin === 'wire')
    .map(({ field, read, push }) => ({ of: traceReader(field), read, push }))
  const amount = numberReader({ declaration: { kind: 'amount' } }, ids)
  const method = column('tx', 'method')
  const log = {
    address: column('log', 'address'),
    signature: column('log', 'signature'),
    tx: column('log', 'transactionIndex'),
  }
  const traceTx = column('trace', 'transactionPosition')
  const call = {
    from: column('call', 'from'),
    to: column('call', 'to'),
    signature: column('call', 'selector'),
    tx: column('call', 'transactionIndex'),
    callType: column('call', 'callType'),
    reverted: column('call', 'reverted'),
    depth: column('call', 'depth'),
    value: column('call', 'value'),
  }

  return {
    block(block) {
      for (const { wire, read, push } of blockFields) push(read(block[wire]))
    },
    tx(tx, receipt, name) {
      for (const { wire, read, push } of txFields) push(read(tx[wire]))
      for (const { wire, read, push } of receiptFields) push(read(receipt[wire]))
      method.push(name === undefined ? MISSING : ids.name(name))
    },
    log(address, signature, tx) {
      log.address.push(address)
      log.signature.push(signature)
      log.tx.push(tx)
    },
    trace(trace) {
      for (const { of, read, push } of traceFields) push(read(of(trace)))
      traceTx.push(trace.type === 'reward' ? MISSING : trace.transactionPosition)
    },
    call({ from, to, tx, callType, reverted, depth, value }, signature) {
      call.from.push(ids.address(from))
      call.to.push(ids.address(to))
      call.signature.push(signature)
      call.tx.push(tx)
      call.callType.push(ids.name(callType))
      call.reverted.push(reverted ? 1 : 0)
      call.depth.push(depth)
      call.value.push(amount(value))
    },
    finish: full =>
      Array.from(columns, ([field, { take }]) => {
        const encoded = encodeColumn(take(), { full })
        return encoded && { field, ...encoded }
      }).filter(one => one !== undefined),
  }
}

/** How a member of the wire becomes a number. */
const numberReader = (
  { declaration: { kind } }: { declaration: Pick<ColumnField['declaration'], 'kind'> },
  ids: Ids,
): ((value: unknown) => number) => {
  switch (kind) {
    case 'address':
      return value => (typeof value === 'string' ? ids.address(value) : MISSING)
    case 'keyword':
      return value => (typeof value === 'string' ? ids.name(value) : MISSING)
    case 'boolean':
      return value => (value == null ? MISSING : value === '0x1' || value === true ? 1 : 0)
    default:
      return integerOfWire
  }
}

/** Some nodes write small integers as JSON numbers. An integer beyond 2^53 becomes the nearest double. */
export const integerOfWire = (value: unknown): number => {
  if (value == null) return MISSING
  return typeof value === 'string' && value.length <= 2 ? 0 : Number(value)
}

interface Growing {
  push(value: number): void
  take(): Float64Array
}

const createGrowing = (): Growing => {
  let values = new Float64Array(64)
  let count = 0
  return {
    push(value) {
      if (count === values.length) {
        const larger = new Float64Array(count * 2)
        larger.set(values)
        values = larger
      }
      values[count++] = value
    },
    take: () => values.subarray(0, count),
  }
}
