import { RARE, type RestKind } from '../../documents/rest.ts'
import {
  byKind,
  FIELDWISE_KINDS,
  type Field,
  type FieldwiseKind,
  isList,
  type Kind,
  type List,
  MAPPING,
  type Origin,
  placesPerRow,
  RECORD_KINDS,
  wireName,
} from '../../mapping/index.ts'
import { formOfField } from '../forms/field-forms.ts'
import type { Form } from '../forms/form.ts'
import { rest } from '../forms/rest.ts'

export interface Column {
  field: string
  form: Form
  wire: string
  declaration: Field | List
}

export const PLACES_PER_ROW = byKind(RECORD_KINDS, placesPerRow)

const fieldwise: ReadonlySet<Kind> = new Set(FIELDWISE_KINDS)
export const isFieldwise = (kind: Kind): kind is FieldwiseKind => fieldwise.has(kind)

const columnOf = (kind: FieldwiseKind, field: string, declaration: Field | List): Column => ({
  field,
  form: formOf(kind, declaration),
  wire: wireName(field, declaration),
  declaration,
})

const formOf = (kind: FieldwiseKind, declaration: Field | List): Form =>
  !isList(declaration) && declaration.kind === 'flattened'
    ? REST_VALUES[kind as RestKind].form
    : formOfField(declaration)

export type RareColumn = Column & { number: number }

/** Fields of few chains by name; the kind's `extra` holds them, too. */
export const RARE_COLUMNS: Readonly<Record<RestKind, ReadonlyMap<string, RareColumn>>> = byKind(
  ['block', 'tx'],
  kind =>
    new Map(
      Array.from(RARE[kind], ([field, declaration]) => [
        field,
        { ...columnOf(kind, field, declaration), number: declaration.rare! },
      ]),
    ),
)

export const REST_VALUES = byKind(['block', 'tx'], kind => rest([...RARE_COLUMNS[kind].values()]))

const STORED: ReadonlySet<Origin> = new Set(['wire', 'receipt', 'decoded', 'rest'])

/** The stored fields of a kind: small ones first. */
const recordColumns = (kind: FieldwiseKind): readonly Column[] => {
  const isStored = (declaration: Field | List) =>
    STORED.has(declaration.origin) && (isList(declaration) || !(declaration.apart || declaration.rare !== undefined))
  const isBulk = ({ declaration }: Column) => isList(declaration) || declaration.bulk === true
  const columns = Object.entries(MAPPING[kind].fields).flatMap(([field, declaration]) =>
    isStored(declaration) ? [columnOf(kind, field, declaration)] : [],
  )
  return [...columns.filter(column => !isBulk(column)), ...columns.filter(isBulk)]
}

export const RECORD_COLUMNS: Record<FieldwiseKind, readonly Column[]> = byKind(FIELDWISE_KINDS, recordColumns)

/** Index of a field; -1 if it is not stored. */
export const columnIndex = (kind: FieldwiseKind, field: string): number =>
  RECORD_COLUMNS[kind].findIndex(column => column.field === field)

export const REST: Readonly<Record<RestKind, number>> = byKind(['block', 'tx'], kind => columnIndex(kind, 'extra'))
