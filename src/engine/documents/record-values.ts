import type { RestKind } from '../../documents/rest.ts'
import { type FieldwiseKind, type Kind, RECORD_KINDS, type RecordKind } from '../../mapping/index.ts'
import type { StoredValue } from '../forms/form.ts'
import { blockOf, placeOf, positionOf } from '../schema.ts'
import { columnIndex, isFieldwise, RARE_COLUMNS, RECORD_COLUMNS, REST_INDEX, REST_VALUES } from './columns.ts'
import type { Records, RecordView } from './record-reader.ts'
import { hashOfTx } from './records/block.ts'
import { type CallRecord, newCallRecord, readCall } from './records/call.ts'
import { seek } from './records/fields.ts'
import { type LogRecord, newLogRecord, readLog } from './records/log.ts'
import { fieldsOfTrace, txOfTrace } from './records/trace.ts'

export type ValueReader = (position: number) => StoredValue

/** Undefined for fields of whole documents: lists, packed data, bloom filters, decoded fields. */
export const valueReader = (kind: Kind, field: string, records: Records): ValueReader | undefined => {
  const create = DERIVED[kind]?.get(field) ?? (isRecordKind(kind) ? BLOCK_FIELD_READERS.get(field) : undefined)
  if (create) return create(records)
  if ((kind === 'block' || kind === 'tx') && RARE_COLUMNS[kind].has(field)) return rareReader(kind, field, records)
  return isFieldwise(kind) ? fieldReader(kind, columnIndex(kind, field), records) : undefined
}

const fieldReader = (kind: FieldwiseKind, index: number, records: Records): ValueReader | undefined => {
  const take = RECORD_COLUMNS[kind][index]?.form.take
  if (!take) return undefined
  const find = (position: number): RecordView | undefined =>
    kind === 'block' ? records.blockRecord(blockOf(position)) : records.find(kind, position)
  return position => {
    const view = find(position)
    if (!view || !seek(kind, index, view.bytes, kind === 'trace' ? fieldsOfTrace(view.bytes, view.start) : view.start))
      return undefined
    return take(view.bytes)
  }
}

const rareReader = (kind: RestKind, field: string, records: Records): ValueReader => {
  const { number, form } = RARE_COLUMNS[kind].get(field)!
  return position => {
    const view = kind === 'block' ? records.blockRecord(blockOf(position)) : records.find(kind, position)
    if (!view || !seek(kind, REST_INDEX[kind], view.bytes, view.start)) return undefined
    return REST_VALUES[kind].seek(number, view.bytes) ? form.take!(view.bytes) : undefined
  }
}

const RECORD_KIND_SET: ReadonlySet<Kind> = new Set(RECORD_KINDS)
const isRecordKind = (kind: Kind): kind is RecordKind => RECORD_KIND_SET.has(kind)

type CreateReader = (records: Records) => ValueReader

const hashText = (hash: Buffer | undefined): string | undefined => hash && `0x${hash.toString('hex')}`

const BLOCK_HASH: CreateReader = records => position => hashText(records.block(blockOf(position))?.hash)
const BLOCK_TIME: CreateReader = records => position => records.block(blockOf(position))?.time

const BLOCK_FIELD_READERS: ReadonlyMap<string, CreateReader> = new Map([
  ['blockHash', BLOCK_HASH],
  ['blockNumber', () => blockOf],
  ['timestamp', BLOCK_TIME],
])

/** The hash of the transaction whose place `place` reads. */
const transactionHash =
  (place: CreateReader): CreateReader =>
  records => {
    const placeIn = place(records)
    return position => {
      const block = records.block(blockOf(position))
      const tx = placeIn(position)
      return block && typeof tx === 'number' ? hashOfTx(block, tx) : undefined
    }
  }

const logFieldReader =
  (read: (log: LogRecord) => number): CreateReader =>
  records => {
    const log = newLogRecord()
    return position => {
      const view = records.find('log', position)
      if (!view) return undefined
      readLog(view.bytes, view.start, log)
      return read(log)
    }
  }

const LOG_TX = logFieldReader(({ tx }) => tx)
const LOG_FIELD_READERS: readonly [string, CreateReader][] = [
  ['address', logFieldReader(({ address }) => address)],
  ['logIndex', () => placeOf],
  ['transactionIndex', LOG_TX],
  ['transactionHash', transactionHash(LOG_TX)],
]

const TRACE_TX: CreateReader = records => position => {
  const view = records.find('trace', position)
  const tx = view ? txOfTrace(view.bytes, view.start) : -1
  return tx < 0 ? undefined : tx
}

/** A field of a call is in its own record, its trace or its transaction. */
const callFieldReader =
  (own: (call: CallRecord) => StoredValue, inTrace: CreateReader | undefined, inTx?: CreateReader): CreateReader =>
  records => {
    const call = newCallRecord()
    const [readTrace, readTx] = [inTrace?.(records), inTx?.(records)]
    return position => {
      const view = records.find('call', position)
      if (!view) return undefined
      readCall(view.bytes, view.start, call)
      if (call.trace >= 0 && readTrace) return readTrace(positionOf(blockOf(position), call.trace))
      return readTx && call.trace < 0 ? readTx(positionOf(blockOf(position), call.tx)) : own(call)
    }
  }

const field =
  (kind: FieldwiseKind, name: string): CreateReader =>
  records =>
    valueReader(kind, name, records)!

const CALL_TX = callFieldReader(({ tx }) => tx, TRACE_TX)

/** Fields that are not in the records of their kind. */
const DERIVED: Partial<Record<Kind, ReadonlyMap<string, CreateReader>>> = {
  block: new Map([
    ['number', () => blockOf],
    ['hash', BLOCK_HASH],
    ['timestamp', BLOCK_TIME],
  ]),
  tx: new Map([
    ['hash', transactionHash(() => placeOf)],
    ['transactionIndex', () => placeOf],
  ]),
  log: new Map(LOG_FIELD_READERS),
  event: new Map([...BLOCK_FIELD_READERS, ...LOG_FIELD_READERS]),
  trace: new Map([
    ['transactionPosition', TRACE_TX],
    ['transactionHash', transactionHash(TRACE_TX)],
  ]),
  call: new Map([
    ['from', callFieldReader(({ from }) => from, field('trace', 'action.from'))],
    ['to', callFieldReader(({ to }) => to, field('trace', 'action.to'))],
    ['value', callFieldReader(() => undefined, field('trace', 'action.value'), field('tx', 'value'))],
    ['callType', callFieldReader(({ callType }) => callType, field('trace', 'callType'))],
    ['revertReason', callFieldReader(() => undefined, field('trace', 'revertReason'))],
    ['revertName', callFieldReader(() => undefined, field('trace', 'revertName'))],
    ['reverted', callFieldReader(({ reverted }) => reverted, undefined)],
    ['transactionIndex', CALL_TX],
    ['transactionHash', transactionHash(CALL_TX)],
  ]),
}
