import { refuse } from '../../lib/errors.ts'
import { didYouMean } from '../../lib/nearest.ts'
import { nestedPaths } from '../../mapping/index.ts'
import { takeInnerHits } from '../inner-hits.ts'
import { boolean, known, named, string, unexpected, where } from '../json-node.ts'
import type { InnerHits } from '../request.ts'
import { NEVER, same } from '../score.ts'
import { nested as nestedNode } from '../simplify.ts'
import type { Clause } from './clause.ts'
import { readScoreMode } from './score-mode.ts'

export const nested: Clause = {
  doc: 'One element of the list (path) matches the whole inner query, which names fields by their full path. The scores of the matching elements are combined by score_mode: avg, sum, min, max or none.',
  example: {
    path: 'args',
    query: { bool: { filter: [{ term: { 'args.name': 'value' } }, { range: { 'args.value.num': { gte: 1000 } } }] } },
  },
  lower(place, scope, inner) {
    const keys = known(place, 'an object such as {"path": "args", "query": {…}}', KEYS)
    const { path: pathPlace, query, ignore_unmapped, inner_hits, score_mode } = keys
    if (pathPlace === undefined) throw unexpected(place, 'an object with [path]')
    if (query === undefined) throw unexpected(place, 'an object with [query]')
    const path = string(pathPlace, 'the name of a nested list')
    if (scope.nested !== undefined) {
      throw refuse(
        'query_shard_exception',
        `${where(place)}: there is no nested list ${named(path)} inside of [${scope.nested}]. Put the inner query beside the other conditions.`,
      )
    }
    const lists = scope.kinds.flatMap(nestedPaths)
    const ignoresUnmapped = ignore_unmapped !== undefined && boolean(ignore_unmapped)
    const mode = readScoreMode(score_mode, 'avg')
    if (lists.includes(path)) {
      const here = nestedPaths(scope.kind).includes(path)
      const outer = here ? scope : { ...scope, innerHits: undefined }
      const own: InnerHits[] = []
      const within = { ...scope, nested: path, innerHits: inner_hits && own }
      const of = inner(query, within)
      takeInnerHits(inner_hits, of.node, own, { by: 'nested', name: path, inner: within, outer, lower: inner })
      if (!here) return NEVER
      const node = nestedNode(path, of.node)
      if (mode === 'none') return { node, score: same(0) }
      if (of.score === undefined || node.op === 'none') return { node, score: undefined }
      if (of.score.by === 'same' && mode !== 'sum') return { node, score: of.score }
      return { node, score: Object.freeze({ by: 'nested', path, mode, of }) }
    }
    if (ignoresUnmapped) return NEVER
    const there = lists.length > 0 ? `Nested lists are ${lists.join(', ')}.` : 'It has none.'
    throw refuse(
      'query_shard_exception',
      `${where(pathPlace)}: [nested] failed to find nested object under path ${named(path)} of ${scope.kinds.join(', ')}.${didYouMean(path, lists)} ${there}`,
    )
  },
}

const KEYS = ['path', 'query', 'ignore_unmapped', 'score_mode', 'inner_hits'] as const
