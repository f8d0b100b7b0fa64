import type { Bounds, Node, Value } from '../../query/ast.ts'
import { isWithin, tooLong } from '../../query/simplify.ts'
import { matcherOf, startOf } from '../../query/text/pattern.ts'

/** A condition on one field. */
export type Leaf = Extract<Node, { op: 'in' | 'range' | 'exists' | 'pattern' }>

export const isLeaf = (node: Node): node is Leaf =>
  node.op === 'in' || node.op === 'range' || node.op === 'exists' || node.op === 'pattern'

/** Whether a value that is there fulfils a condition. */
export const testOf = (leaf: Leaf): ((value: Value) => boolean) => {
  const { field } = leaf
  if (leaf.op === 'in') {
    const values = new Set(leaf.values)
    return value => values.has(value)
  }
  // Of longer texts than an index holds there is none.
  if (leaf.op === 'exists') return value => !tooLong(field, value)
  if (leaf.op === 'pattern') {
    const matches = matcherOf(leaf.pattern)
    return value => !tooLong(field, value) && matches(String(value))
  }
  return value => !tooLong(field, value) && isWithin(value, leaf.bounds)
}

/** What all texts that fulfil a condition begin with. */
export const commonStart = (leaf: Extract<Leaf, { op: 'range' | 'pattern' }>): string =>
  leaf.op === 'pattern' ? startOf(leaf.pattern) : sharedStart(leaf.bounds)

/** What all texts between two bounds begin with. */
const sharedStart = ({ gt, gte, lt, lte }: Bounds): string => {
  const [low, high] = [String(gte ?? gt ?? ''), String(lte ?? lt ?? '')]
  let length = 0
  while (length < low.length && low[length] === high[length]) length++
  return low.slice(0, length)
}
