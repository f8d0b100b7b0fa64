import { refuse } from '../../lib/errors.ts'
import { parentsOf } from '../../mapping/joins.ts'
import { boolean, type JsonNode, known, named, string, unexpected, where } from '../json-node.ts'
import { constant, NEVER } from '../score.ts'
import { parent } from '../simplify.ts'
import type { Clause } from './clause.ts'
import { checkOutsideOfLists, kindNamed, lowerInner, noRelation } from './join.ts'

export const hasParent: Clause = {
  doc: 'The parent is of this entity (parent_type, or type as in old versions) and matches the inner query.',
  example: { parent_type: 'tx', query: { range: { 'value.coin': { gt: 0 } } } },
  lower(place, scope, inner) {
    const keys = known(place, 'an object such as {"parent_type": "tx", "query": {…}}', KEYS)
    const { parent_type, type, query, ignore_unmapped, score, score_mode, inner_hits } = keys
    if (score !== undefined && score_mode !== undefined)
      throw refuse('parsing_exception', `${where(score)}: [has_parent] has both score and its old name, score_mode.`)
    const counts = score === undefined ? score_mode !== undefined && isCounted(score_mode) : boolean(score)
    if (type !== undefined && parent_type !== undefined)
      throw refuse(
        'parsing_exception',
        `${where(type)}: [has_parent] has both parent_type and its old name, type. Leave one out.`,
      )
    const given = parent_type ?? type
    if (given === undefined)
      throw unexpected(place, "an object with [parent_type]: [has_parent] requires 'parent_type' field")
    if (query === undefined) throw unexpected(place, "an object with [query]: [has_parent] requires 'query' field")
    const ignoresUnmapped = ignore_unmapped !== undefined && boolean(ignore_unmapped)
    checkOutsideOfLists('has_parent', place, scope)
    const { name, kind } = kindNamed(given)
    const possible = [...new Set(scope.kinds.flatMap(parentsOf))]
    if (kind === undefined || !possible.includes(kind)) {
      if (ignoresUnmapped) return NEVER
      const of = scope.kinds.join(', ')
      throw noRelation(given, `[has_parent] ${of} has no parent of type ${named(name)}.`, name, possible)
    }
    const of = lowerInner('parent', { query, inner_hits }, { name, kind }, scope, inner)
    if (of === undefined) return NEVER
    const node = parent(kind, of.node)
    if (!counts || node.op === 'none') return constant(node)
    if (of.score === undefined) return { node, score: undefined }
    return { node, score: Object.freeze({ by: 'parent', kind, of, boost: 1 }) }
  },
}

const KEYS = ['parent_type', 'type', 'query', 'ignore_unmapped', 'score', 'score_mode', 'inner_hits'] as const

/** The name of old versions for whether the parent's score counts. */
const isCounted = (place: JsonNode): boolean => {
  const mode = string(place, '"none" or "score"').toLowerCase()
  if (mode !== 'none' && mode !== 'score') throw unexpected(place, '"none" or "score"')
  return mode === 'score'
}
