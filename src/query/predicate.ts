import type * as documents from '../documents/document.ts'
import { stop } from '../lib/errors.ts'
import { ENCODINGS, type FieldPath, type Kind, type ValueComparison } from '../mapping/index.ts'
import type { JoinNode, Node, QueryValue } from './ast.ts'
import { compileCompare, compileSameElement, eachLeaf, sourceInteger } from './compare.ts'
import { isRawJson } from './hits/source-filter.ts'
import { canonicalId } from './scope.ts'
import { isWithin } from './simplify.ts'
import { analyzeText } from './text/analysis.ts'
import { matcherOf, nearTo } from './text/pattern.ts'
import { hasPhrase } from './text/phrase.ts'

/** A document as a search shows it. Integers of `_source` may be numbers, bigints or raw JSON. */
export type TestedDocument = Pick<documents.Document, '_id' | '_parent' | '_source' | 'decoding'>

export interface Relatives {
  childrenOf(document: TestedDocument, kind: Kind): readonly TestedDocument[]
  parentOf(document: TestedDocument, kind: Kind): TestedDocument | undefined
}

type CompileJoin = (node: JoinNode) => (document: TestedDocument) => boolean

/**
 * Whether a document of the query's kind matches: the query-tree back end without a store.
 * The tree describes its own fields; only queries on parents or children need `relatives`.
 */
export const compilePredicate = (
  _kind: Kind,
  node: Node,
  relatives?: Relatives,
): ((document: TestedDocument) => boolean) => {
  const test = compileNodeTest(node, undefined, relatives && joinsAmong(relatives))
  return document => test(document._source, document)
}

/** Indexed values of a field, canonical as in the query tree; words of a text field. */
export const indexedValuesOf = (field: FieldPath, source: Record<string, unknown>): QueryValue[] =>
  valueReaderOf(field, undefined)(source)

/** A field's values as `_source` shows them, through all lists; with `list`, in one element. */
export const rawValuesOf = (field: FieldPath, source: Record<string, unknown>, list?: string): unknown[] => {
  const values: unknown[] = []
  collectorOf(field, list)(source, raw => {
    const integer = field.compare === 'integer' ? sourceInteger(raw) : undefined
    if (field.compare !== 'integer') values.push(raw)
    else if (integer !== undefined) values.push(String(integer))
  })
  return values
}

/** A value of `_source`, canonical as in the query tree; of a text, its first word. */
export const readValue = (field: FieldPath, raw: unknown): QueryValue | undefined => {
  const values: QueryValue[] = []
  READ_VALUES[field.compare](field, raw, values)
  return values[0]
}

/** A member's values in the first `most` matching elements of its nested list that have one. */
export const nestedValues = (
  field: FieldPath,
  { path, node, most }: { path: string; node: Node; most: number },
): ((document: TestedDocument) => QueryValue[]) => {
  const test = compileNodeTest(node, path, undefined)
  const read = valueReaderOf(field, path)
  return document => {
    const elements = document._source[path]
    const values: QueryValue[] = []
    let seen = 0
    for (const element of Array.isArray(elements) ? elements : []) {
      if (seen === most) break
      if (!test(element, document)) continue
      const own = read(element)
      values.push(...own)
      if (own.length > 0) seen++
    }
    return values
  }
}

/** Tests an element of a nested list against a condition on its members. */
export const compileElement = (node: Node, list: string): ((element: Record<string, unknown>) => boolean) => {
  const test = compileNodeTest(node, list, undefined)
  return element => test(element, { _id: '', _source: {} })
}

/** `source` is the document's, or an element of one of its lists. */
export type NodeTest = (source: Record<string, unknown>, document: TestedDocument) => boolean

export const compileNodeTest = (node: Node, list: string | undefined, join: CompileJoin | undefined): NodeTest => {
  switch (node.op) {
    case 'all':
      return () => true
    case 'none':
      return () => false
    case 'and': {
      const tests = node.of.map(inner => compileNodeTest(inner, list, join))
      return (source, document) => tests.every(test => test(source, document))
    }
    case 'or': {
      const tests = node.of.map(inner => compileNodeTest(inner, list, join))
      return (source, document) => tests.some(test => test(source, document))
    }
    case 'atLeast': {
      const { count } = node
      const tests = node.of.map(inner => compileNodeTest(inner, list, join))
      return (source, document) => {
        let missing = count
        return missing <= 0 || tests.some(test => test(source, document) && --missing === 0)
      }
    }
    case 'not': {
      const test = compileNodeTest(node.of, list, join)
      return (source, document) => !test(source, document)
    }
    case 'in': {
      const values = new Set(node.values)
      return someValue(node.field, list, value => values.has(value))
    }
    case 'range': {
      const { bounds } = node
      return someValue(node.field, list, value => isWithin(value, bounds))
    }
    case 'fuzzy': {
      const isNear = nearTo(node.near)
      return someValue(node.field, list, value => isNear(String(value)))
    }
    case 'pattern': {
      const matches = matcherOf(node.pattern)
      return someValue(node.field, list, value => matches(String(value)))
    }
    case 'phrase': {
      const words = valueReaderOf(node.field, list)
      return source => hasPhrase(words(source) as string[], node)
    }
    case 'exists':
      return hasValue(node.field, list)
    case 'ids': {
      const ids = new Set(node.values)
      return (_, document) => ids.has(canonicalId(document._id))
    }
    case 'nested': {
      const { path } = node
      const test = compileNodeTest(node.of, path, join)
      return (source, document) => {
        const elements = source[path]
        return Array.isArray(elements) && elements.some(element => test(element, document))
      }
    }
    case 'child':
    case 'parent': {
      if (!join) throw stop('relatives_unknown', 'a condition on parents or children needs more than one document')
      const test = join(node)
      return (_, document) => test(document)
    }
    case 'compare': {
      const test = compileCompare(node)
      return (_, document) => test(document)
    }
    case 'element': {
      const test = compileSameElement(node)
      return (_, document) => test(document)
    }
  }
}

export const joinsAmong =
  (relatives: Relatives): CompileJoin =>
  node => {
    const { kind } = node
    const test = compilePredicate(kind, node.of, relatives)
    if (node.op === 'parent')
      return document => {
        const parent = relatives.parentOf(document, kind)
        return parent !== undefined && test(parent)
      }
    const { min, max } = node
    return document => {
      const count = relatives.childrenOf(document, kind).filter(test).length
      return count >= min && count <= max
    }
  }

const someValue = (field: FieldPath, list: string | undefined, test: (value: QueryValue) => boolean): NodeTest => {
  const read = valueReaderOf(field, list)
  return source => read(source).some(test)
}

/** Reads the values of a field from a document's source, or from an element of that list. */
export const valueReaderOf = (
  field: FieldPath,
  list: string | undefined,
): ((source: Record<string, unknown>) => QueryValue[]) => {
  const collectFrom = collectorOf(field, list)
  const read = READ_VALUES[field.compare]
  return source => {
    const values: QueryValue[] = []
    collectFrom(source, raw => read(field, raw, values))
    return values
  }
}

const hasValue = (field: FieldPath, list: string | undefined): NodeTest => {
  const collectFrom = collectorOf(field, list)
  const { ignoreAbove } = field
  return source => {
    let found = false
    collectFrom(source, raw => {
      if (field.compare === 'integer' && sourceInteger(raw) === undefined) return
      found ||= ignoreAbove === undefined || String(raw).length <= ignoreAbove
    })
    return found
  }
}

/**
 * Path of the field in `_source`, or in an element of its nested list.
 * Encodings of a value that is shown as one are ways to query it, not members.
 */
const stepsInSource = (field: FieldPath, list: string | undefined): string[] => {
  const path =
    field.compare === 'integer'
      ? field.path.slice(0, -DEC.length)
      : '' in ENCODINGS[field.kind]
        ? field.field
        : field.path
  return (list === undefined ? path : path.slice(list.length + 1)).split('.')
}

type CollectValues = (source: Record<string, unknown>, found: (raw: unknown) => void) => void

const collectorOf = (field: FieldPath, list: string | undefined): CollectValues => {
  if (field.kind === 'flattened') {
    const steps = field.path.split('.').slice(1)
    return (source, found) => eachLeaf(source[field.field], steps, found)
  }
  const steps = stepsInSource(field, list)
  return (source, found) => collectRawValues(source, steps, 0, found)
}

/** Digits are derived from the object that they would be a member of. */
const DEC = '.dec'

/** Passes every value at the path that is not null, through all lists. */
const collectRawValues = (
  value: unknown,
  steps: readonly string[],
  step: number,
  found: (raw: unknown) => void,
): void => {
  if (value === null || value === undefined) return
  if (Array.isArray(value)) for (const element of value) collectRawValues(element, steps, step, found)
  else if (step === steps.length) found(value)
  else collectRawValues((value as Record<string, unknown>)[steps[step]!], steps, step + 1, found)
}

type ReadValues = (field: FieldPath, raw: unknown, values: QueryValue[]) => void

const READ_VALUES = {
  hex: ({ ignoreAbove = Number.POSITIVE_INFINITY }, raw, values) => {
    const text = String(raw)
    if (text.length <= ignoreAbove) values.push(text.toLowerCase())
  },
  exact: ({ ignoreAbove = Number.POSITIVE_INFINITY }, raw, values) => {
    const text = String(raw)
    if (text.length <= ignoreAbove) values.push(text)
  },
  token: (_, raw, values) => {
    values.push(...analyzeText(String(raw)))
  },
  long: (_, raw, values) => {
    values.push(BigInt(isRawJson(raw) ? raw.rawJSON : (raw as number | bigint)))
  },
  integer: (_, raw, values) => {
    const integer = sourceInteger(raw)
    if (integer !== undefined) values.push(integer)
  },
  double: (_, raw, values) => {
    values.push(Number(raw))
  },
  boolean: (_, raw, values) => {
    values.push(raw as boolean)
  },
  instant: (_, raw, values) => {
    values.push(typeof raw === 'string' ? Date.parse(`${raw}Z`) : Number(raw) * 1000)
  },
} as const satisfies Record<ValueComparison, ReadValues>
