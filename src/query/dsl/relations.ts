import { type ChainsieveError, refuse } from '../../lib/errors.ts'
import { didYouMean } from '../../lib/name-matching.ts'
import { childKindsOf, KINDS, type Kind, nestedPaths, parentKindsOf } from '../../mapping/index.ts'
import { NONE_NODE } from '../ast.ts'
import { takeInnerHits } from '../hits/inner-hits.ts'
import { bracketName, type JsonNode, toBoolean, toScalar, toText, toWhole, unexpected, where } from '../json-node.ts'
import { booleanKey, itself, key, neededKey, nodeKey, optionalKey, SCHEMAS } from '../keys.ts'
import type { InnerHits } from '../request.ts'
import { canonicalId, type QueryScope } from '../scope.ts'
import { constantScored, SCORED_NONE, type ScoredQuery, type ScoreMode, sameScore } from '../score.ts'
import { childNode, idsNode, nestedNode, orNode, parentNode } from '../simplify.ts'
import { type LowerInner, objectClause } from './clause.ts'

const scoreMode = (fallback: ScoreMode | 'none') =>
  key((place): ScoreMode | 'none' => {
    if (place === undefined || place.value === null) return fallback
    const name = toText(place, EXPECTED_SCORE_MODE).toLowerCase()
    const mode = SCORE_MODES.find(mode => mode === name)
    if (mode === undefined) throw unexpected(place, EXPECTED_SCORE_MODE)
    return mode
  }, SCHEMAS.text)

const SCORE_MODES = ['avg', 'sum', 'min', 'max', 'none'] as const
const EXPECTED_SCORE_MODE = '"avg", "sum", "min", "max" or "none"'

export const nestedClause = objectClause({
  doc: 'One element of the list (path) matches the whole inner query, which names fields by their full path. The scores of the matching elements are combined by score_mode: avg, sum, min, max or none.',
  example: {
    path: 'args',
    query: { bool: { filter: [{ term: { 'args.name': 'value' } }, { range: { 'args.value.num': { gte: 1000 } } }] } },
  },
  expected: 'an object such as {"path": "args", "query": {…}}',
  keys: {
    path: neededKey(itself, SCHEMAS.text),
    query: neededKey(itself, SCHEMAS.query),
    ignore_unmapped: booleanKey,
    score_mode: scoreMode('avg'),
    inner_hits: nodeKey,
  },
  lower({ path: pathPlace, query, ignore_unmapped, inner_hits, score_mode: mode }, { place, scope, inner }) {
    const path = toText(pathPlace, 'the name of a nested list')
    if (scope.nested !== undefined)
      throw refuse(
        'query_shard_exception',
        `${where(place)}: there is no nested list ${bracketName(path)} inside of [${scope.nested}]. Put the inner query beside the other conditions.`,
      )
    const lists = scope.kinds.flatMap(nestedPaths)
    if (lists.includes(path)) {
      const here = nestedPaths(scope.kind).includes(path)
      const outer = here ? scope : { ...scope, innerHits: undefined }
      const own: InnerHits[] = []
      const within = { ...scope, nested: path, innerHits: inner_hits && own }
      const of = inner(query, within)
      takeInnerHits(inner_hits, of.node, own, { by: 'nested', name: path, inner: within, outer, lower: inner })
      if (!here) return SCORED_NONE
      const node = nestedNode(path, of.node)
      if (mode === 'none') return { node, score: sameScore(0) }
      if (of.score === undefined || node.op === 'none') return { node, score: undefined }
      if (of.score.by === 'same' && mode !== 'sum') return { node, score: of.score }
      return { node, score: Object.freeze({ by: 'nested', path, mode, of }) }
    }
    if (ignore_unmapped) return SCORED_NONE
    const there = lists.length > 0 ? `Nested lists are ${lists.join(', ')}.` : 'It has none.'
    throw refuse(
      'query_shard_exception',
      `${where(pathPlace)}: [nested] failed to find nested object under path ${bracketName(path)} of ${scope.kinds.join(', ')}.${didYouMean(path, lists)} ${there}`,
    )
  },
})

const childCount = (name: string, least: number) =>
  optionalKey(place => {
    const count = toWhole(place, `an integer from ${least} on`)
    if (count >= least) return count
    const sign = least === 0 ? 'non-negative' : 'positive'
    throw refuse(
      'illegal_argument_exception',
      `${where(place)}: [has_child] requires ${sign} '${name}' field, received ${count}. For documents without such children, put the has_child into must_not of a bool.`,
    )
  }, SCHEMAS.whole)

export const hasChildClause = objectClause({
  doc: 'A child of this entity (type) matches the inner query, or from min_children to max_children of them do. Transactions are children of their block; logs, events, traces and calls are children of their transaction, and rewards of the block.',
  example: { type: 'event', query: { term: { event: 'transfer' } }, min_children: 2 },
  on: 'tx',
  expected: 'an object such as {"type": "event", "query": {…}}',
  keys: {
    type: neededKey(itself, SCHEMAS.text, ": [has_child] requires 'type' field"),
    query: neededKey(itself, SCHEMAS.query, ": [has_child] requires 'query' field"),
    min_children: childCount('min_children', 0),
    max_children: childCount('max_children', 1),
    ignore_unmapped: booleanKey,
    score_mode: scoreMode('none'),
    inner_hits: nodeKey,
  },
  lower(keys, { place, scope, inner }) {
    const { type, min_children = 1, max_children: max = Number.POSITIVE_INFINITY, score_mode: mode } = keys
    checkOutsideOfLists('has_child', place, scope)
    // Zero counts as one, as it does in Elasticsearch up to version 7.
    const min = Math.max(1, min_children)
    if (max < min)
      throw refuse(
        'illegal_argument_exception',
        `${where(place)}: [has_child] 'max_children' is less than 'min_children': ${max} < ${min}.`,
      )
    const found = lowerRelative('child', type, keys, scope, inner)
    if (found === undefined) return SCORED_NONE
    const { kind, of } = found
    const node = childNode(kind, of.node, min, max)
    if (mode === 'none' || node.op === 'none') return constantScored(node)
    if (of.score === undefined) return { node, score: undefined }
    return { node, score: Object.freeze({ by: 'child', kind, mode, of, boost: 1 }) }
  },
})

/** Old option for whether the score of the parent counts. */
const isScoreCounted = (place: JsonNode): boolean => {
  const mode = toText(place, '"none" or "score"').toLowerCase()
  if (mode !== 'none' && mode !== 'score') throw unexpected(place, '"none" or "score"')
  return mode === 'score'
}

export const hasParentClause = objectClause({
  doc: 'The parent is of this entity (parent_type, or type as in old versions) and matches the inner query.',
  example: { parent_type: 'tx', query: { range: { 'value.coin': { gt: 0 } } } },
  expected: 'an object such as {"parent_type": "tx", "query": {…}}',
  keys: {
    parent_type: optionalKey(itself, SCHEMAS.text),
    type: optionalKey(itself, SCHEMAS.text),
    query: optionalKey(itself, SCHEMAS.query),
    ignore_unmapped: booleanKey,
    score: optionalKey(itself, SCHEMAS.flag),
    score_mode: optionalKey(itself, SCHEMAS.text),
    inner_hits: nodeKey,
  },
  lower({ parent_type, type, query, score, score_mode, ...more }, { place, scope, inner }) {
    if (score !== undefined && score_mode !== undefined)
      throw refuse('parsing_exception', `${where(score)}: [has_parent] has both score and its old name, score_mode.`)
    const counts = score === undefined ? score_mode !== undefined && isScoreCounted(score_mode) : toBoolean(score)
    if (type !== undefined && parent_type !== undefined)
      throw refuse(
        'parsing_exception',
        `${where(type)}: [has_parent] has both parent_type and its old name, type. Leave one out.`,
      )
    const given = parent_type ?? type
    if (given === undefined)
      throw unexpected(place, "an object with [parent_type]: [has_parent] requires 'parent_type' field")
    if (query === undefined) throw unexpected(place, "an object with [query]: [has_parent] requires 'query' field")
    checkOutsideOfLists('has_parent', place, scope)
    const found = lowerRelative('parent', given, { ...more, query }, scope, inner)
    if (found === undefined) return SCORED_NONE
    const { kind, of } = found
    const node = parentNode(kind, of.node)
    if (!counts || node.op === 'none') return constantScored(node)
    if (of.score === undefined) return { node, score: undefined }
    return { node, score: Object.freeze({ by: 'parent', kind, of, boost: 1 }) }
  },
})

export const parentIdClause = objectClause({
  doc: 'The document is of this entity (type) and its parent has this id.',
  example: { type: 'event', id: '0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060' },
  expected: 'an object such as {"type": "event", "id": "0x…"}',
  keys: {
    type: neededKey(itself, SCHEMAS.text, ": [parent_id] requires 'type' field"),
    id: neededKey(itself, SCHEMAS.text, ": [parent_id] requires 'id' field"),
    ignore_unmapped: booleanKey,
  },
  lower({ type, id, ignore_unmapped }, { place, scope }) {
    checkOutsideOfLists('parent_id', place, scope)
    const { name, kind } = kindNamed(type)
    const node = idsNode([canonicalId(toScalar(id, 'an id'))])
    if (kind !== undefined && parentKindsOf(kind).length > 0)
      return constantScored(
        kind === scope.kind ? orNode(parentKindsOf(kind).map(of => parentNode(of, node))) : NONE_NODE,
      )
    if (ignore_unmapped) return constantScored(NONE_NODE)
    const possible = KINDS.filter(kind => parentKindsOf(kind).length > 0)
    throw noRelation(type, `[parent_id] no relation found for child ${bracketName(name)}.`, name, possible)
  },
})

/** Kind of the other side; undefined for an unknown name. */
export const kindNamed = (place: JsonNode): { name: string; kind: Kind | undefined } => {
  const name = toText(place, 'the name of an entity')
  return { name, kind: KINDS.find(kind => kind === name) }
}

/** Reads the relative's query and collects its inner hits; undefined without such relatives. */
const lowerRelative = (
  by: 'child' | 'parent',
  type: JsonNode,
  {
    query,
    inner_hits,
    ignore_unmapped,
  }: { query: JsonNode; inner_hits: JsonNode | undefined; ignore_unmapped: boolean | undefined },
  scope: QueryScope,
  inner: LowerInner,
): { kind: Kind; of: ScoredQuery } | undefined => {
  const relativesOf = by === 'child' ? childKindsOf : parentKindsOf
  const { name, kind } = kindNamed(type)
  const possible = [...new Set(scope.kinds.flatMap(relativesOf))]
  if (kind === undefined || !possible.includes(kind)) {
    if (ignore_unmapped) return undefined
    const has = `${scope.kinds.join(', ')} has no ${by === 'child' ? 'children' : 'parent'}`
    throw noRelation(type, `[has_${by}] ${has} of type ${bracketName(name)}.`, name, possible)
  }
  const isHere = relativesOf(scope.kind).includes(kind)
  const outer = isHere ? scope : { ...scope, innerHits: undefined }
  const own: InnerHits[] = []
  const within = {
    ...{ ...scope, kind, kinds: [kind] },
    ...{ collected: undefined, marks: undefined, innerHits: inner_hits && own },
  }
  const of = inner(query, within)
  takeInnerHits(inner_hits, of.node, own, { by, name, inner: within, outer, lower: inner })
  return isHere ? { kind, of } : undefined
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

const checkOutsideOfLists = (clause: string, place: JsonNode, { nested }: QueryScope): void => {
  if (nested === undefined) return
  throw refuse(
    'query_shard_exception',
    `${where(place)}: [${clause}] applies to documents, not to the elements of ${bracketName(nested)}. Put it next to the nested clause, both in one bool.`,
  )
}
