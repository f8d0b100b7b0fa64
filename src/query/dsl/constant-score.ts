import { known, unexpected } from '../json-node.ts'
import { constant } from '../score.ts'
import type { Clause } from './clause.ts'

export const constantScore: Clause = {
  doc: 'Matches what its filter matches, all with the same score (boost, 1 by default).',
  example: { filter: { term: { event: 'transfer' } } },
  lower(place, scope, inner) {
    const { filter } = known(place, 'an object such as {"filter": {…}}', ['filter'])
    if (filter === undefined) throw unexpected(place, 'an object with [filter]')
    return constant(inner(filter, scope).node)
  },
}
