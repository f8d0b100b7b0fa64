import type { FieldPath } from '../mapping/index.ts'

/**
 * The meaning of a query on ONE kind of entity: checked against the mapping, values canonical, parentheses and negation
 * in the tree. It knows neither Elasticsearch's spelling nor SQL. Nodes are frozen data.
 */
export type Node =
  | { readonly op: 'all' }
  | { readonly op: 'none' }
  | { readonly op: 'and'; readonly of: readonly Node[] }
  | { readonly op: 'or'; readonly of: readonly Node[] }
  /** At least `count` of the nodes hold (Elasticsearch's minimum_should_match). */
  | { readonly op: 'atLeast'; readonly count: number; readonly of: readonly Node[] }
  | { readonly op: 'not'; readonly of: Node }
  /** The field has one of these values. Of a list field: one of its elements has. */
  | { readonly op: 'in'; readonly field: FieldPath; readonly values: readonly Value[] }
  /** The field lies within the bounds. Of a list field: one of its elements does. */
  | { readonly op: 'range'; readonly field: FieldPath; readonly bounds: Bounds }
  /** The field has a value that is not null. */
  | { readonly op: 'exists'; readonly field: FieldPath }
  /** The document's id is one of these. Hex parts in lower case. */
  | { readonly op: 'ids'; readonly values: readonly string[] }
  /** One element of the list fulfils the whole inner query; fields inside are members of that list. */
  | { readonly op: 'nested'; readonly path: string; readonly of: Node }

/**
 * Canonical values, by what the field's encoding compares as: `long` → bigint within 64 bits, `double` → number,
 * `instant` → milliseconds since 1970 as number, `boolean` → boolean, `hex` → lower-case text, `exact` and `token` → text.
 */
export type Value = bigint | number | boolean | string

/** At most one lower and one upper bound. */
export interface Bounds {
  readonly gt?: Value
  readonly gte?: Value
  readonly lt?: Value
  readonly lte?: Value
}

export const ALL: Node = { op: 'all' }
export const NONE: Node = { op: 'none' }
