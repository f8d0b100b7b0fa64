import type { Document } from '../../documents/document.ts'
import type { Limits } from '../../limits/index.ts'
import type { FieldPath } from '../../mapping/index.ts'
import type { Node, QueryValue } from '../../query/ast.ts'
import type { Collapse, InnerHits, SearchRequest } from '../../query/request.ts'
import { andNode, existsNode, idsNode, inNode, notNode, parentNode } from '../../query/simplify.ts'
import type { StoreReader } from '../reader.ts'
import { type Documents, fieldValues } from './documents.ts'
import { numberedAs, segmentAt, viewOf } from './fields/ordinals.ts'
import { countAll, type Evaluation, type Evaluator } from './match/evaluate.ts'
import { and as both, toArray } from './match/ordinal-set.ts'
import type { Among } from './plan/plan.ts'
import { matchMaker, type SearchMatch } from './search-match.ts'
import { findBest } from './sort/first-page.ts'
import { bySortKeys, sortKeysOf } from './sort/sort.ts'

/** Documents that a hit brings along. */
export interface Related {
  total: number
  found: SearchMatch[]
}

export interface RelatedOptions {
  reader: StoreReader
  exact: Documents
  limits: Limits
  evaluation: Evaluator
}

/** Finds the matching children or parent of a hit; they are in its block, so in its segment. */
export const relatedBy = (
  { by, request }: InnerHits,
  { reader, exact, evaluation }: RelatedOptions,
): ((hit: SearchMatch, document: Document) => Related) => {
  const { kind, query } = request.parts[0]!
  let inner: Evaluation | undefined
  const keys = sortKeysOf(request, reader, exact)
  const order = bySortKeys(keys)
  return (hit, { _id, _parent }) => {
    reader.check()
    const segment = segmentAt(hit.position, reader)
    if (!segment) return { total: 0, found: [] }
    inner ??= evaluation(kind, query)
    const link = evaluation(
      kind,
      by === 'parent' ? idsNode(_parent === undefined ? [] : [_parent]) : parentNode(hit.kind, idsNode([_id])),
    )
    const { header, size } = viewOf(segment, numberedAs(kind), reader)
    const linked = link.matches(segment)
    const matches = toArray(both(linked, inner.matches(segment, linked), size))
    const found = Array.from(matches, matchMaker(kind, header))
    if (keys.compare) keys.fill(found, segment)
    return { total: found.length, found: found.sort(order).slice(request.from, request.from + request.size) }
  }
}

/** Finds the hits of a search that have the same value in the field that it is collapsed by. */
export const groupHitsOf = (
  { fields }: Collapse,
  among: Pick<SearchRequest, 'parts'> & Among,
  request: SearchRequest,
  options: RelatedOptions,
): ((hit: SearchMatch) => Related) => {
  const { reader, exact, limits, evaluation } = options
  const readGroup = ({ kind, position }: SearchMatch) => {
    const field = fields[kind]
    return field && fieldValues(kind, field, exact)(position)[0]
  }
  return hit => {
    const value = readGroup(hit)
    const own = among.parts.map(({ kind, query, postFilter }) => ({
      kind,
      evaluation: evaluation(
        kind,
        andNode([query, ...(postFilter ? [postFilter] : []), inGroup(fields[kind], value)]),
        among,
      ),
    }))
    const found = findBest(request, own, { exact, reader, limits })
    return { total: countAll(request, own, reader), found: found.slice(request.from) }
  }
}

/** Condition for the hits of a group; undefined: no value, or a kind without the field. */
export const inGroup = (field: FieldPath | undefined, value: QueryValue | undefined): Node => {
  if (value === undefined) return field ? notNode(existsNode(field)) : andNode([])
  return field ? inNode(field, [value]) : NO_MATCH
}

const NO_MATCH: Node = { op: 'none' }
