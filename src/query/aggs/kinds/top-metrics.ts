import { refuse } from '../../../lib/errors.ts'
import { lowerClause } from '../../dsl/index.ts'
import { elements, type JsonNode, known, string, unexpected, where } from '../../json-node.ts'
import type { Sort } from '../../request.ts'
import { parseSort } from '../../sort.ts'
import type { SpecOf } from '../ast.ts'
import { hasSeveral, readValues } from '../fields.ts'
import { formatOf } from '../formats.ts'
import { count } from '../options.ts'
import type { AggregationKind, AggregationScope } from './kind.ts'
import { scripts } from './terms.ts'

export const topMetrics: AggregationKind = {
  doc: 'Values of the first documents of each bucket in an order, such as the newest price.',
  limit: 'Not inside `nested`. The fields have one value.',
  example: { metrics: { field: 'gasPrice.num' }, sort: { timestamp: 'desc' } },
  on: 'tx',
  buckets: false,
  read(place, scope) {
    const keys = known(place, 'an object with [metrics] and [sort]', ['metrics', 'sort', 'size'], [])
    if (keys.metrics === undefined)
      throw unexpected(place, 'an object with [metrics], such as {"field": "gasPrice.num"}')
    if (keys.sort === undefined) throw unexpected(place, 'an object with [sort], such as {"timestamp": "desc"}')
    if (scope.nested !== undefined)
      throw refuse(
        'illegal_argument_exception',
        `${where(place)}: top_metrics looks at documents, not at elements of [${scope.nested}]. Use top_hits there.`,
      )
    const size = count(keys.size, 1, 1)
    if (size > MOST)
      throw refuse(
        'illegal_argument_exception',
        `${where(keys.size!)}: [top_metrics.size] must not be more than [${MOST}] but was [${size}]. Use top_hits for more.`,
      )
    const metrics = elements(keys.metrics).map(at => metricOf(at, scope))
    if (metrics.length === 0) throw unexpected(keys.metrics, 'at least one field')
    return { kind: 'top_metrics', metrics, sort: sortOf(keys.sort, scope), size }
  },
}

/** As in Elasticsearch (index.top_metrics_max_size). */
const MOST = 10

const metricOf = (place: JsonNode, scope: AggregationScope): SpecOf<'top_metrics'>['metrics'][number] => {
  const keys = known(place, 'an object such as {"field": "gasPrice.num"}', ['field', 'missing', 'script'], [])
  if (keys.script) throw scripts(keys.script)
  const values = readValues(place, keys, scope, 'any')
  const bad = values.meta ? 'is no field with values' : hasSeveral(values) ? 'is a list' : undefined
  const name = string(keys.field!, 'the name of a field')
  if (bad !== undefined)
    throw refuse(
      'illegal_argument_exception',
      `${where(keys.field!)}: [${name}] ${bad}: top_metrics shows fields of one value. Use top_hits.`,
    )
  const format = values.type === 'date' ? formatOf(scope, place, values, {}) : undefined
  return { name, values, format }
}

const sortOf = (place: JsonNode, scope: AggregationScope): Sort => {
  const [sort, other] = parseSort(place, { ...scope, lower: lowerClause })
  if (!sort || other) throw unexpected(place, 'one sort key: [top_metrics] sorts by one')
  const [field] = Object.values(sort.fields)
  if (sort.by === '_doc' || sort.by === '_shard_doc' || sort.by === '_id' || field?.es === 'keyword')
    throw refuse(
      'illegal_argument_exception',
      `${where(place)}: top_metrics sorts by a number, a date or [_score]. Use top_hits for other orders.`,
    )
  // As the values of the field are written.
  const isPlain = field?.es === 'date' && sort.format === undefined && sort.as === undefined
  return isPlain ? { ...sort, format: field.kind === 'seconds' ? 'epoch_second' : 'strict_date_optional_time' } : sort
}
