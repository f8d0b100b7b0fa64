import { refuse } from '../../../lib/errors.ts'
import { known, members, string, unexpected, where } from '../../json-node.ts'
import { queriesOf } from './filter.ts'
import type { AggregationKind } from './kind.ts'

export const adjacencyMatrix: AggregationKind = {
  doc: 'A bucket for each of some queries, and for what each two of them both match; only those with documents.',
  example: { filters: { transfers: { term: { 'event.raw': 'Transfer' } }, all: { match_all: {} } } },
  buckets: true,
  read(place, scope) {
    const keys = known(place, 'an object with [filters]', ['filters', 'separator'], [])
    if (keys.filters === undefined) throw unexpected(place, 'an object with [filters]')
    const filters = members(keys.filters, 'queries by name')
    if (filters.length === 0) throw unexpected(keys.filters, 'queries by name, one at least')
    if (filters.length > MOST)
      throw refuse(
        'illegal_argument_exception',
        `${where(keys.filters)}: Number of filters is too large, must be less than or equal to: [${MOST}] but was [${filters.length}].`,
      )
    return {
      kind: 'adjacency_matrix',
      separator: keys.separator
        ? scope.budget.name(string(keys.separator, 'a text to stand between two names'), keys.separator)
        : '&',
      filters: filters
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, at]) => ({ name: scope.budget.name(name, at), query: queriesOf(at, scope) })),
    }
  },
}

/** As in Elasticsearch (index.max_adjacency_matrix_filters). */
const MOST = 100
