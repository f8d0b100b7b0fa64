/** How an answer is written, as the client that asked reads it. */
export interface Dialect {
  /** `integer`: a number alone, as before version 7. `object`: `{value, relation}`, or nothing where no total is wanted. */
  totals: 'integer' | 'object'
  /** Whether the names of aggregations are written with their types: `avg#price`. */
  typedKeys: boolean
  /** The parts of the answer to write; all of them without a pattern. */
  filterPath?: readonly string[] | undefined
  /** Whether the patterns name the parts from above: as those of one of the `responses` of several searches. */
  isItem?: boolean | undefined
}

/** That of `…/search/`. */
export const NATIVE: Dialect = { totals: 'integer', typedKeys: false }

/** One of several answers in the list that it stands in. */
export const inList = (json: Uint8Array): Uint8Array => Buffer.concat([LIST, json, LIST_END])

/** What is left of it there; undefined where nothing is. */
export const outOfList = (json: Uint8Array): Uint8Array | undefined =>
  json.length > LIST.length ? json.subarray(LIST.length, -LIST_END.length) : undefined

/** `{"took": …}` with a member more. */
export const withStatus = (json: Uint8Array, status: number): Uint8Array =>
  Buffer.concat([json.subarray(0, -1), Buffer.from(`,"status":${status}}`)])

const LIST = Buffer.from('{"responses":[')
const LIST_END = Buffer.from(']}')
