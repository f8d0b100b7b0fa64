import type { ByteWriter } from '../../lib/bytes.ts'
import { type FieldwiseKind, MAPPING } from '../../mapping/index.ts'
import { present } from '../../sqlite/damage.ts'
import { isOfOneField, RARE_COLUMNS, RECORD_COLUMNS, REST } from '../documents/forms.ts'
import type { RecordView } from '../documents/record-reader.ts'
import { cursor } from '../documents/records/cursor.ts'
import { locate } from '../documents/records/fields.ts'
import { seekRare, startOfExtra } from '../documents/records/rest.ts'
import { takeLength } from '../documents/records/values.ts'
import { writeJson, writeObject } from './pieces.ts'
import { type FieldPlan, planMembers, planSource, type Write } from './plan.ts'
import type { Show } from './show.ts'
import type { createValues } from './values.ts'

/** The fields of the record at hand, of a kind that is stored field by field. */
export interface RecordFields {
  /** Goes to a record. */
  read(view: RecordView | undefined): void
  has(field: string): boolean
  /** Puts the cursor before a field's value and returns the record's bytes; undefined where it has none. */
  seek(field: string): Buffer | undefined
  /** Writers of all its fields, by name. */
  writers: ReadonlyMap<string, (plan: FieldPlan) => Write>
}

/**
 * What writes `_source` of a kind whose records are written field by field; `derived` are the fields that its records do not tell, and
 * `view` gives the record of the document at hand.
 */
export const recordSource = (
  kind: Exclude<FieldwiseKind, 'trace'>,
  record: RecordFields,
  derived: Readonly<Record<string, (plan: FieldPlan) => Write>>,
  view: () => RecordView | undefined,
): Show['source'] => {
  const fields = new Map([...record.writers, ...Object.entries(derived)])
  const ordered = Object.fromEntries(Object.keys(MAPPING[kind].fields).map(name => [name, fields.get(name)!]))
  return filter => {
    const plan = planSource(kind, filter)
    if (!plan) return undefined
    const members = planMembers(plan, ordered)
    const needsRecord = [...record.writers.keys()].some(name => plan.field(name))
    return out => {
      if (needsRecord) record.read(view())
      writeObject(out, members)
    }
  }
}

export const createRecordFields = (
  kind: Exclude<FieldwiseKind, 'trace'>,
  { value }: Pick<ReturnType<typeof createValues>, 'value'>,
  ownBloom?: (out: ByteWriter) => void,
): RecordFields => {
  const columns = RECORD_COLUMNS[kind]
  const offsets = new Int32Array(columns.length)
  const at: RecordAt = { bytes: Buffer.alloc(0), offsets }
  return {
    read(view) {
      const { bytes, start } = present(view, `a record of the kind ${kind}`)
      at.bytes = bytes
      locate(kind, bytes, start, offsets)
    },
    ...fieldsAt(kind, at, { value }, ownBloom),
  }
}

/** Where the fields of a record begin in the bytes of its row. */
export interface RecordAt {
  bytes: Buffer
  offsets: Int32Array
}

/** Fields of the record that `at` points into. */
export const fieldsAt = (
  kind: FieldwiseKind,
  at: RecordAt,
  { value }: Pick<ReturnType<typeof createValues>, 'value'>,
  ownBloom?: (out: ByteWriter) => void,
): Omit<RecordFields, 'read'> => {
  const columns = RECORD_COLUMNS[kind]
  const indexes = new Map(columns.map(({ field }, index) => [field, index]))
  const offsetOf = (field: string): number => {
    const index = indexes.get(field)
    return index === undefined ? -1 : at.offsets[index]!
  }
  return {
    has: field => offsetOf(field) >= 0,
    seek(field) {
      cursor.at = offsetOf(field)
      return cursor.at < 0 ? undefined : at.bytes
    },
    writers: new Map([
      ...restWriters(kind, at, { value }),
      ...columns.flatMap((column, index): [string, (plan: FieldPlan) => Write][] => {
        if (!isOfOneField(column)) return []
        return [
          [
            column.field,
            (plan: FieldPlan): Write => {
              const write = value(column, plan, ownBloom)
              return out => {
                const offset = at.offsets[index]!
                if (offset < 0) return false
                cursor.at = offset
                return write(out, at.bytes)
              }
            },
          ],
        ]
      }),
    ]),
  }
}

/** Of fields that few chains have, and of members that no field names. */
const restWriters = (
  kind: FieldwiseKind,
  at: RecordAt,
  { value }: Pick<ReturnType<typeof createValues>, 'value'>,
): [string, (plan: FieldPlan) => Write][] => {
  if (kind === 'trace') return []
  /** Puts the cursor behind the length, and returns where they end; -1 where there are none. */
  const enter = (): number => {
    cursor.at = at.offsets[REST[kind]]!
    return cursor.at < 0 ? -1 : takeLength(at.bytes) + cursor.at
  }
  const rare = [...RARE_COLUMNS[kind].values()].map((column): [string, (plan: FieldPlan) => Write] => [
    column.field,
    plan => {
      const write = value(column, plan)
      return out => {
        const end = enter()
        return end >= 0 && seekRare(kind, column.number, at.bytes, end) && write(out, at.bytes)
      }
    },
  ])
  const extra =
    (plan: FieldPlan): Write =>
    out => {
      const end = enter()
      const start = end < 0 ? end : startOfExtra(kind, at.bytes, end)
      const left = start === end ? undefined : plan.cut(JSON.parse(at.bytes.toString('utf8', start, end)))
      if (left !== undefined) writeJson(out, left)
      return left !== undefined
    }
  return [...rare, [RECORD_COLUMNS[kind][REST[kind]]!.field, extra]]
}
