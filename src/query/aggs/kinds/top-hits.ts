import { refuse } from '../../../lib/errors.ts'
import { lowerClause } from '../../dsl/index.ts'
import { known, unexpected, where } from '../../json-node.ts'
import { parseSort } from '../../sort.ts'
import { parseSource } from '../../source.ts'
import { count } from '../options.ts'
import type { AggregationKind } from './kind.ts'

export const topHits: AggregationKind = {
  doc: 'The top documents of each bucket, as hits.',
  limit: 'Only `size`, `from`, `sort` and `_source`.',
  example: { size: 1, sort: [{ timestamp: 'desc' }], _source: ['event'] },
  buckets: false,
  read(place, scope) {
    const keys = known(place, 'an object with [size], [from], [sort] and [_source]', KEYS, IGNORED)
    if (scope.nested !== undefined)
      throw refuse(
        'illegal_argument_exception',
        `${where(place)}: top_hits shows documents, not elements of [${scope.nested}]. Put it into a reverse_nested.`,
      )
    const [size, from] = [count(keys.size, 0, 3), count(keys.from, 0, 0)]
    if (size + from > MOST)
      throw refuse(
        'illegal_argument_exception',
        `${where(place)}: Top hits result window is too large, from + size must be less than or equal to: [${MOST}] but was [${from + size}].`,
      )
    const limits = scope.budget.limits
    const sort = parseSort(keys.sort, { ...scope, lower: lowerClause })
    if (sort.some(({ by }) => by === '_score') && sort.length > 1) throw unexpected(keys.sort!, 'fields to sort by')
    return { kind: 'top_hits', size, from, sort, source: keys._source ? parseSource(keys._source, limits) : true }
  },
}

const KEYS = ['size', 'from', 'sort', '_source'] as const
/** They change nothing here. */
const IGNORED = ['track_scores', 'version', 'explain', 'seq_no_primary_term']
const MOST = 100
