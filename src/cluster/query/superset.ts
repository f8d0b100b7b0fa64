import { ALL, NONE, type Node } from '../../query/ast.ts'
import * as make from '../../query/simplify.ts'

/** A query that finds at least what another one does. */
export interface Superset {
  /** Without conditions of rules. */
  node: Node
  /** Whether it finds nothing else. Where it may, each document that it finds is to be asked by the predicate. */
  exact: boolean
}

/**
 * The query without the conditions of rules that no index answers. What indexes tell of such a condition stands beside it already, as rules
 * write their queries.
 */
export const supersetOf = (node: Node): Superset => {
  let exact = true
  /** Of what is negated twice over, too, at least all is found. */
  const relax = (node: Node, isAbove: boolean): Node => {
    switch (node.op) {
      case 'not':
        return make.not(relax(node.of, !isAbove))
      case 'child':
      case 'parent': {
        const own = supersetOf(node.of)
        if (own.exact) return node
        exact = false
        if (!isAbove) return NONE
        // More children may match than those that count.
        return node.op === 'parent' ? make.parent(node.kind, own.node) : make.child(node.kind, own.node, node.min)
      }
      case 'compare':
        exact = false
        return isAbove ? ALL : NONE
      default:
        return make.mapChildren(node, inner => relax(inner, isAbove))
    }
  }
  return { node: relax(node, true), exact }
}
