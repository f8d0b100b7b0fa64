import {
  COUNTED_KINDS,
  type CountedKind,
  type Field,
  type FieldPath,
  fieldsOf,
  type Kind,
} from '../../mapping/index.ts'

/** A field that has a column, as the mapping declares it. */
export interface ColumnField {
  kind: CountedKind
  field: string
  /** Number of the column in the store. */
  number: number
  declaration: Field
}

export const COLUMN_FIELDS: readonly ColumnField[] = COUNTED_KINDS.flatMap(kind =>
  fieldsOf(kind).flatMap(({ path, field }) =>
    field.column === undefined ? [] : [{ kind, field: path, number: field.column, declaration: field }],
  ),
)

const BY_NAME: ReadonlyMap<string, ColumnField> = new Map(COLUMN_FIELDS.map(one => [`${one.kind}.${one.field}`, one]))
const BY_NUMBER: ReadonlyMap<number, ColumnField> = new Map(COLUMN_FIELDS.map(one => [one.number, one]))

/** Events have the columns of their logs. */
export const columnOf = (kind: Kind, { field }: Pick<FieldPath, 'field'>): ColumnField | undefined =>
  BY_NAME.get(`${kind === 'event' ? 'log' : kind}.${field}`)

export const columnNumber = (kind: CountedKind, field: string): number => BY_NAME.get(`${kind}.${field}`)!.number

/** Undefined where no field of today has the number. */
export const columnByNumber = (number: number): ColumnField | undefined => BY_NUMBER.get(number)
