import type { FieldPath, Kind } from '../mapping/index.ts'
import { ALL_NODE, type Bounds, compareValues, NONE_NODE, type Node, type QueryValue } from './ast.ts'
import type { Nearness, TextPattern } from './text/pattern.ts'
/**
 * Constructors of query nodes in simplest form: they fold constants, flatten `and` and `or`, remove
 * duplicate values, and merge conditions on one field where that is equivalent.
 */

export const andNode = (nodes: readonly Node[]): Node => {
  const [only] = nodes
  if (only && nodes.length === 1 && only.op !== 'and') return only
  const flat = nodes.flatMap(node => (node.op === 'and' ? node.of : [node])).filter(node => node.op !== 'all')
  if (flat.some(node => node.op === 'none')) return NONE_NODE
  const rest: Node[] = []
  const ranges = new Map<string, Node & { op: 'range' }>()
  for (const node of flat) {
    if (node.op !== 'range' || !isSingleInteger(node.field)) {
      rest.push(node)
      continue
    }
    const { path } = node.field
    const other = ranges.get(path)
    const both = other === undefined ? node : rangeNode(node.field, intersect(node.bounds, other.bounds))
    if (both.op === 'none') return NONE_NODE
    ranges.delete(path)
    if (both.op === 'range') ranges.set(path, both)
    else rest.push(both)
  }
  return severalNodes('and', [...rest, ...ranges.values()], ALL_NODE)
}

export const orNode = (nodes: readonly Node[]): Node => {
  const flat = nodes.flatMap(node => (node.op === 'or' ? node.of : [node])).filter(node => node.op !== 'none')
  if (flat.some(node => node.op === 'all')) return ALL_NODE
  const rest: Node[] = []
  const values = new Map<string, { field: FieldPath; values: QueryValue[] }>()
  const idValues: string[] = []
  for (const node of flat) {
    if (node.op === 'in') {
      const same = values.get(node.field.path)
      if (same === undefined) values.set(node.field.path, { field: node.field, values: [...node.values] })
      else for (const value of node.values) same.values.push(value)
    } else if (node.op === 'ids') for (const id of node.values) idValues.push(id)
    else rest.push(node)
  }
  const sets = Array.from(values.values(), same => inNode(same.field, same.values))
  return severalNodes('or', [...(idValues.length > 0 ? [idsNode(idValues)] : []), ...sets, ...rest], NONE_NODE)
}

export const atLeastNode = (count: number, nodes: readonly Node[]): Node => {
  const certain = nodes.filter(node => node.op === 'all').length
  const of = nodes.filter(node => node.op !== 'all' && node.op !== 'none')
  const needed = count - certain
  if (needed <= 0) return ALL_NODE
  if (needed > of.length) return NONE_NODE
  if (needed === 1) return orNode(of)
  if (needed === of.length) return andNode(of)
  return Object.freeze({ op: 'atLeast', count: needed, of: Object.freeze(of) })
}

export const notNode = (of: Node): Node => {
  if (of.op === 'all') return NONE_NODE
  if (of.op === 'none') return ALL_NODE
  return of.op === 'not' ? of.of : Object.freeze({ op: 'not', of })
}

export const inNode = (field: FieldPath, values: readonly QueryValue[]): Node =>
  values.length === 0 ? NONE_NODE : Object.freeze({ op: 'in', field, values: Object.freeze([...new Set(values)]) })

/** Without edits it is the exact value. */
export const fuzzyNode = (field: FieldPath, near: Nearness): Node => {
  if (near.edits > 0) return Object.freeze({ op: 'fuzzy', field, near: Object.freeze({ ...near }) })
  return tooLong(field, near.text) ? NONE_NODE : inNode(field, [near.text])
}

export const patternNode = (field: FieldPath, pattern: TextPattern): Node =>
  Object.freeze({ op: 'pattern', field, pattern })

export const phraseNode = (field: FieldPath, words: readonly string[], slop: number, prefix: boolean): Node =>
  words.length === 0
    ? NONE_NODE
    : words.length === 1 && !prefix
      ? inNode(field, words)
      : Object.freeze({ op: 'phrase', field, words: Object.freeze([...words]), slop, prefix })

export const existsNode = (field: FieldPath): Node => Object.freeze({ op: 'exists', field })

export const idsNode = (values: readonly string[]): Node =>
  values.length === 0 ? NONE_NODE : Object.freeze({ op: 'ids', values: Object.freeze([...new Set(values)]) })

/** Even a match-all inner query requires an element, so only match-none folds. */
export const nestedNode = (path: string, of: Node): Node =>
  of.op === 'none' ? NONE_NODE : Object.freeze({ op: 'nested', path, of })

export const childNode = (kind: Kind, of: Node, min = 1, max = Number.POSITIVE_INFINITY): Node =>
  of.op === 'none' || min > max ? NONE_NODE : Object.freeze({ op: 'child', kind, of, min, max })

/** Even a match-all inner query requires a parent of the kind. */
export const parentNode = (kind: Kind, of: Node): Node =>
  of.op === 'none' ? NONE_NODE : Object.freeze({ op: 'parent', kind, of })

/** Without bounds it requires a value. */
export const rangeNode = (field: FieldPath, given: Bounds): Node => {
  const bounds = isWholeField(field) ? wholeLong(given) : field.compare === 'instant' ? wholeSeconds(given) : given
  const lower = bounds.gte ?? bounds.gt
  const upper = bounds.lte ?? bounds.lt
  if (lower === undefined && upper === undefined) return existsNode(field)
  if (field.compare === 'long' && isBeyondLongs(lower, upper)) return NONE_NODE
  if (field.compare === 'boolean')
    return inNode(
      field,
      [false, true].filter(value => isWithin(value, bounds)),
    )
  if (lower !== undefined && upper !== undefined) {
    const order = compareValues(lower, upper)
    const inclusive = bounds.gte !== undefined && bounds.lte !== undefined
    if (order > 0 || (order === 0 && !inclusive)) return NONE_NODE
    if (order === 0) return tooLong(field, lower) ? NONE_NODE : inNode(field, [lower])
  }
  return Object.freeze({ op: 'range', field, bounds: Object.freeze({ ...bounds }) })
}

const isBeyondLongs = (lower: QueryValue | undefined, upper: QueryValue | undefined): boolean =>
  (typeof lower === 'bigint' && lower > GREATEST_LONG) || (typeof upper === 'bigint' && upper < LEAST_LONG)

export const isWithin = (value: QueryValue, { gt, gte, lt, lte }: Bounds): boolean =>
  (gt === undefined || compareValues(value, gt) > 0) &&
  (gte === undefined || compareValues(value, gte) >= 0) &&
  (lt === undefined || compareValues(value, lt) < 0) &&
  (lte === undefined || compareValues(value, lte) <= 0)

export const LEAST_LONG = -(2n ** 63n)
export const GREATEST_LONG = 2n ** 63n - 1n

export const tooLong = (field: FieldPath, value: QueryValue): boolean =>
  typeof value === 'string' && field.ignoreAbove !== undefined && value.length > field.ignoreAbove

const severalNodes = (op: 'and' | 'or', of: readonly Node[], empty: Node): Node =>
  of.length === 0 ? empty : of.length === 1 ? of[0]! : Object.freeze({ op, of: Object.freeze([...of]) })

const isWholeField = ({ compare }: Pick<FieldPath, 'compare'>) => compare === 'long' || compare === 'integer'

/** In a list, two conditions may hold for two elements, so only single values can be merged. */
const isSingleInteger = ({ compare, list }: FieldPath) =>
  (isWholeField({ compare }) || compare === 'instant') && (list === undefined || list.nested)

const intersect = (a: Bounds, b: Bounds): Bounds => {
  const lower = [a.gte, b.gte]
    .filter(value => value !== undefined)
    .toSorted(compareValues)
    .at(-1)
  const upper = [a.lte, b.lte]
    .filter(value => value !== undefined)
    .toSorted(compareValues)
    .at(0)
  return { ...(lower !== undefined && { gte: lower }), ...(upper !== undefined && { lte: upper }) }
}

/** Integers have a successor, so every bound can be inclusive. */
const wholeLong = (bounds: Bounds): Bounds => {
  const { gt, gte, lt, lte } = bounds as { [bound in keyof Bounds]: bigint }
  const lower = gte ?? (gt === undefined ? undefined : gt + 1n)
  const upper = lte ?? (lt === undefined ? undefined : lt - 1n)
  return { ...(lower !== undefined && { gte: lower }), ...(upper !== undefined && { lte: upper }) }
}

/** Block times are whole seconds, so every bound can be inclusive. */
const wholeSeconds = (bounds: Bounds): Bounds => {
  const { gt, gte, lt, lte } = bounds as { [bound in keyof Bounds]: number }
  const lower = gte ?? (gt === undefined ? undefined : gt + 1)
  const upper = lte ?? (lt === undefined ? undefined : lt - 1)
  return {
    ...(lower !== undefined && { gte: Math.ceil(lower / 1000) * 1000 }),
    ...(upper !== undefined && { lte: Math.floor(upper / 1000) * 1000 }),
  }
}

/** Replaces inner nodes and simplifies the result. `kind`: an inner node's kind if it differs. */
export const mapChildren = (node: Node, change: (inner: Node, kind?: Kind) => Node): Node => {
  switch (node.op) {
    case 'and':
      return andNode(node.of.map(inner => change(inner)))
    case 'or':
      return orNode(node.of.map(inner => change(inner)))
    case 'atLeast':
      return atLeastNode(
        node.count,
        node.of.map(inner => change(inner)),
      )
    case 'not':
      return notNode(change(node.of))
    case 'nested':
      return nestedNode(node.path, change(node.of))
    case 'child':
      return childNode(node.kind, change(node.of, node.kind), node.min, node.max)
    case 'parent':
      return parentNode(node.kind, change(node.of, node.kind))
    case 'all':
    case 'none':
    case 'in':
    case 'range':
    case 'fuzzy':
    case 'pattern':
    case 'phrase':
    case 'exists':
    case 'ids':
    case 'compare':
    case 'element':
      return node
  }
}

export const innerNodes = (node: Node): readonly Node[] =>
  'of' in node ? (Array.isArray(node.of) ? (node.of as readonly Node[]) : [node.of as Node]) : []
