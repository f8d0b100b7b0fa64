import type { Field, FieldKind, Kind, List, Origin } from '../../mapping/index.ts'
import { isList, MAPPING } from '../../mapping/index.ts'

/** How a field is stored. Several kinds share a form. */
export type Form =
  /** Dictionary id; 0 is an explicit null. */
  | 'address'
  /** Bytes; the integer 0 is an explicit null. */
  | 'bytes'
  /** Bytes of ABI data, packed word by word (see pack.ts). */
  | 'words'
  /** The integer 1 where it equals the bloom filter of the transaction's logs, else bytes. */
  | 'bloom'
  /** Items of 32 bytes, one behind the other. */
  | 'hashes'
  /** Unsigned integer in SQLite's own order: an INTEGER below 2^53, else a BLOB of its length and its big-endian bytes; -1 is an explicit null. */
  | 'uint'
  /** As `uint`, but keeps an even number of digits with leading zeros as they are, as bytes behind a zero byte. */
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

export interface Column {
  /** Name of the field in the mapping and of the column in SQL. */
  field: string
  form: Form
  table: string
  origin: Origin
  /** Member of the wire object. */
  wire: string
  declaration: Field | List
}

/** SQLite's declared types: INT affinity where it matters that a double such as 5.0 is stored as an integer. */
export const SQL_TYPES = {
  address: 'INT',
  bytes: 'BLOB',
  words: 'BLOB',
  bloom: 'BLOB',
  hashes: 'BLOB',
  uint: 'INT',
  digits: 'INT',
  boolean: 'INT',
  name: 'INT',
  integers: 'BLOB',
  list: 'BLOB',
} as const satisfies Record<Form, string>

/** Kinds that are stored field by field. */
export type Stored = 'block' | 'tx' | 'trace'
export const isStored = (kind: Kind): kind is Stored => kind === 'block' || kind === 'tx' || kind === 'trace'

const storedOrigins = new Set<Origin>(['wire', 'receipt', 'decoded'])

/** Columns of the kinds that are stored field by field. Logs and events share a table of their own form (see schema.ts). */
export const columnsOf = (kind: Stored): Column[] =>
  Object.entries(MAPPING[kind].fields)
    .filter(([, declaration]) => storedOrigins.has(declaration.origin))
    .map(([field, declaration]) => ({
      field,
      form: formOf(declaration),
      // Blocks are few: one table is enough for them.
      table: kind !== 'block' && (isList(declaration) || declaration.bulk) ? `${kind}_bulk` : kind,
      origin: declaration.origin,
      wire: (isList(declaration) ? undefined : declaration.wire) ?? field,
      declaration,
    }))

const formOf = (declaration: Field | List): Form => {
  if (isList(declaration)) return 'list'
  if (declaration.bloom) return 'bloom'
  return declaration.words ? 'words' : FORMS[declaration.kind]
}

/** Columns in the order in which they stand in a table, behind `pos`. */
export const tableColumns = (kind: Kind, table: string): Column[] =>
  isStored(kind) ? columnsOf(kind).filter(column => column.table === table) : []

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
