import { nestedPaths } from '../../../mapping/index.ts'
import type { Node } from '../../ast.ts'
import { lowerClause, lowerScored } from '../../dsl/index.ts'
import { HIT_OPTION_KEYS, parseHitOptions } from '../../hits/hit-options.ts'
import { parseElementSort } from '../../hits/inner-hits.ts'
import { parseSort } from '../../hits/sort.ts'
import { elements, type JsonNode, placeMember, toText, unexpected } from '../../json-node.ts'
import { itself, key, neededKey, nodeKey, readBodyKeys, SCHEMAS } from '../../keys.ts'
import type { SortSpec } from '../../request.ts'
import type { SpecOf } from '../ast.ts'
import { formatOfValues, hasSeveral, readFieldValues } from '../fields.ts'
import {
  type AggregationBody,
  type AggregationScope,
  aggregation,
  illegal,
  nameKey,
  scriptKey,
  wholeKey,
} from './kind.ts'

const MAX_TOP_HITS = 100

export const topHitsKind = aggregation({
  doc: 'The top documents of each bucket, as hits, with everything that a hit can show.',
  limit: 'Inside `nested` they are elements of the list, sorted by their own members.',
  example: { size: 1, sort: [{ timestamp: 'desc' }], _source: ['event'] },
  ...{ gives: 'hits', expected: 'an object with [size], [from], [sort] and [_source]' },
  keys: {
    ...{ size: wholeKey(0, 3), from: wholeKey(0, 0), sort: nodeKey, ...HIT_OPTION_KEYS },
  },
  spec({ size, from, sort, ...shown }, { place, scope, at: { around } }) {
    if (size + from > MAX_TOP_HITS)
      throw illegal(
        place,
        `Top hits result window is too large, from + size must be less than or equal to: [${MAX_TOP_HITS}] but was [${from + size}].`,
      )
    const { kinds, budget, shape } = scope
    if (scope.nested !== undefined && shown.seq_no_primary_term)
      throw illegal(placeMember(place, 'seq_no_primary_term', true), 'elements of a list have no sequence numbers.')
    const queries = (at: JsonNode) =>
      Object.fromEntries(
        kinds.map(kind => {
          const marks: Node[] = []
          lowerScored(at, { ...scope, kind, marks })
          return [kind, marks]
        }),
      )
    return {
      ...{ kind: 'top_hits', size, from, scored: !around.includes('global') },
      ...topHitsOrder(sort, scope),
      ...parseHitOptions(shown, { kinds, limits: budget.limits, queries, shape }),
    }
  },
})

const topHitsOrder = (
  sort: JsonNode | undefined,
  scope: AggregationScope,
): Pick<SpecOf<'top_hits'>, 'sort' | 'elements'> => {
  const path = scope.nested
  if (path === undefined) return { sort: parseSort(sort, { ...scope, lower: lowerClause }), elements: undefined }
  const kind = scope.kinds.find(one => nestedPaths(one).includes(path))!
  return { sort: [], elements: { path, sort: sort ? parseElementSort(sort, kind, path) : [] } }
}

/** As in Elasticsearch (index.top_metrics_max_size). */
const MAX_TOP_METRICS = 10

const topMetricsSize = key(at => {
  const size = wholeKey(1, 1).read(at)
  if (size <= MAX_TOP_METRICS) return size
  throw illegal(
    at!,
    `[top_metrics.size] must not be more than [${MAX_TOP_METRICS}] but was [${size}]. Use top_hits for more.`,
  )
}, SCHEMAS.whole)

export const topMetricsKind = aggregation({
  doc: 'Values of the first documents of each bucket in an order, such as the newest price.',
  limit: 'Not inside `nested`. The fields have one value.',
  example: { metrics: { field: 'gasPrice.num' }, sort: { timestamp: 'desc' } },
  ...{ on: 'tx', gives: 'numbers', expected: 'an object with [metrics] and [sort]' },
  keys: {
    metrics: neededKey(itself, {}, ', such as {"field": "gasPrice.num"}'),
    sort: neededKey(itself, {}, ', such as {"timestamp": "desc"}'),
    size: topMetricsSize,
  },
  spec({ metrics: given, sort, size }, body) {
    const { place, scope } = body
    if (scope.nested !== undefined)
      throw illegal(place, `top_metrics looks at documents, not at elements of [${scope.nested}]. Use top_hits there.`)
    const metrics = elements(given).map(at => metricOf(at, body))
    if (metrics.length === 0) throw unexpected(given, 'at least one field')
    return { kind: 'top_metrics', metrics, sort: topMetricsSort(sort, scope), size }
  },
})

const metricOf = (place: JsonNode, around: AggregationBody): SpecOf<'top_metrics'>['metrics'][number] => {
  const body = { ...around, place }
  const keys = readBodyKeys(
    place,
    'an object such as {"field": "gasPrice.num"}',
    { field: nameKey, missing: nodeKey, script: scriptKey },
    [],
  )
  const values = readFieldValues('any', keys, body)
  const bad = values.meta ? 'is no field with values' : hasSeveral(values) ? 'is a list' : undefined
  const name = toText(keys.field!, 'the name of a field')
  if (bad !== undefined)
    throw illegal(keys.field!, `[${name}] ${bad}: top_metrics shows fields of one value. Use top_hits.`)
  return { name, values, format: values.type === 'date' ? formatOfValues(values, {}, body) : undefined }
}

const topMetricsSort = (place: JsonNode, scope: AggregationScope): SortSpec => {
  const [sort, other] = parseSort(place, { ...scope, lower: lowerClause })
  if (!sort || other) throw unexpected(place, 'one sort key: [top_metrics] sorts by one')
  const [field] = Object.values(sort.fields)
  if (sort.by === '_doc' || sort.by === '_shard_doc' || sort.by === '_id' || field?.es === 'keyword')
    throw illegal(place, `top_metrics sorts by a number, a date or [_score]. Use top_hits for other orders.`)
  const isPlain = field?.es === 'date' && sort.format === undefined && sort.as === undefined
  return isPlain ? { ...sort, format: field.kind === 'seconds' ? 'epoch_second' : 'strict_date_optional_time' } : sort
}
