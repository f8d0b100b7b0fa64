import { asBigint } from '../../documents/show.ts'
import type { FieldPath, FieldwiseKind, Kind } from '../../mapping/index.ts'
import type { Value } from '../../query/ast.ts'
import { valuesOf } from '../../query/predicate.ts'
import { columnIndex, type Form, isFieldwise, RECORD_COLUMNS } from '../documents/forms.ts'
import { unpack } from '../documents/pack.ts'
import type { RecordView } from '../documents/record-reader.ts'
import { cursor } from '../documents/records/cursor.ts'
import { seek } from '../documents/records/fields.ts'
import { newTraceRecord, readTrace } from '../documents/records/trace.ts'
import { createStored } from '../documents/stored.ts'
import type { Reader } from '../reader.ts'
import { blockOf } from '../schema.ts'
import { createFields, hashesOf } from './fields.ts'

/** Forms that one value cannot stand for, and that the record tells alone. */
const FORMS: ReadonlySet<Form> = new Set(['words', 'hashes', 'list', 'integers', 'bloom', 'rest'])

/**
 * Reads the values of a field that is a list, or packed data, from the record of the document at a position; undefined where the field takes
 * the whole document.
 */
export const memberReader = (
  kind: Kind,
  field: FieldPath,
  reader: Reader,
): ((position: number) => Value[]) | undefined => {
  const name = field.list?.name ?? field.field
  const read = kind === 'log' ? ofLog(name, reader) : isFieldwise(kind) ? ofRecord(kind, name, reader) : undefined
  if (!read) return undefined
  const steps = name.split('.').toReversed()
  return position => {
    const shown = read(position)
    const source = steps.reduce<unknown>((inner, step) => ({ [step]: inner }), shown)
    return valuesOf(field, source as Record<string, unknown>)
  }
}

/** In place of a filter that follows from logs: each is too long to be compared with. */
const FILTER = `0x${'0'.repeat(512)}`

/** Reads a member of `_source`. */
type Member = (position: number) => unknown

const ofLog = (name: string, reader: Reader): Member | undefined => {
  if (name !== 'data' && name !== 'topics') return undefined
  const stored = createStored(reader)
  return position => stored.log(position)?.[name]
}

const ofRecord = (kind: FieldwiseKind, name: string, reader: Reader): Member | undefined => {
  const { records } = reader
  if (kind === 'block' && name === 'transactions')
    return position => {
      const block = records.block(blockOf(position))
      return block && hashesOf(block.hashes, block.txs * 32)
    }
  if (kind === 'trace' && name === 'action.input')
    return position => {
      const packed = records.traceInput(position)
      return packed && unpack(packed.bytes.subarray(packed.start, packed.end), reader.addressDigits)
    }
  const index = columnIndex(kind, name)
  const form = RECORD_COLUMNS[kind][index]?.form
  if (form === undefined || !FORMS.has(form)) return undefined
  const { show } = createFields({ reader, big: asBigint, bloomAt: () => FILTER })
  const offsetIn = kind === 'trace' ? traceOffset(index) : offsetOf(kind, index)
  return position => {
    const view = kind === 'block' ? records.blockRecord(blockOf(position)) : records.find(kind, position)
    return view && show(kind, index, view.bytes, offsetIn(view), position)
  }
}

/** Where a field begins; -1 where the record does not have it. */
const offsetOf =
  (kind: FieldwiseKind, index: number) =>
  ({ bytes, start }: RecordView): number =>
    seek(kind, index, bytes, start) ? cursor.at : -1

const traceOffset = (index: number) => {
  const trace = newTraceRecord()
  return ({ bytes, start }: RecordView): number => {
    readTrace(bytes, start, trace)
    return trace.offsets[index]!
  }
}
