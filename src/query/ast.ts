import type { FieldPath, Kind } from '../mapping/index.ts'
import type { Nearness, TextPattern } from './text/pattern.ts'
/**
 * The meaning of a query on ONE kind of entity: checked against the mapping, values canonical, parentheses and negation
 * in the tree. It knows neither Elasticsearch's spelling nor SQL. Nodes are frozen data, made by `simplify.ts`.
 */
export type Node =
  | { readonly op: 'all' }
  | { readonly op: 'none' }
  | { readonly op: 'and'; readonly of: readonly Node[] }
  | { readonly op: 'or'; readonly of: readonly Node[] }
  /** At least `count` of the nodes hold (Elasticsearch's minimum_should_match). A node may occur twice, and counts twice. */
  | { readonly op: 'atLeast'; readonly count: number; readonly of: readonly Node[] }
  | { readonly op: 'not'; readonly of: Node }
  /** The field has one of these values. Of a list field: one of its elements has. */
  | { readonly op: 'in'; readonly field: FieldPath; readonly values: readonly QueryValue[] }
  /** The field lies within the bounds. Of a list field: one of its elements does. */
  | { readonly op: 'range'; readonly field: FieldPath; readonly bounds: Bounds }
  /** The field, a text or a keyword, has a value that is near to a text. Of a text field: one of its words is. */
  | { readonly op: 'fuzzy'; readonly field: FieldPath; readonly near: Nearness }
  /** The field has a value that a pattern matches whole. Of a text field: one of its words is. */
  | { readonly op: 'pattern'; readonly field: FieldPath; readonly pattern: TextPattern }
  /** The words of a text field hold these in a row, with at most `slop` moves. Of the last one with `prefix` only the beginning. */
  | {
      readonly op: 'phrase'
      readonly field: FieldPath
      readonly words: readonly string[]
      readonly slop: number
      readonly prefix: boolean
    }
  /** The field has an indexed value: not null, not an empty list, and not longer than the encoding's `ignoreAbove`. */
  | { readonly op: 'exists'; readonly field: FieldPath }
  /** The document's id is one of these. Hex parts in lower case. */
  | { readonly op: 'ids'; readonly values: readonly string[] }
  /** One element of the list matches the whole inner query; fields inside are members of that list. */
  | { readonly op: 'nested'; readonly path: string; readonly of: Node }
  /** From `min` to `max` documents of another kind whose parent this one is match the inner query. `min` is 1 or more, `max` may be infinite. */
  | { readonly op: 'child'; readonly kind: Kind; readonly of: Node; readonly min: number; readonly max: number }
  /** The document's parent is of this kind and matches the inner query. */
  | { readonly op: 'parent'; readonly kind: Kind; readonly of: Node }
  | CompareNode

export type JoinNode = Extract<Node, { op: 'child' | 'parent' }>

/**
 * What stands at the end of the steps compares so with an operand: a rule's condition, which is exact where an index is not. Where
 * several values stand there (a list, arguments of one name), one of them does; where nothing or null stands there, none does. The two
 * sides are compared as numbers where both are numeric, else as text.
 */
export interface CompareNode {
  readonly op: 'compare'
  readonly kind: Kind
  /**
   * Way into the document: a field, then members of objects, or zero-based places in lists. In `args` the first step is an argument's name or
   * position, further ones go into `hex num scaled type`, into a tuple's component (by name or position) or an array's element.
   */
  readonly steps: readonly string[]
  readonly how: 'equal' | 'greater' | 'greaterOrEqual' | 'less' | 'lessOrEqual'
  /** Several only with `equal`: one of them is equal. */
  readonly operands: readonly CompareOperand[]
  readonly ignoreCase: boolean
  /** An argument's amount in whole tokens: the integer divided by 10^decimals of the emitting token, where these are known. */
  readonly scaled: boolean
}

export interface CompareOperand {
  readonly text: string
  readonly number: Exact | undefined
}

/** `digits` / 10^`scale`, `scale` being 0 or more. */
export interface Exact {
  readonly digits: bigint
  readonly scale: number
}

/**
 * Canonical values, by what the field's encoding compares as: `long` → bigint within 64 bits, `integer` → bigint, `double` → number,
 * `instant` → milliseconds since 1970 as number, in whole seconds, `boolean` → boolean, `hex` → lower-case text, `exact`
 * and `token` → text.
 */
export type QueryValue = bigint | number | boolean | string

/** One bound at least, at most one lower and one upper. Those of `long`, `integer` and `instant` are always inclusive. */
export interface Bounds {
  readonly gt?: QueryValue
  readonly gte?: QueryValue
  readonly lt?: QueryValue
  readonly lte?: QueryValue
}

export const ALL_NODE: Node = Object.freeze({ op: 'all' })
export const NONE_NODE: Node = Object.freeze({ op: 'none' })

/**
 * Order of two values of one comparison, negative where `a` comes first. Text is ordered by code point, as its UTF-8 bytes
 * are, not by UTF-16 unit.
 */
export const compareValues = (a: QueryValue, b: QueryValue): number => {
  if (typeof a !== 'string' || typeof b !== 'string') return a < b ? -1 : a > b ? 1 : 0
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (x === y) continue
    // A surrogate stands for a code point beyond all other units.
    const [high, low] = [isSurrogate(x), isSurrogate(y)]
    return high === low ? x - y : high ? 1 : -1
  }
  return a.length - b.length
}

const isSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdfff
