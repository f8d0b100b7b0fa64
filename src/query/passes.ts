import type { Kind } from '../mapping/index.ts'
import type { Node } from './ast.ts'
import { and, atLeast, child, nested, not, or, parent } from './simplify.ts'

/**
 * The node with others in place of its inner nodes, in its simplest form. `kind` is what an inner node speaks of where
 * that is another kind than the node's own.
 */
export const mapChildren = (node: Node, change: (inner: Node, kind?: Kind) => Node): Node => {
  switch (node.op) {
    case 'and':
      return and(node.of.map(inner => change(inner)))
    case 'or':
      return or(node.of.map(inner => change(inner)))
    case 'atLeast':
      return atLeast(
        node.count,
        node.of.map(inner => change(inner)),
      )
    case 'not':
      return not(change(node.of))
    case 'nested':
      return nested(node.path, change(node.of))
    case 'child':
      return child(node.kind, change(node.of, node.kind), node.min, node.max)
    case 'parent':
      return parent(node.kind, change(node.of, node.kind))
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
      return node
  }
}
