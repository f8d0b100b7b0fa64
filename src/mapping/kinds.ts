/**
 * The kinds that a field can have. A kind fixes how a value looks in `_source`, under which sub-paths it can be asked
 * for, and how each of those compares. Where kinds differ, readers of the mapping keep one exhaustive table each
 * (`satisfies Record<FieldKind, …>`), so that a new kind is a compile error until every reader knows it.
 */
export type FieldKind =
  | 'address'
  | 'hex'
  | 'hexList'
  | 'hexNumber'
  | 'quantity'
  | 'wide'
  | 'amount'
  | 'boolean'
  | 'seconds'
  | 'datetime'
  | 'keyword'
  | 'text'
  | 'long'
  | 'integers'
  | 'double'
  | 'integer256'
  | 'decimal'
  | 'flattened'

export type EsType = 'keyword' | 'text' | 'long' | 'double' | 'boolean' | 'date' | 'flattened'

/**
 * What two values of an encoding are compared as.
 * `hex`: hex text without letter case, as lower-case text. `exact`: text with letter case. `token`: one token of
 * Elasticsearch's standard analysis. `long`: 64-bit integer. `integer`: one of any size, written in decimal digits. `double`: IEEE double.
 * `instant`: milliseconds since 1970.
 */
export type ValueComparison = 'hex' | 'exact' | 'token' | 'long' | 'integer' | 'double' | 'boolean' | 'instant'

export interface Encoding {
  es: EsType
  compare: ValueComparison
  /** Longest text that is indexed, in characters; longer values stay in `_source` but match nothing. */
  ignoreAbove?: number
  /** `_source` has it only if a request names it. */
  apart?: true
}

const MAX_INDEXED_CHARACTERS = 256
const hexEncoding: Encoding = { es: 'keyword', compare: 'hex', ignoreAbove: MAX_INDEXED_CHARACTERS }
const exactEncoding: Encoding = { es: 'keyword', compare: 'exact', ignoreAbove: MAX_INDEXED_CHARACTERS }
const tokenEncoding: Encoding = { es: 'text', compare: 'token' }
const longEncoding: Encoding = { es: 'long', compare: 'long' }
const integerEncoding: Encoding = { es: 'keyword', compare: 'integer', apart: true }
const doubleEncoding: Encoding = { es: 'double', compare: 'double' }
const instantEncoding: Encoding = { es: 'date', compare: 'instant' }

/**
 * Sub-path → encoding; `''` is the field's own path.
 *
 * - `address`: EIP-55 checksummed 20 bytes.
 * - `hex`: bytes of any length. `hexList`: a list of them. `hexNumber`: an integer shown as hex text only.
 * - `quantity`: unsigned integer shown as `{num, raw}`; `num` is null where it does not fit a signed 64-bit long. `dec` has all digits of
 *   an integer; it is searched and sorted by as one.
 * - `wide`: unsigned integer shown as `{padded, raw}`; `padded` has 64 hex digits, for sorting.
 * - `amount`: `{num, coin, padded, raw}`; `coin` is the amount in the chain's native unit.
 * - `seconds`: a date shown as epoch seconds. `datetime`: a date shown as `YYYY-MM-DDThh:mm:ss` in UTC.
 * - `text`: text with an exact `raw` sub-field. `keyword`: exact text.
 * - `integers`: a list of small integers.
 * - `decimal`: all digits of an integer that another field shows.
 * - `flattened`: an object with any members, as the chain tells them; `extra.a.b` asks for one of them, `extra` for any.
 * - `integer256`: JSON integer or null where the value does not fit a signed 64-bit long; never a `raw`.
 */
export const ENCODINGS = {
  address: { '': tokenEncoding, raw: exactEncoding },
  hex: { '': hexEncoding },
  hexList: { '': hexEncoding },
  hexNumber: { '': hexEncoding },
  quantity: { num: longEncoding, raw: hexEncoding, dec: integerEncoding },
  wide: { padded: hexEncoding, raw: hexEncoding, dec: integerEncoding },
  amount: { num: longEncoding, coin: doubleEncoding, padded: hexEncoding, raw: hexEncoding, dec: integerEncoding },
  boolean: { '': { es: 'boolean', compare: 'boolean' } },
  seconds: { '': instantEncoding },
  datetime: { '': instantEncoding },
  keyword: { '': exactEncoding },
  text: { '': tokenEncoding, raw: exactEncoding },
  long: { '': longEncoding },
  integers: { '': longEncoding },
  double: { '': doubleEncoding },
  integer256: { '': longEncoding },
  decimal: { '': integerEncoding },
  flattened: { '': { es: 'flattened', compare: 'exact', ignoreAbove: MAX_INDEXED_CHARACTERS } },
} as const satisfies Record<FieldKind, Record<string, Encoding>>

/** Where the values of a field come from. */
export type FieldOrigin =
  /** A member of the wire object of this kind of document (`wire` names it where it differs from the field's name). */
  | 'wire'
  /** A member of the transaction's receipt. */
  | 'receipt'
  /** The block that holds the document. */
  | 'block'
  /** The transaction that holds the document. */
  | 'transaction'
  /** Members of the wire's objects that no field names. */
  | 'rest'
  /** The document's place in the chain. */
  | 'position'
  /** Worked out by decoding. */
  | 'decoded'

export interface Field {
  kind: FieldKind
  /** One sentence for the reference docs. */
  doc: string
  origin: FieldOrigin
  /** Member of the wire object, if its name differs. */
  wire?: string
  /** Stored behind the small fields, since it is long and seldom read. */
  bulk?: true
  /**
   * Few chains have it: it is stored in one value with others, under this number, which is unique
   * in the kind and never changes. Values of another form go into `extra`; null is not stored.
   */
  rare?: number
  /** Stored elsewhere than among the fields of the record. */
  apart?: true
  /** Holds ABI-encoded data: mostly 32-byte words. */
  words?: true
  /** A bloom filter that follows from the document's own logs. */
  bloom?: true
  /** Has a column (doc values) under this unique number, which never changes. */
  column?: number
  /** Has postings under this unique number, which never changes: conditions on it cost no scan. */
  indexed?: number
  /** Every value has so many bytes. */
  bytes?: number
  /** There are no other values. */
  values?: readonly string[]
  /** Every value is a name as Solidity has them. */
  identifier?: true
  /** Stays in `_source` but cannot be asked for (`index: false` in Elasticsearch). */
  hidden?: true
}

/**
 * A list of objects. `nested`: conditions inside a `nested` clause hold within one element, and outside of one they match
 * nothing. `object`: the members are flattened over all elements, as Elasticsearch does with plain objects.
 */
export interface ListField {
  list: 'nested' | 'object'
  doc: string
  origin: FieldOrigin
  members: Record<string, Field>
}

/** How the documents of a kind are stored. */
export type KindStorage =
  /** As a row for each block. */
  | { in: 'block'; by: 'fields' }
  /**
   * As records, those of `perRow` neighbouring places in one row; segments number the documents. A record is written `by` its fields, or in
   * a form of its own.
   */
  | { in: 'records'; perRow: number; by: 'fields' | 'form' }
  /** As the logs that they are. */
  | { in: 'log' }
  /** They are few: as rows that have indexes of their own, and that segments do not know of. */
  | { in: 'rows' }

export interface DocumentMapping {
  doc: string
  /** As sentences call one. */
  name: string
  /** Kinds that its parent may have, which `_parent` names. Parent and child lie in the same block. */
  parents: readonly string[]
  stored: KindStorage
  fields: Record<string, Field | ListField>
}

type FieldOptions = Partial<Omit<Field, 'kind' | 'doc'>>
type Maker = (doc: string, options?: FieldOptions) => Field

const BULK: ReadonlySet<FieldKind> = new Set(['hex', 'hexList', 'hexNumber', 'flattened'])

const createMakers = (origin: FieldOrigin): Record<FieldKind, Maker> => {
  const maker =
    (kind: FieldKind): Maker =>
    (doc, options = {}) => ({ kind, doc, origin, ...(BULK.has(kind) && { bulk: true }), ...options })
  return Object.fromEntries(Object.keys(ENCODINGS).map(kind => [kind, maker(kind as FieldKind)])) as Record<
    FieldKind,
    Maker
  >
}

/** Makers of fields, by kind, for the declarations in `documents/`. */
export const is = createMakers('wire')
export const decodedField = createMakers('decoded')

export const listField = (
  list: ListField['list'],
  doc: string,
  members: Record<string, Field>,
  origin: FieldOrigin = 'wire',
): ListField => ({
  list,
  doc,
  origin,
  members,
})
