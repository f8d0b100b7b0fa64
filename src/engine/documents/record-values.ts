import type { RestKind } from '../../documents/rest.ts'
import { type FieldwiseKind, type Kind, RECORD_KINDS, type RecordKind } from '../../mapping/index.ts'
import type { StoredValue } from '../forms/form.ts'
import { blockOf, placeOf, positionOf } from '../schema.ts'
import { columnIndex, isFieldwise, RARE_COLUMNS, RECORD_COLUMNS, REST, REST_VALUES } from './columns.ts'
import type { Records, RecordView } from './record-reader.ts'
import { hashOfTx } from './records/block.ts'
import { type CallRecord, newCallRecord, readCall } from './records/call.ts'
import { seek } from './records/fields.ts'
import { type LogRecord, newLogRecord, readLog } from './records/log.ts'
import { fieldsOfTrace, txOfTrace } from './records/trace.ts'

export type ValueReader = (position: number) => StoredValue

/** Undefined if the field needs the whole document: lists, packed data, bloom filters and decoded fields. */
export const valueReader = (kind: Kind, field: string, records: Records): ValueReader | undefined => {
  const create = DERIVED[kind]?.get(field) ?? (isRecordKind(kind) ? OF_BLOCK.get(field) : undefined)
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
    if (!view || !seek(kind, REST[kind], view.bytes, view.start)) return undefined
    return REST_VALUES[kind].seek(number, view.bytes) ? form.take!(view.bytes) : undefined
  }
}

const ofRecords: ReadonlySet<Kind> = new Set(RECORD_KINDS)
const isRecordKind = (kind: Kind): kind is RecordKind => ofRecords.has(kind)

type Create = (records: Records) => ValueReader

const hashText = (hash: Buffer | undefined): string | undefined => hash && `0x${hash.toString('hex')}`

const BLOCK_HASH: Create = records => position => hashText(records.block(blockOf(position))?.hash)
const TIME: Create = records => position => records.block(blockOf(position))?.time

const OF_BLOCK: ReadonlyMap<string, Create> = new Map([
  ['blockHash', BLOCK_HASH],
  ['blockNumber', () => blockOf],
  ['timestamp', TIME],
])

/** The hash of the transaction whose place `place` reads. */
const transactionHash =
  (place: Create): Create =>
  records => {
    const placeIn = place(records)
    return position => {
      const block = records.block(blockOf(position))
      const tx = placeIn(position)
      return block && typeof tx === 'number' ? hashOfTx(block, tx) : undefined
    }
  }

const ofLog =
  (read: (log: LogRecord) => number): Create =>
  records => {
    const log = newLogRecord()
    return position => {
      const view = records.find('log', position)
      if (!view) return undefined
      readLog(view.bytes, view.start, log)
      return read(log)
    }
  }

const LOG_TX = ofLog(({ tx }) => tx)
const OF_LOG: readonly [string, Create][] = [
  ['address', ofLog(({ address }) => address)],
  ['logIndex', () => placeOf],
  ['transactionIndex', LOG_TX],
  ['transactionHash', transactionHash(LOG_TX)],
]

const TRACE_TX: Create = records => position => {
  const view = records.find('trace', position)
  const tx = view ? txOfTrace(view.bytes, view.start) : -1
  return tx < 0 ? undefined : tx
}

/** A field of a call stands in its own record, or else in its trace or its transaction. */
const ofCall =
  (own: (call: CallRecord) => StoredValue, inTrace: Create | undefined, inTx?: Create): Create =>
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
  (kind: FieldwiseKind, name: string): Create =>
  records =>
    valueReader(kind, name, records)!

const CALL_TX = ofCall(({ tx }) => tx, TRACE_TX)

/** Fields that do not stand in the records of their kind. */
const DERIVED: Partial<Record<Kind, ReadonlyMap<string, Create>>> = {
  block: new Map([
    ['number', () => blockOf],
    ['hash', BLOCK_HASH],
    ['timestamp', TIME],
  ]),
  tx: new Map([
    ['hash', transactionHash(() => placeOf)],
    ['transactionIndex', () => placeOf],
  ]),
  log: new Map(OF_LOG),
  event: new Map([...OF_BLOCK, ...OF_LOG]),
  trace: new Map([
    ['transactionPosition', TRACE_TX],
    ['transactionHash', transactionHash(TRACE_TX)],
  ]),
  call: new Map([
    ['from', ofCall(({ from }) => from, field('trace', 'action.from'))],
    ['to', ofCall(({ to }) => to, field('trace', 'action.to'))],
    ['value', ofCall(() => undefined, field('trace', 'action.value'), field('tx', 'value'))],
    ['callType', ofCall(({ callType }) => callType, field('trace', 'callType'))],
    ['revertReason', ofCall(() => undefined, field('trace', 'revertReason'))],
    ['revertName', ofCall(() => undefined, field('trace', 'revertName'))],
    ['reverted', ofCall(({ reverted }) => reverted, undefined)],
    ['transactionIndex', CALL_TX],
    ['transactionHash', transactionHash(CALL_TX)],
  ]),
}
