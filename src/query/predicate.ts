import type * as documents from '../documents/document.ts'
import { stop } from '../lib/errors.ts'
import { type Comparison, ENCODINGS, type FieldPath, type Kind } from '../mapping/index.ts'
import { analyze } from './analysis.ts'
import type { Node, Value } from './ast.ts'
import { compileCompare } from './compare.ts'
import { nearTo } from './fuzzy.ts'
import { canonicalId } from './scope.ts'
import { isWithin } from './simplify.ts'
import { isRawJson } from './source-filter.ts'

/** A document as a search shows it. Integers of `_source` may be numbers, bigints or raw JSON. */
export type Document = Pick<documents.Document, '_id' | '_source' | 'decoding'>

/** Where a document's parent and children are to be had, which it does not hold itself. */
export interface Relatives {
  childrenOf(document: Document, kind: Kind): readonly Document[]
  /** Undefined where its parent is of another kind. */
  parentOf(document: Document, kind: Kind): Document | undefined
}

/**
 * Whether a document of the kind that the query was read for matches it: the back end of the query tree that needs no
 * store. What the kind has for fields the tree says itself. Only a query on parents or children needs the relatives.
 */
export const compile = (_kind: Kind, node: Node, relatives?: Relatives): ((document: Document) => boolean) => {
  const test = compileNode(node, undefined, relatives)
  return document => test(document._source, document)
}

/** The indexed values of a field, canonical as in the query tree. Of a text field: its words. */
export const valuesOf = (field: FieldPath, source: Record<string, unknown>): Value[] => {
  const values: Value[] = []
  collect(source, stepsOf(field, undefined), 0, raw => READ[field.compare](field, raw, values))
  return values
}

/** The values of a member in the first elements of its nested list that have one, and that a condition holds for. */
export const nestedValues = (
  field: FieldPath,
  { path, node, most }: { path: string; node: Node; most: number },
): ((document: Document) => Value[]) => {
  const test = compileNode(node, path, undefined)
  const steps = stepsOf(field, path)
  const read = READ[field.compare]
  return document => {
    const elements = document._source[path]
    const values: Value[] = []
    let seen = 0
    for (const element of Array.isArray(elements) ? elements : []) {
      if (seen === most) break
      if (!test(element, document)) continue
      const before = values.length
      collect(element, steps, 0, raw => read(field, raw, values))
      if (values.length > before) seen++
    }
    return values
  }
}

/** `source` is the document's, or an element of one of its lists. */
type Test = (source: Record<string, unknown>, document: Document) => boolean

const compileNode = (node: Node, list: string | undefined, relatives: Relatives | undefined): Test => {
  switch (node.op) {
    case 'all':
      return () => true
    case 'none':
      return () => false
    case 'and': {
      const tests = node.of.map(inner => compileNode(inner, list, relatives))
      return (source, document) => tests.every(test => test(source, document))
    }
    case 'or': {
      const tests = node.of.map(inner => compileNode(inner, list, relatives))
      return (source, document) => tests.some(test => test(source, document))
    }
    case 'atLeast': {
      const { count } = node
      const tests = node.of.map(inner => compileNode(inner, list, relatives))
      return (source, document) => {
        let missing = count
        return missing <= 0 || tests.some(test => test(source, document) && --missing === 0)
      }
    }
    case 'not': {
      const test = compileNode(node.of, list, relatives)
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
    case 'exists':
      return hasValue(node.field, list)
    case 'ids': {
      const ids = new Set(node.values)
      return (_, document) => ids.has(canonicalId(document._id))
    }
    case 'nested': {
      const { path } = node
      const test = compileNode(node.of, path, relatives)
      return (source, document) => {
        const elements = source[path]
        return Array.isArray(elements) && elements.some(element => test(element, document))
      }
    }
    case 'child': {
      const { kind, min, max } = node
      const { childrenOf } = known(relatives)
      const test = compile(kind, node.of, relatives)
      return (_, document) => {
        const count = childrenOf(document, kind).filter(test).length
        return count >= min && count <= max
      }
    }
    case 'parent': {
      const { kind } = node
      const { parentOf } = known(relatives)
      const test = compile(kind, node.of, relatives)
      return (_, document) => {
        const parent = parentOf(document, kind)
        return parent !== undefined && test(parent)
      }
    }
    case 'compare': {
      const test = compileCompare(node)
      return (_, document) => test(document)
    }
  }
}

const known = (relatives: Relatives | undefined): Relatives => {
  if (relatives) return relatives
  throw stop('relatives_unknown', 'a condition on parents or children cannot be decided by one document alone')
}

const someValue = (field: FieldPath, list: string | undefined, test: (value: Value) => boolean): Test => {
  const steps = stepsOf(field, list)
  const read = READ[field.compare]
  return source => {
    const values: Value[] = []
    collect(source, steps, 0, raw => read(field, raw, values))
    return values.some(test)
  }
}

const hasValue = (field: FieldPath, list: string | undefined): Test => {
  const steps = stepsOf(field, list)
  const { ignoreAbove } = field
  return source => {
    let found = false
    collect(source, steps, 0, raw => {
      found ||= ignoreAbove === undefined || String(raw).length <= ignoreAbove
    })
    return found
  }
}

/**
 * Where the field stands in `_source`, or in an element of its nested list. Of what is shown as one value the encodings are
 * ways to ask and no members.
 */
const stepsOf = (field: FieldPath, list: string | undefined): string[] => {
  const path = '' in ENCODINGS[field.kind] ? field.field : field.path
  return (list === undefined ? path : path.slice(list.length + 1)).split('.')
}

/** Hands over every value at the path that is not null, through all lists on the way. */
const collect = (value: unknown, steps: readonly string[], step: number, found: (raw: unknown) => void): void => {
  if (value === null || value === undefined) return
  if (Array.isArray(value)) for (const element of value) collect(element, steps, step, found)
  else if (step === steps.length) found(value)
  else collect((value as Record<string, unknown>)[steps[step]!], steps, step + 1, found)
}

type Read = (field: FieldPath, raw: unknown, values: Value[]) => void

const READ = {
  hex: ({ ignoreAbove = Number.POSITIVE_INFINITY }, raw, values) => {
    const text = String(raw)
    if (text.length <= ignoreAbove) values.push(text.toLowerCase())
  },
  exact: ({ ignoreAbove = Number.POSITIVE_INFINITY }, raw, values) => {
    const text = String(raw)
    if (text.length <= ignoreAbove) values.push(text)
  },
  token: (_, raw, values) => {
    values.push(...analyze(String(raw)))
  },
  long: (_, raw, values) => {
    values.push(BigInt(isRawJson(raw) ? raw.rawJSON : (raw as number | bigint)))
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
} as const satisfies Record<Comparison, Read>
