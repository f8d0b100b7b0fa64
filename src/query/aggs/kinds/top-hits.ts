import { refuse } from '../../../lib/errors.ts'
import { nestedPaths } from '../../../mapping/index.ts'
import type { Node } from '../../ast.ts'
import { lowerClause, lowerScored } from '../../dsl/index.ts'
import { parseElementSort } from '../../inner-hits.ts'
import { type JsonNode, known, where } from '../../json-node.ts'
import { parseShown, SHOWN_KEYS } from '../../shown.ts'
import { parseSort } from '../../sort.ts'
import type { SpecOf } from '../ast.ts'
import { count } from '../options.ts'
import type { AggregationKind, AggregationScope } from './kind.ts'

export const topHits: AggregationKind = {
  doc: 'The top documents of each bucket, as hits, with everything that a hit can show.',
  limit: 'Inside `nested` they are elements of the list, sorted by their own members.',
  example: { size: 1, sort: [{ timestamp: 'desc' }], _source: ['event'] },
  buckets: false,
  read(place, scope, { around }) {
    const keys = known(place, 'an object with [size], [from], [sort] and [_source]', KEYS, [])
    const [size, from] = [count(keys.size, 0, 3), count(keys.from, 0, 0)]
    if (size + from > MOST)
      throw refuse(
        'illegal_argument_exception',
        `${where(place)}: Top hits result window is too large, from + size must be less than or equal to: [${MOST}] but was [${from + size}].`,
      )
    const { kinds, budget } = scope
    const { limits } = budget
    return {
      ...{ kind: 'top_hits', size, from },
      ...orderOf(keys, scope),
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

/** Elements of nested lists are sorted by their own members. */
const orderOf = (
  { sort, seq_no_primary_term: sequence }: Partial<Record<(typeof KEYS)[number], JsonNode>>,
  scope: AggregationScope,
): Pick<SpecOf<'top_hits'>, 'sort' | 'elements'> => {
  const path = scope.nested
  if (path === undefined) return { sort: parseSort(sort, { ...scope, lower: lowerClause }), elements: undefined }
  if (sequence && sequence.value !== false)
    throw refuse('illegal_argument_exception', `${where(sequence)}: elements of a list have no sequence numbers.`)
  const kind = scope.kinds.find(one => nestedPaths(one).includes(path))!
  return { sort: [], elements: { path, sort: sort ? parseElementSort(sort, kind, path) : [] } }
}

const KEYS = ['size', 'from', 'sort', ...SHOWN_KEYS] as const
const MOST = 100
