import type { Kind } from '../../mapping/index.ts'
import type { JoinNode, Node } from '../../query/ast.ts'
import { unsupported } from '../deviations.ts'
import { META_FIELDS } from '../indices/names.ts'
import { type Dsl, every, MATCH_ALL, MATCH_NONE, never, some, termIn } from './dsl.ts'
import { compileLeaf, ofIds } from './leaf.ts'

/** Related documents that were looked up before the search. */
export interface Joins {
  /** Ids of the documents with such children (`child`), or of such parents (`parent`). */
  idsOf(node: JoinNode): readonly string[]
}

/** For queries without conditions on related documents. */
export const NO_JOINS: Joins = {
  idsOf(node) {
    throw new Error(`a condition on a ${node.op} was not looked up`)
  },
}

/** A query tree of a kind as a filter in the cluster's language. */
export const compileNode = (node: Node, kind: Kind, joins: Joins): Dsl => {
  const inner = (one: Node) => compileNode(one, kind, joins)
  switch (node.op) {
    case 'all':
      return MATCH_ALL
    case 'none':
      return MATCH_NONE
    case 'and':
      return compileAnd(node.of, inner)
    case 'or':
      return some(node.of.map(inner))
    case 'atLeast':
      return { bool: { should: node.of.map(inner), minimum_should_match: node.count } }
    case 'not':
      return never(inner(node.of))
    case 'nested':
      return { nested: { path: node.path, query: inner(node.of), score_mode: 'none', ignore_unmapped: true } }
    case 'child':
      return ofIds(kind, joins.idsOf(node))
    case 'parent': {
      const ids = joins.idsOf(node)
      return ids.length === 0 ? MATCH_NONE : termIn(META_FIELDS.parent, ids)
    }
    case 'compare':
    case 'element':
      throw unsupported(`compare ${node.steps.join('.')}`, 'ask for a superset of it, and test what is found')
    default:
      return compileLeaf(node, kind)
  }
}

/** Puts negated conditions into `must_not` of the same bool. */
const compileAnd = (of: readonly Node[], inner: (node: Node) => Dsl): Dsl => {
  const filter: Dsl[] = []
  const mustNot: Dsl[] = []
  for (const node of of) {
    if (node.op === 'not') mustNot.push(inner(node.of))
    else filter.push(inner(node))
  }
  return mustNot.length === 0 ? every(filter) : { bool: { filter, must_not: mustNot } }
}
