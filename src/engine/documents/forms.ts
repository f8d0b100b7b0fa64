import { RARE, type RestKind } from '../../documents/rest.ts'
import {
  byKind,
  FIELDWISE_KINDS,
  type Field,
  type FieldKind,
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

/** How a field is stored in a record; see docs/layout.md for the bytes. Several kinds share a form. */
export type Form =
  /** Id in the dictionary of addresses; 0 is an explicit null. */
  | 'address'
  /** Bytes with their length. */
  | 'bytes'
  /** Bytes of ABI data, packed word by word (see pack.ts). */
  | 'words'
  /** Bytes, or one byte that says that it is the bloom filter of the transaction's logs. */
  | 'bloom'
  /** Items of 32 bytes, one behind the other. */
  | 'hashes'
  /** Unsigned integer: a small one is a byte, any other its big-endian bytes behind their number. */
  | 'uint'
  /** As `uint`, but keeps an even number of digits with leading zeros as they are. */
  | 'digits'
  /** 0, 1, or 2 for an explicit null. */
  | 'boolean'
  /** Id in the dictionary of names. */
  | 'name'
  /** Small integers, as varints. */
  | 'integers'
  /** A list of objects, as RLP of their members in the order of the mapping. */
  | 'list'
  /** Fields that few chains have, and members that no field names; see records/rest.ts. */
  | 'rest'

const FORMS = {
  address: 'address',
  hex: 'bytes',
  hexList: 'hashes',
  hexNumber: 'digits',
  quantity: 'uint',
  wide: 'uint',
  amount: 'uint',
  boolean: 'boolean',
  seconds: 'uint',
  datetime: 'uint',
  keyword: 'name',
  text: 'name',
  long: 'uint',
  integers: 'integers',
  double: 'uint',
  integer256: 'uint',
  decimal: 'uint',
  flattened: 'rest',
} as const satisfies Record<FieldKind, Form>

/** A field of a record. */
export interface Column {
  /** Name of the field in the mapping. */
  field: string
  form: Form
  origin: Origin
  /** Member of the wire object. */
  wire: string
  declaration: Field | List
}

/** One that a single field has to itself. */
export type ValueColumn = Column & { form: Exclude<Form, 'rest'> }
export const isOfOneField = (column: Column): column is ValueColumn => column.form !== 'rest'

/** Neighbouring places of a block whose records share a row. */
export const PLACES_PER_ROW = byKind(RECORD_KINDS, placesPerRow)

const fieldwise: ReadonlySet<Kind> = new Set(FIELDWISE_KINDS)
export const isFieldwise = (kind: Kind): kind is FieldwiseKind => fieldwise.has(kind)

const storedOrigins = new Set<Origin>(['wire', 'receipt', 'decoded', 'rest'])

const columnsOf = (kind: FieldwiseKind): Column[] =>
  Object.entries(MAPPING[kind].fields)
    .filter(
      ([, declaration]) =>
        storedOrigins.has(declaration.origin) && (isList(declaration) || declaration.rare === undefined),
    )
    .map(([field, declaration]) => columnOf(field, declaration))

const columnOf = (field: string, declaration: Field | List): Column => ({
  field,
  form: formOf(declaration),
  origin: declaration.origin,
  wire: wireName(field, declaration),
  declaration,
})

const formOf = (declaration: Field | List): Form => {
  if (isList(declaration)) return 'list'
  if (declaration.bloom) return 'bloom'
  return declaration.words ? 'words' : FORMS[declaration.kind]
}

/** Fields of a record in their order: those that are small come first. */
const recordColumns = (kind: FieldwiseKind): readonly Column[] => {
  const columns = columnsOf(kind).filter(({ declaration }) => isList(declaration) || !declaration.apart)
  const isBulk = ({ declaration }: Column) => isList(declaration) || declaration.bulk === true
  return [...columns.filter(column => !isBulk(column)), ...columns.filter(isBulk)]
}

export const RECORD_COLUMNS: Record<FieldwiseKind, readonly Column[]> = byKind(FIELDWISE_KINDS, recordColumns)

/** Those of a field that has one of its own. */
export const valueColumn = (kind: FieldwiseKind, index: number): ValueColumn =>
  RECORD_COLUMNS[kind][index] as ValueColumn

/** Which of a record's fields has this name; -1 where none has. */
export const columnIndex = (kind: FieldwiseKind, field: string): number =>
  RECORD_COLUMNS[kind].findIndex(column => column.field === field)

export type RareColumn = ValueColumn & { number: number }

/** Fields that few chains have, by their names. */
export const RARE_COLUMNS: Readonly<Record<RestKind, ReadonlyMap<string, RareColumn>>> = byKind(
  ['block', 'tx'],
  kind =>
    new Map(
      [...RARE[kind]].map(([field, declaration]) => [
        field,
        { ...columnOf(field, declaration), number: declaration.rare! } as RareColumn,
      ]),
    ),
)

/** The same by their numbers, which have holes. */
export const RARE_BY_NUMBER: Readonly<Record<RestKind, readonly (Column | undefined)[]>> = byKind(
  ['block', 'tx'],
  kind => {
    const columns: (Column | undefined)[] = []
    for (const column of RARE_COLUMNS[kind].values()) columns[column.number] = column
    return columns
  },
)

/** Which of a record's fields holds them. */
export const REST: Readonly<Record<RestKind, number>> = byKind(['block', 'tx'], kind => columnIndex(kind, 'extra'))
