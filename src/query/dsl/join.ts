import { type ChainsieveError, refuse } from '../../lib/errors.ts'
import { didYouMean } from '../../lib/nearest.ts'
import { KINDS, type Kind } from '../../mapping/index.ts'
import { childrenOf, parentsOf } from '../../mapping/joins.ts'
import { takeInnerHits } from '../inner-hits.ts'
import { type JsonNode, named, string, where } from '../json-node.ts'
import type { InnerHits } from '../request.ts'
import type { Scope } from '../scope.ts'
import type { Scored } from '../score.ts'
import type { Clause } from './clause.ts'

/** The kind that a clause names as its other side, undefined where the name is none. */
export const kindNamed = (place: JsonNode): { name: string; kind: Kind | undefined } => {
  const name = string(place, 'the name of an entity')
  return { name, kind: KINDS.find(kind => kind === name) }
}

/** Reads the query of a clause on relatives on their kind, and takes note of what it shows. Undefined where the kind at hand has none. */
export const lowerInner = (
  by: 'child' | 'parent',
  { query, inner_hits }: { query: JsonNode; inner_hits: JsonNode | undefined },
  { name, kind }: { name: string; kind: Kind },
  scope: Scope,
  inner: Parameters<Clause['lower']>[2],
): Scored | undefined => {
  const isHere = (by === 'child' ? childrenOf : parentsOf)(scope.kind).includes(kind)
  const outer = isHere ? scope : { ...scope, innerHits: undefined }
  const own: InnerHits[] = []
  const within = {
    ...{ ...scope, kind, kinds: [kind] },
    ...{ collected: undefined, marks: undefined, innerHits: inner_hits && own },
  }
  const of = inner(query, within)
  takeInnerHits(inner_hits, of.node, own, { by, name, inner: within, outer, lower: inner })
  return isHere ? of : undefined
}

export const noRelation = (
  place: JsonNode,
  reason: string,
  name: string,
  possible: readonly Kind[],
): ChainsieveError => {
  const near = KINDS.some(kind => kind === name) ? '' : didYouMean(name, possible.length > 0 ? possible : KINDS)
  return refuse('query_shard_exception', `${where(place)}: ${reason}${near} ${TREE}`)
}

const TREE =
  'The tree is block > tx > log, event, trace, with the rewards among the traces in the block. For two steps, put one such clause into another.'

export const checkOutsideOfLists = (clause: string, place: JsonNode, { nested }: Scope): void => {
  if (nested === undefined) return
  throw refuse(
    'query_shard_exception',
    `${where(place)}: [${clause}] applies to documents, not to the elements of ${named(nested)}. Put it next to the nested clause, both in one bool.`,
  )
}
