import { RARE, type RestKind } from '../../documents/rest.ts'
import {
  byKind,
  FIELDWISE_KINDS,
  type Field,
  type FieldOrigin,
  type FieldwiseKind,
  isListField,
  type Kind,
  type ListField,
  MAPPING,
  placesPerRow,
  RECORD_KINDS,
  wireName,
} from '../../mapping/index.ts'
import { formOfField } from '../forms/field-forms.ts'
import type { FieldForm } from '../forms/form.ts'
import { restForm } from '../forms/rest.ts'

export interface RecordColumn {
  field: string
  form: FieldForm
  wire: string
  declaration: Field | ListField
}

export const PLACES_PER_ROW = byKind(RECORD_KINDS, placesPerRow)

const fieldwise: ReadonlySet<Kind> = new Set(FIELDWISE_KINDS)
export const isFieldwise = (kind: Kind): kind is FieldwiseKind => fieldwise.has(kind)

const recordColumn = (kind: FieldwiseKind, field: string, declaration: Field | ListField): RecordColumn => ({
  field,
  form: formOfColumn(kind, declaration),
  wire: wireName(field, declaration),
  declaration,
})

const formOfColumn = (kind: FieldwiseKind, declaration: Field | ListField): FieldForm =>
  !isListField(declaration) && declaration.kind === 'flattened'
    ? REST_VALUES[kind as RestKind].form
    : formOfField(declaration)

export type RareColumn = RecordColumn & { number: number }

/** Fields of few chains by name; the kind's `extra` holds them, too. */
export const RARE_COLUMNS: Readonly<Record<RestKind, ReadonlyMap<string, RareColumn>>> = byKind(
  ['block', 'tx'],
  kind =>
    new Map(
      Array.from(RARE[kind], ([field, declaration]) => [
        field,
        { ...recordColumn(kind, field, declaration), number: declaration.rare! },
      ]),
    ),
)

export const REST_VALUES = byKind(['block', 'tx'], kind => restForm([...RARE_COLUMNS[kind].values()]))

const STORED_ORIGINS: ReadonlySet<FieldOrigin> = new Set(['wire', 'receipt', 'decoded', 'rest'])

/** The stored fields of a kind: small ones first. */
const recordColumns = (kind: FieldwiseKind): readonly RecordColumn[] => {
  const isStored = (declaration: Field | ListField) =>
    STORED_ORIGINS.has(declaration.origin) &&
    (isListField(declaration) || !(declaration.apart || declaration.rare !== undefined))
  const isBulk = ({ declaration }: RecordColumn) => isListField(declaration) || declaration.bulk === true
  const columns = Object.entries(MAPPING[kind].fields).flatMap(([field, declaration]) =>
    isStored(declaration) ? [recordColumn(kind, field, declaration)] : [],
  )
  return [...columns.filter(column => !isBulk(column)), ...columns.filter(isBulk)]
}

export const RECORD_COLUMNS: Record<FieldwiseKind, readonly RecordColumn[]> = byKind(FIELDWISE_KINDS, recordColumns)

/** Index of a field; -1 if it is not stored. */
export const columnIndex = (kind: FieldwiseKind, field: string): number =>
  RECORD_COLUMNS[kind].findIndex(column => column.field === field)

export const REST_INDEX: Readonly<Record<RestKind, number>> = byKind(['block', 'tx'], kind =>
  columnIndex(kind, 'extra'),
)
