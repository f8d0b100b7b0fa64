import { type ChainsieveError, refuse } from '../../lib/errors.ts'
import { didYouMean } from '../../lib/nearest.ts'
import { KINDS, type Kind } from '../../mapping/index.ts'
import { type JsonNode, named, string, where } from '../json-node.ts'
import type { Scope } from '../scope.ts'

/** The kind that a clause names as its other side, undefined where the name is none. */
export const kindNamed = (place: JsonNode): { name: string; kind: Kind | undefined } => {
  const name = string(place, 'the name of an entity')
  return { name, kind: KINDS.find(kind => kind === name) }
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
