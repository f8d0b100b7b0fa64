import type { Field, FieldPath, Kind } from '../../mapping/index.ts'
import { isList, MAPPING } from '../../mapping/index.ts'
import type { Counted } from './counted.ts'

/** A field that has a column, as the mapping declares it. */
export interface ColumnField {
  kind: Counted
  field: string
  /** Number of the column in the store. */
  number: number
  declaration: Field
}

const KINDS = ['block', 'tx', 'log', 'trace', 'call'] as const satisfies readonly Counted[]

export const COLUMN_FIELDS: readonly ColumnField[] = KINDS.flatMap(kind =>
  Object.entries<Field | { list: unknown }>(MAPPING[kind].fields).flatMap(([field, declaration]): ColumnField[] => {
    if (isList(declaration as Field) || (declaration as Field).column === undefined) return []
    return [{ kind, field, number: (declaration as Field).column!, declaration: declaration as Field }]
  }),
)

const BY_NAME: ReadonlyMap<string, ColumnField> = new Map(COLUMN_FIELDS.map(one => [`${one.kind}.${one.field}`, one]))
const BY_NUMBER: ReadonlyMap<number, ColumnField> = new Map(COLUMN_FIELDS.map(one => [one.number, one]))

/** Events have the columns of their logs. */
export const columnOf = (kind: Kind, { field }: Pick<FieldPath, 'field'>): ColumnField | undefined =>
  BY_NAME.get(`${kind === 'event' ? 'log' : kind}.${field}`)

export const columnNumber = (kind: Counted, field: string): number => BY_NAME.get(`${kind}.${field}`)!.number

/** Undefined where no field of today has the number. */
export const columnByNumber = (number: number): ColumnField | undefined => BY_NUMBER.get(number)
