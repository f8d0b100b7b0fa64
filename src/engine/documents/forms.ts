import type { Field, FieldKind, Kind, List, Origin } from '../../mapping/index.ts'
import { isList, MAPPING } from '../../mapping/index.ts'

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

/** Kinds whose records share rows. */
export const RECORD_KINDS = ['tx', 'log', 'trace', 'call'] as const
export type RecordKind = (typeof RECORD_KINDS)[number]

/** Neighbouring places of a block whose records share a row. */
export const PLACES_PER_ROW = { tx: 4, log: 16, trace: 16, call: 64 } as const satisfies Record<RecordKind, number>

/** Kinds that are stored field by field. */
export type Stored = 'block' | 'tx' | 'trace'
export const isStored = (kind: Kind): kind is Stored => kind === 'block' || kind === 'tx' || kind === 'trace'

const storedOrigins = new Set<Origin>(['wire', 'receipt', 'decoded'])

const columnsOf = (kind: Stored): Column[] =>
  Object.entries(MAPPING[kind].fields)
    .filter(([, declaration]) => storedOrigins.has(declaration.origin))
    .map(([field, declaration]) => ({
      field,
      form: formOf(declaration),
      origin: declaration.origin,
      wire: (isList(declaration) ? undefined : declaration.wire) ?? field,
      declaration,
    }))

const formOf = (declaration: Field | List): Form => {
  if (isList(declaration)) return 'list'
  if (declaration.bloom) return 'bloom'
  return declaration.words ? 'words' : FORMS[declaration.kind]
}

/** What stands elsewhere: in the block's row, or, of a trace's call data, behind its fields. */
const APART: Record<Stored, readonly string[]> = {
  block: ['hash', 'timestamp'],
  tx: ['hash'],
  trace: ['action.input'],
}

/** Fields of a record in their order: those that are small come first. */
const recordColumns = (kind: Stored): readonly Column[] => {
  const columns = columnsOf(kind).filter(({ field }) => !APART[kind].includes(field))
  const isBulk = ({ declaration }: Column) => isList(declaration) || declaration.bulk === true
  return [...columns.filter(column => !isBulk(column)), ...columns.filter(isBulk)]
}

export const RECORD_COLUMNS: Record<Stored, readonly Column[]> = {
  block: recordColumns('block'),
  tx: recordColumns('tx'),
  trace: recordColumns('trace'),
}

/** Which of a record's fields has this name; -1 where none has. */
export const columnIndex = (kind: Stored, field: string): number =>
  RECORD_COLUMNS[kind].findIndex(column => column.field === field)
