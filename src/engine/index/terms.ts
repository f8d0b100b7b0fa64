import {
  COUNTED_KINDS,
  type CountedKind,
  type Field,
  type FieldPath,
  fieldsOf,
  type Kind,
} from '../../mapping/index.ts'
/**
 * Keys of the inverted index. A term is value × 2^22 + field; the field is the role of the value in
 * the document. Values below 2^30 are dictionary ids; others are the high part of a 62-bit hash,
 * whose low part is the posting's `fingerprint`. So all roles of an address are one range of keys.
 */
export const FIELDS_PER_VALUE = 2 ** 22
export const HASHED = 2 ** 30

export const termOf = (value: number, field: number): number => value * FIELDS_PER_VALUE + field
export const fieldOfTerm = (term: number): number => term % FIELDS_PER_VALUE

/** A field that has postings, as the mapping declares it. */
export interface PostingsField {
  kind: CountedKind
  /** Its path, such as `action.from`. */
  field: string
  id: number
  declaration: Field
}

export const POSTINGS_FIELDS: readonly PostingsField[] = COUNTED_KINDS.flatMap(kind =>
  fieldsOf(kind).flatMap(({ path, field }) =>
    field.indexed === undefined ? [] : [{ kind, field: path, id: field.indexed, declaration: field }],
  ),
)

const FIELD_IDS: ReadonlyMap<string, number> = new Map(
  POSTINGS_FIELDS.map(({ kind, field, id }) => [`${kind}.${field}`, id]),
)

/** Id of a field; undefined if it has no own postings. */
export const findFieldId = (kind: Kind, field: string): number | undefined => FIELD_IDS.get(`${kind}.${field}`)

/** Id of a field that the mapping declares as indexed. */
export const fieldId = (kind: CountedKind, field: string): number => {
  const id = findFieldId(kind, field)
  if (id === undefined) throw new Error(`${kind}.${field} is not indexed`)
  return id
}

/** In place of a field: logs without a known name, which are no events (value 0). */
export const UNDECODED = 7

/**
 * Two ranges follow the documents' own fields. First a field per signature: value 0 has all its
 * logs, an address those it emitted. Then 15 fields per signature for arguments: 0 … 13 by
 * position, 14 for all later ones; without a declaration, 0 … 2 are the topics after the first.
 */
const FIRST_LOG_FIELD = 64
const ARGUMENT_SLOTS = 15
/** Maximal number of signatures. */
export const SIGNATURES = Math.floor((FIELDS_PER_VALUE - FIRST_LOG_FIELD) / (ARGUMENT_SLOTS + 1))
export const FIRST_ARGUMENT_FIELD = FIRST_LOG_FIELD + SIGNATURES
export const OVERFLOW_SLOT = ARGUMENT_SLOTS - 1

/** In place of the value of an argument that is longer than an index of keywords holds. */
export const TOO_LONG = 0

/** Key of the one signature that all logs share whose own one the dictionary has no room for. */
export const UNLISTED = 'unlisted'
/** The same for calls. */
export const UNLISTED_CALL = 'call/unlisted'

export const logField = (signature: number): number => FIRST_LOG_FIELD + signature
export const argumentSlot = (pos: number): number => Math.min(pos, OVERFLOW_SLOT)
export const argumentField = (signature: number, slot: number): number =>
  FIRST_ARGUMENT_FIELD + signature * ARGUMENT_SLOTS + slot

export const signatureOfLogField = (field: number): number => field - FIRST_LOG_FIELD
export const argumentOf = (field: number): { signature: number; slot: number } => {
  const place = field - FIRST_ARGUMENT_FIELD
  const signature = Math.floor(place / ARGUMENT_SLOTS)
  return { signature, slot: place - signature * ARGUMENT_SLOTS }
}

/** The signature that a field is of; undefined for one of documents' own. */
export const signatureOfField = (field: number): number | undefined =>
  field < FIRST_LOG_FIELD
    ? undefined
    : field < FIRST_ARGUMENT_FIELD
      ? signatureOfLogField(field)
      : argumentOf(field).signature

/** First and last term of a value as an emitter (value 0: of all logs), for any signature. */
export const logTerms = (value: number): [number, number] => [
  termOf(value, FIRST_LOG_FIELD),
  termOf(value, FIRST_ARGUMENT_FIELD - 1),
]
/** First and last term of a value as an argument, for any signature. */
export const argumentTerms = (value: number): [number, number] => [
  termOf(value, FIRST_ARGUMENT_FIELD),
  termOf(value, FIELDS_PER_VALUE - 1),
]

/** Keys of `num`: integers and scaled values of an argument. */
export const integersField = (signature: number, slot: number): number => argumentField(signature, slot) * 2
export const scaledField = (signature: number, slot: number): number => argumentField(signature, slot) * 2 + 1

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
export const columnFieldOf = (kind: Kind, { field }: Pick<FieldPath, 'field'>): ColumnField | undefined =>
  BY_NAME.get(`${kind === 'event' ? 'log' : kind}.${field}`)
export const columnNumber = (kind: CountedKind, field: string): number => BY_NAME.get(`${kind}.${field}`)!.number
/** Undefined if no current field has the number. */
export const columnByNumber = (number: number): ColumnField | undefined => BY_NUMBER.get(number)
