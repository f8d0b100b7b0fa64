import type { BlockCall } from '../../documents/calls.ts'
import { joinDoubles } from '../../lib/arrays.ts'
import type { CountedKind } from '../../mapping/index.ts'
import { encodeColumn, MISSING } from './column-codec.ts'
import { COLUMN_FIELDS, type ColumnField, columnNumber } from './column-fields.ts'

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
export type ColumnsBuilder = ReturnType<typeof createColumnsBuilder>

export const createColumnsBuilder = (ids: Ids) => {
  const columns = new Map<number, Growing>(COLUMN_FIELDS.map(({ number }) => [number, createGrowing()]))
  const column = (kind: CountedKind, field: string) => columns.get(columnNumber(kind, field))!
  const amount = numberReader({ declaration: { kind: 'amount' } }, ids)
  const name = numberReader({ declaration: { kind: 'keyword' } }, ids)
  const log = {
    address: column('log', 'address'),
    signature: column('log', 'signature'),
    tx: column('log', 'transactionIndex'),
  }
  const call = {
    from: column('call', 'from'),
    to: column('call', 'to'),
    signature: column('call', 'selector'),
    tx: column('call', 'transactionIndex'),
    callType: column('call', 'callType'),
    reverted: column('call', 'reverted'),
    depth: column('call', 'depth'),
    value: column('call', 'value'),
    revertReason: column('call', 'revertReason'),
    revertName: column('call', 'revertName'),
  }

  return {
    /** Makes what takes the documents of a kind; `readerOf` gives what reads a field of one from the wire. */
    of<T>(kind: CountedKind, readerOf: (field: string) => (document: T) => unknown): (document: T) => void {
      const fields = COLUMN_FIELDS.filter(field => field.kind === kind).map(field => ({
        of: readerOf(field.field),
        read: numberReader(field, ids),
        push: columns.get(field.number)!.push,
      }))
      return document => {
        for (const { of, read, push } of fields) push(read(of(document)))
      }
    },
    /** `tx` is the place of the transaction. */
    log(address: number, signature: number, tx: number): void {
      log.address.push(address)
      log.signature.push(signature)
      log.tx.push(tx)
    },
    call({ from, to, tx, callType, reverted, depth, value, revert }: BlockCall, signature: number): void {
      call.from.push(ids.address(from))
      call.to.push(ids.address(to))
      call.signature.push(signature)
      call.tx.push(tx)
      call.callType.push(ids.name(callType))
      call.reverted.push(reverted ? 1 : 0)
      call.depth.push(depth)
      call.value.push(amount(value))
      call.revertReason.push(name(revert?.reason))
      call.revertName.push(name(revert?.name))
    },
    /** Values by the numbers of columns. */
    finish: (): Map<number, Float64Array<ArrayBuffer>> =>
      new Map(Array.from(columns, ([field, { take }]) => [field, take()])),
  }
}

/** Of each column the values of all its parts; `full` where the segment stays as it is. */
export const encodeColumns = (
  columns: readonly { field: number; parts: readonly Float64Array<ArrayBuffer>[] }[],
  full: boolean,
): BatchColumn[] =>
  columns.flatMap(({ field, parts }) => {
    const encoded = encodeColumn(parts.length === 1 ? parts[0]! : joinDoubles(parts), { full })
    return encoded ? [{ field, ...encoded }] : []
  })

/** How a member of the wire becomes a number. */
const numberReader = (
  { declaration: { kind } }: { declaration: Pick<ColumnField['declaration'], 'kind'> },
  ids: Ids,
): ((value: unknown) => number) => {
  switch (kind) {
    case 'address':
      return value => (typeof value === 'string' ? ids.address(value) : MISSING)
    case 'keyword':
    case 'text':
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

type Growing = ReturnType<typeof createGrowing>

const createGrowing = () => {
  let values = new Float64Array(64)
  let count = 0
  return {
    push(value: number): void {
      if (count === values.length) {
        const larger = new Float64Array(count * 2)
        larger.set(values)
        values = larger
      }
      values[count++] = value
    },
    take: (): Float64Array<ArrayBuffer> => values.subarray(0, count),
  }
}
