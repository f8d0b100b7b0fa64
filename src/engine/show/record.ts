import type { RestKind } from '../../documents/rest.ts'
import { type FieldwiseKind, MAPPING } from '../../mapping/index.ts'
import { present } from '../../sqlite/damage.ts'
import { RARE_COLUMNS, RECORD_COLUMNS, REST, REST_VALUES } from '../documents/columns.ts'
import type { RecordView } from '../documents/record-reader.ts'
import { locate } from '../documents/records/fields.ts'
import { cursor } from '../forms/cursor.ts'
import type { Shown } from '../forms/form.ts'
import { writeObject } from '../forms/json.ts'
import { planMembers, planSource, type WriteBy } from './plan.ts'
import type { Show } from './show.ts'

/** The fields of the record at hand, of a kind that is stored field by field. */
export interface RecordFields {
  /** Goes to a record. */
  read(view: RecordView | undefined): void
  has(field: string): boolean
  /** Puts the cursor before a field's value and returns the record's bytes; undefined where it has none. */
  seek(field: string): Buffer | undefined
  /** Writers of all its fields, by name. */
  writers: ReadonlyMap<string, WriteBy>
}

/**
 * What writes `_source` of a kind whose records are written field by field; `derived` are the fields that its records do not tell, and
 * `view` gives the record of the document at hand.
 */
export const recordSource = (
  kind: Exclude<FieldwiseKind, 'trace'>,
  record: RecordFields,
  derived: Readonly<Record<string, WriteBy>>,
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

export const createRecordFields = (kind: Exclude<FieldwiseKind, 'trace'>, shown: Shown): RecordFields => {
  const offsets = new Int32Array(RECORD_COLUMNS[kind].length)
  const at: RecordAt = { bytes: Buffer.alloc(0), offsets }
  return {
    read(view) {
      const { bytes, start } = present(view, `a record of the kind ${kind}`)
      at.bytes = bytes
      locate(kind, bytes, start, offsets)
    },
    ...fieldsAt(kind, at, shown),
  }
}

/** Where the fields of a record begin in the bytes of its row. */
export interface RecordAt {
  bytes: Buffer
  offsets: Int32Array
}

/** Fields of the record that `at` points into. */
export const fieldsAt = (kind: FieldwiseKind, at: RecordAt, shown: Shown): Omit<RecordFields, 'read'> => {
  const columns = RECORD_COLUMNS[kind]
  const indexes = new Map(columns.map(({ field }, index) => [field, index]))
  const offsetOf = (field: string): number => {
    const index = indexes.get(field)
    return index === undefined ? -1 : at.offsets[index]!
  }
  const writers = columns.map(({ field, form }, index): [string, WriteBy] => [
    field,
    plan => {
      const write = form.json(plan, shown)
      return out => {
        cursor.at = at.offsets[index]!
        return cursor.at >= 0 && write(out, at.bytes)
      }
    },
  ])
  return {
    has: field => offsetOf(field) >= 0,
    seek(field) {
      cursor.at = offsetOf(field)
      return cursor.at < 0 ? undefined : at.bytes
    },
    writers: new Map([...(kind === 'trace' ? [] : rareWriters(kind, at, shown)), ...writers]),
  }
}

/** Of fields that few chains have. */
const rareWriters = (kind: RestKind, at: RecordAt, shown: Shown): [string, WriteBy][] =>
  Array.from(RARE_COLUMNS[kind].values(), ({ field, number, form }) => [
    field,
    plan => {
      const write = form.json(plan, shown)
      return out => {
        cursor.at = at.offsets[REST[kind]]!
        return cursor.at >= 0 && REST_VALUES[kind].seek(number, at.bytes) && write(out, at.bytes)
      }
    },
  ])
