/** How an answer is written, as the client that asked reads it. */
export interface Dialect {
  /** `integer`: a number alone, as before version 7. `object`: `{value, relation}`, or nothing where no total is wanted. */
  totals: 'integer' | 'object'
  /** Whether the names of aggregations are written with their types: `avg#price`. */
  typedKeys: boolean
  /** The parts of the answer to write; all of them without a pattern. */
  filterPath?: readonly string[] | undefined
}

/** That of `…/search/`. */
export const NATIVE: Dialect = { totals: 'integer', typedKeys: false }
