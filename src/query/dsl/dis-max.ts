import { elements, known, unexpected } from '../json-node.ts'
import { readDouble } from '../numbers.ts'
import { best } from '../score.ts'
import { or } from '../simplify.ts'
import type { Clause } from './clause.ts'

export const disMax: Clause = {
  doc: 'Matches what any of its queries matches. The score is the best one, plus tie_breaker times each of the others.',
  example: { queries: [{ term: { event: 'transfer' } }, { term: { event: 'approval' } }] },
  lower(place, scope, inner) {
    const { queries, tie_breaker } = known(place, 'an object such as {"queries": […]}', ['queries', 'tie_breaker'])
    if (queries === undefined) throw unexpected(place, 'an object with [queries]')
    const list = elements(queries)
    if (list.length === 0) throw unexpected(queries, 'a list of at least one clause')
    const parts = list.map(clause => inner(clause, scope))
    const tie = tie_breaker === undefined ? 0 : readDouble(tie_breaker)
    return { node: or(parts.map(({ node }) => node)), score: best(parts, tie) }
  },
}
