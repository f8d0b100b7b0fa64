import type { Bounds, Node, Value } from '../query/ast.ts'

/** A condition on one field. */
export type Leaf = Extract<Node, { op: 'in' | 'range' | 'exists' }>

/** Whether a value that is there fulfils a condition. */
export const testOf = (leaf: Leaf): ((value: Value) => boolean) => {
  if (leaf.op === 'exists') return () => true
  if (leaf.op === 'in') {
    const values = new Set(leaf.values)
    return value => values.has(value)
  }
  const { gt, gte, lt, lte }: Bounds = leaf.bounds
  return value =>
    (gt === undefined || value > gt) &&
    (gte === undefined || value >= gte) &&
    (lt === undefined || value < lt) &&
    (lte === undefined || value <= lte)
}
