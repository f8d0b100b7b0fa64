import { parentsOf } from '../../mapping/joins.ts'
import type { SpecOf } from '../../query/aggs/ast.ts'
import { NONE, type Node } from '../../query/ast.ts'
import type { SearchRequest } from '../../query/request.ts'

/** Finds the children or the parents of what a request finds. */
export const relatedRequest = (
  { parts, within, slice }: SearchRequest,
  { kind, child, of }: SpecOf<'children' | 'parent'>,
): SearchRequest => {
  const possible =
    kind === 'children'
      ? parts.filter(part => parentsOf(child).includes(part.kind))
      : parts.filter(part => part.kind === child)
  const nodes = possible.map(
    (part): Node =>
      kind === 'children'
        ? { op: 'parent', kind: part.kind, of: part.query }
        : { op: 'child', kind: child, of: part.query, min: 1, max: Number.POSITIVE_INFINITY },
  )
  const [first = NONE, ...others] = nodes
  return {
    parts: [{ kind: of, query: others.length === 0 ? first : { op: 'or', of: nodes } }],
    ...{ sort: [], from: 0, size: 0, source: false, trackTotal: true, within, slice },
  }
}
