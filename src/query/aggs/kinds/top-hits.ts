import { refuse } from '../../../lib/errors.ts'
import type { Node } from '../../ast.ts'
import { lowerClause, lowerScored } from '../../dsl/index.ts'
import { known, where } from '../../json-node.ts'
import { parseShown, SHOWN_KEYS } from '../../shown.ts'
import { parseSort } from '../../sort.ts'
import { count } from '../options.ts'
import type { AggregationKind } from './kind.ts'

export const topHits: AggregationKind = {
  doc: 'The top documents of each bucket, as hits, with everything that a hit can show.',
  limit: 'Not inside `nested`.',
  example: { size: 1, sort: [{ timestamp: 'desc' }], _source: ['event'] },
  buckets: false,
  read(place, scope, { around }) {
    const keys = known(place, 'an object with [size], [from], [sort] and [_source]', KEYS, [])
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
    const { kinds, budget } = scope
    const { limits } = budget
    return {
      ...{ kind: 'top_hits', size, from, sort: parseSort(keys.sort, { ...scope, lower: lowerClause }) },
      scored: !around.includes('global'),
      ...parseShown(keys, {
        ...{ kinds, limits },
        queries: at =>
          Object.fromEntries(
            kinds.map(kind => {
              const marks: Node[] = []
              lowerScored(at, { ...scope, kind, marks })
              return [kind, marks]
            }),
          ),
      }),
    }
  },
}

const KEYS = ['size', 'from', 'sort', ...SHOWN_KEYS] as const
const MOST = 100
