import { known, unexpected } from '../json-node.ts'
import type { Clause } from './clause.ts'

export const constantScore: Clause = {
  doc: 'Matches what its filter matches.',
  example: { filter: { term: { event: 'transfer' } } },
  lower(place, scope, inner) {
    const { filter } = known(place, 'an object such as {"filter": {…}}', ['filter'])
    if (filter === undefined) throw unexpected(place, 'an object with [filter]')
    return inner(filter, scope)
  },
}
