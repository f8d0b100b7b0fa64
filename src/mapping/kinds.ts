/**
 * Kinds of fields: the form of a value in `_source`, its sub-paths, and how each of those
 * compares. Readers keep exhaustive tables (`satisfies Record<FieldKind, …>`), so a new kind fails
 * to compile until every reader knows it.
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
 * Comparison of two values.
 * `hex`: lower-case hex text. `exact`: case-sensitive text. `token`: one token of Elasticsearch's
 * standard analysis. `long`: 64-bit integer. `integer`: one of any size, in decimal digits.
 * `double`: IEEE double. `instant`: milliseconds since 1970.
 */
export type ValueComparison = 'hex' | 'exact' | 'token' | 'long' | 'integer' | 'double' | 'boolean' | 'instant'

export interface Encoding {
  es: EsType
  compare: ValueComparison
  /** Longest indexed text, in characters; longer values stay in `_source` but match nothing. */
  ignoreAbove?: number
  /** `_source` contains it only on request by name. */
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
 * - `hex`: bytes of any length. `hexList`: a list of them. `hexNumber`: an integer as hex text.
 * - `quantity`: unsigned integer as `{num, raw}`; `num` is null beyond a signed 64-bit long.
 *   `dec` has all digits, for search and sort.
 * - `wide`: unsigned integer shown as `{padded, raw}`; `padded` has 64 hex digits, for sorting.
 * - `amount`: `{num, coin, padded, raw}`; `coin` is the amount in the chain's native unit.
 * - `seconds`: a date as epoch seconds. `datetime`: a date as `YYYY-MM-DDThh:mm:ss` in UTC.
 * - `text`: text with an exact `raw` sub-field. `keyword`: exact text.
 * - `integers`: a list of small integers.
 * - `decimal`: all digits of an integer that another field shows.
 * - `flattened`: an object with any members; `extra.a.b` is one of them, `extra` any.
 * - `integer256`: JSON integer, or null beyond a signed 64-bit long; never a `raw`.
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

export type FieldOrigin =
  /** Member of this kind's wire object; `wire` names it if it differs from the field's name. */
  | 'wire'
  /** Member of the transaction's receipt. */
  | 'receipt'
  /** The block that holds the document. */
  | 'block'
  /** The transaction that holds the document. */
  | 'transaction'
  /** Members of wire objects that no field names. */
  | 'rest'
  /** The document's place in the chain. */
  | 'position'
  /** Result of decoding. */
  | 'decoded'

export interface Field {
  kind: FieldKind
  /** One sentence for the reference docs. */
  doc: string
  origin: FieldOrigin
  /** Member of the wire object, if its name differs. */
  wire?: string
  /** Stored after the small fields, since it is long and seldom read. */
  bulk?: true
  /**
   * Few chains have it: it is stored in one value with others, under this number, which is unique
   * in the kind and never changes. Values of another form go into `extra`; null is not stored.
   */
  rare?: number
  /** Stored outside of the record's fields. */
  apart?: true
  /** Holds ABI-encoded data: mostly 32-byte words. */
  words?: true
  /** A bloom filter computed from the document's own logs. */
  bloom?: true
  /** Unique, immutable number of its column (doc values). */
  column?: number
  /** Unique, immutable number of its postings, which save conditions a scan. */
  indexed?: number
  /** Length of every value in bytes. */
  bytes?: number
  /** All possible values. */
  values?: readonly string[]
  /** Every value is a Solidity identifier. */
  identifier?: true
  /** In `_source`, but not searchable (`index: false` in Elasticsearch). */
  hidden?: true
}

/**
 * List of objects. `nested`: conditions in a `nested` clause hold within one element, and match
 * nothing outside of one. `object`: members are flattened over all elements, as in Elasticsearch.
 */
export interface ListField {
  list: 'nested' | 'object'
  doc: string
  origin: FieldOrigin
  members: Record<string, Field>
}

export type KindStorage =
  /** One row per block. */
  | { in: 'block'; by: 'fields' }
  /**
   * Records of `perRow` consecutive ordinals of a segment per row, written `by` fields or in their
   * own form.
   */
  | { in: 'records'; perRow: number; by: 'fields' | 'form' }
  /** Stored with the logs. */
  | { in: 'log' }
  /** Few documents, as rows with indexes of their own, outside of segments. */
  | { in: 'rows' }

export interface DocumentMapping {
  doc: string
  /** Noun for sentences. */
  name: string
  /** Possible kinds of its parent, which `_parent` names. Parent and child share a block. */
  parents: readonly string[]
  /** Name of the list in which rules of the original service expect these documents: it leads to the document itself. */
  listedAs?: string
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

/** Makers of fields by kind, for the declarations in `documents/`. */
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
