import type { FieldPath, Kind } from '../mapping/index.ts'
import type { Nearness, TextPattern } from './text/pattern.ts'
import type { ValueList } from './value-list.ts'
/**
 * A query on one kind of entity, checked against the mapping, with canonical values. Independent
 * of Elasticsearch's syntax and of SQL. `simplify.ts` makes the nodes, which are frozen.
 */
export type Node =
  | { readonly op: 'all' }
  | { readonly op: 'none' }
  | { readonly op: 'and'; readonly of: readonly Node[] }
  | { readonly op: 'or'; readonly of: readonly Node[] }
  /** At least `count` nodes hold (minimum_should_match). A node that occurs twice counts twice. */
  | { readonly op: 'atLeast'; readonly count: number; readonly of: readonly Node[] }
  | { readonly op: 'not'; readonly of: Node }
  /** The field, or one element of a list field, has one of these values. */
  | { readonly op: 'in'; readonly field: FieldPath; readonly values: readonly QueryValue[] }
  /** The field, or one element of a list field, is within the bounds. */
  | { readonly op: 'range'; readonly field: FieldPath; readonly bounds: Bounds }
  /** A text or keyword field has a value near to a text; of a text field, one of its words is. */
  | { readonly op: 'fuzzy'; readonly field: FieldPath; readonly near: Nearness }
  /** A pattern matches a whole value of the field; of a text field, one of its words. */
  | { readonly op: 'pattern'; readonly field: FieldPath; readonly pattern: TextPattern }
  /** A text field has these words in a row, within `slop` moves. `prefix`: the last is a prefix. */
  | {
      readonly op: 'phrase'
      readonly field: FieldPath
      readonly words: readonly string[]
      readonly slop: number
      readonly prefix: boolean
    }
  /** The field has an indexed value: not null, not an empty list, not above `ignoreAbove`. */
  | { readonly op: 'exists'; readonly field: FieldPath }
  /** The document's id is one of these. Hex parts in lower case. */
  | { readonly op: 'ids'; readonly values: readonly string[] }
  /** One element of the list matches the whole inner query, whose fields are its members. */
  | { readonly op: 'nested'; readonly path: string; readonly of: Node }
  /** From `min` (1 or more) to `max` (maybe infinite) child documents match the inner query. */
  | { readonly op: 'child'; readonly kind: Kind; readonly of: Node; readonly min: number; readonly max: number }
  /** The document's parent is of this kind and matches the inner query. */
  | { readonly op: 'parent'; readonly kind: Kind; readonly of: Node }
  | CompareNode
  | ElementNode

export type JoinNode = Extract<Node, { op: 'child' | 'parent' }>

/**
 * Compares values at the steps with operands, for a rule's condition: exact where an index is not.
 * One of several values has to match; nothing and null never do. Two numeric sides compare as
 * numbers, others as text.
 */
export interface CompareNode {
  readonly op: 'compare'
  readonly kind: Kind
  /**
   * Path into the document: a field, then members of objects or zero-based positions in lists. In
   * `args`, the first step is an argument's name or position; further ones lead into
   * `hex num scaled type`, a tuple's component (by name or position) or an array's element.
   */
  readonly steps: readonly string[]
  readonly how: 'equal' | 'greater' | 'greaterOrEqual' | 'less' | 'lessOrEqual'
  /** Several only with `equal`: one of them has to match. */
  readonly operands: readonly CompareOperand[]
  /** In place of operands, with `equal`. */
  readonly list?: ValueList
  readonly ignoreCase: boolean
  /** Compares an argument in whole tokens: divided by 10^decimals of its token, where known. */
  readonly scaled: boolean
}

/** One element of the list at the steps meets all conditions, whose own steps begin with these. */
export interface ElementNode {
  readonly op: 'element'
  readonly steps: readonly string[]
  readonly all: readonly ElementCondition[]
}

export type ElementCondition =
  | CompareNode
  | { readonly op: 'and' | 'or'; readonly of: readonly ElementCondition[] }
  | { readonly op: 'not'; readonly of: ElementCondition }

export interface CompareOperand {
  readonly text: string
  readonly number: Exact | undefined
}

/** `digits` / 10^`scale`; `scale` is not negative. */
export interface Exact {
  readonly digits: bigint
  readonly scale: number
}

/**
 * Canonical values by the field's comparison: `long` → bigint within 64 bits, `integer` → bigint,
 * `double` → number, `instant` → milliseconds since 1970 as number, in whole seconds,
 * `boolean` → boolean, `hex` → lower-case text, `exact` and `token` → text.
 */
export type QueryValue = bigint | number | boolean | string

/** At least one bound, at most one per side; inclusive for `long`, `integer` and `instant`. */
export interface Bounds {
  readonly gt?: QueryValue
  readonly gte?: QueryValue
  readonly lt?: QueryValue
  readonly lte?: QueryValue
}

export const ALL_NODE: Node = Object.freeze({ op: 'all' })
export const NONE_NODE: Node = Object.freeze({ op: 'none' })

/** Orders values of one comparison; text by code point, as in UTF-8, not by UTF-16 unit. */
export const compareValues = (a: QueryValue, b: QueryValue): number => {
  if (typeof a !== 'string' || typeof b !== 'string') return a < b ? -1 : a > b ? 1 : 0
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (x === y) continue
    // A surrogate means a code point above all other units.
    const [high, low] = [isSurrogate(x), isSurrogate(y)]
    return high === low ? x - y : high ? 1 : -1
  }
  return a.length - b.length
}

const isSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdfff
