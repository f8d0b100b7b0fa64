import { elements, known, unexpected } from '../json-node.ts'
import { or } from '../simplify.ts'
import type { Clause } from './clause.ts'

export const disMax: Clause = {
  doc: 'Matches what one of its queries matches.',
  example: { queries: [{ term: { event: 'transfer' } }, { term: { event: 'approval' } }] },
  lower(place, scope, inner) {
    // A score is the same for every hit, so a tie needs no breaker.
    const { queries } = known(place, 'an object such as {"queries": […]}', ['queries', 'tie_breaker'])
    if (queries === undefined) throw unexpected(place, 'an object with [queries]')
    const list = elements(queries)
    if (list.length === 0) throw unexpected(queries, 'a list of at least one clause')
    return or(list.map(clause => inner(clause, scope)))
  },
}
