import { refuse } from '../../lib/errors.ts'
import { childrenOf } from '../../mapping/joins.ts'
import { boolean, integer, type JsonNode, known, named, unexpected, where } from '../json-node.ts'
import { constant, NEVER } from '../score.ts'
import { child } from '../simplify.ts'
import type { Clause } from './clause.ts'
import { checkOutsideOfLists, kindNamed, lowerInner, noRelation } from './join.ts'
import { readScoreMode } from './score-mode.ts'

export const hasChild: Clause = {
  doc: 'A child of this entity (type) matches the inner query, or from min_children to max_children of them do. Transactions are children of their block; logs, events, traces and calls are children of their transaction, and rewards of the block.',
  example: { type: 'event', query: { term: { event: 'transfer' } }, min_children: 2 },
  on: 'tx',
  lower(place, scope, inner) {
    const keys = known(place, 'an object such as {"type": "event", "query": {…}}', KEYS)
    const { type, query, ignore_unmapped, inner_hits, score_mode } = keys
    if (type === undefined) throw unexpected(place, "an object with [type]: [has_child] requires 'type' field")
    if (query === undefined) throw unexpected(place, "an object with [query]: [has_child] requires 'query' field")
    const ignoresUnmapped = ignore_unmapped !== undefined && boolean(ignore_unmapped)
    checkOutsideOfLists('has_child', place, scope)
    const { name, kind } = kindNamed(type)
    // Zero counts as one, as it does in Elasticsearch up to version 7.
    const min = Math.max(1, keys.min_children ? childCount(keys.min_children, 'min_children', 0) : 1)
    const max = keys.max_children ? childCount(keys.max_children, 'max_children', 1) : Number.POSITIVE_INFINITY
    if (max < min)
      throw refuse(
        'illegal_argument_exception',
        `${where(place)}: [has_child] 'max_children' is less than 'min_children': ${max} < ${min}.`,
      )
    const possible = [...new Set(scope.kinds.flatMap(childrenOf))]
    if (kind === undefined || !possible.includes(kind)) {
      if (ignoresUnmapped) return NEVER
      const of = scope.kinds.join(', ')
      throw noRelation(type, `[has_child] ${of} has no children of type ${named(name)}.`, name, possible)
    }
    const of = lowerInner('child', { query, inner_hits }, { name, kind }, scope, inner)
    if (of === undefined) return NEVER
    const node = child(kind, of.node, min, max)
    const mode = readScoreMode(score_mode, 'none')
    if (mode === 'none' || node.op === 'none') return constant(node)
    if (of.score === undefined) return { node, score: undefined }
    return { node, score: Object.freeze({ by: 'child', kind, mode, of, boost: 1 }) }
  },
}

const KEYS = ['type', 'query', 'min_children', 'max_children', 'ignore_unmapped', 'score_mode', 'inner_hits'] as const

const childCount = (place: JsonNode, name: string, least: number): number => {
  const count = integer(place, `an integer from ${least} on`)
  if (count >= least) return count
  const sign = least === 0 ? 'non-negative' : 'positive'
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: [has_child] requires ${sign} '${name}' field, received ${count}. For documents without such children, put the has_child into must_not of a bool.`,
  )
}
