import { refuse } from '../../../lib/errors.ts'
import { boolean, elements, isObject, type JsonNode, known, scalar, show, unexpected, where } from '../../json-node.ts'
import type { SpecOf, Terms } from '../ast.ts'
import { readValues } from '../fields.ts'
import { formatOf } from '../formats.ts'
import { checkOrder, count, readOrder } from '../options.ts'
import type { AggregationKind } from './kind.ts'

export const terms: AggregationKind = {
  doc: 'A bucket for each value of a field, the most frequent ones first. Counts are exact.',
  limit: '`include` and `exclude` take values, a prefix (`Trans.*`) or a partition, but no other regular expression.',
  example: { field: 'event.raw', size: 5 },
  buckets: true,
  read(place, scope) {
    const keys = known(place, 'an object such as {"field": "event.raw"}', KEYS, IGNORED)
    if (keys.script) throw scripts(keys.script)
    const values = readValues(place, keys, scope, 'any')
    const order = readOrder(keys.order, [{ by: '_count', ascending: false }])
    const size = count(keys.size, 1, 10)
    const byKey = order[0]!.by === '_key'
    return {
      kind: 'terms',
      values,
      size,
      shardSize: Math.max(size, count(keys.shard_size, 1, byKey ? size : Math.floor(size * 1.5 + 10))),
      minDocCount: count(keys.min_doc_count, 0, 1),
      order,
      terms: { ...partitionOf(keys.include), ...wantedOf(keys.include, keys.exclude, values.type) },
      format: formatOf(scope, place, values, keys),
      showErrors: keys.show_term_doc_count_error !== undefined && boolean(keys.show_term_doc_count_error),
    }
  },
  check: (place, spec, aggs) => checkOrder(place, (spec as SpecOf<'terms'>).order, aggs),
}

const KEYS = [
  ...['field', 'size', 'shard_size', 'min_doc_count', 'shard_min_doc_count', 'order', 'include', 'exclude'],
  ...['missing', 'format', 'show_term_doc_count_error', 'script'],
] as (
  | 'field'
  | 'size'
  | 'shard_size'
  | 'min_doc_count'
  | 'shard_min_doc_count'
  | 'order'
  | 'include'
  | 'exclude'
  | 'missing'
  | 'format'
  | 'show_term_doc_count_error'
  | 'script'
)[]
/** Counts are exact whatever they say. */
const IGNORED = ['execution_hint', 'collect_mode', 'value_type', 'shard_min_doc_count']

export const scripts = (place: JsonNode) =>
  refuse('illegal_argument_exception', `${where(place)}: scripts are not supported. Name a [field].`)

const partitionOf = (include: JsonNode | undefined): Pick<Terms, 'partition'> => {
  if (include === undefined || !isObject(include.value)) return { partition: undefined }
  const { partition, num_partitions } = known(include, 'an object with [partition] and [num_partitions]', [
    'partition',
    'num_partitions',
  ])
  const of = count(num_partitions, 1, 0)
  const wanted = count(partition, 0, -1)
  if (wanted < 0 || of === 0 || wanted >= of)
    throw unexpected(include, 'an object with [partition] and [num_partitions], the first less than the second')
  return { partition: { partition: wanted, of } }
}

type Wanted = Pick<Terms, 'include' | 'exclude'>

const wantedOf = (include: JsonNode | undefined, exclude: JsonNode | undefined, type: string): Wanted => ({
  include: include === undefined || isObject(include.value) ? undefined : setOf(include, type),
  exclude: exclude === undefined ? undefined : setOf(exclude, type),
})

const setOf = (place: JsonNode, type: string): ((text: string) => boolean) => {
  if (!Array.isArray(place.value)) {
    const pattern = scalar(place, 'a list of values, or a regular expression')
    if (/^[\w ]*$/.test(pattern)) return text => text === pattern
    const prefix = /^([\w ]*)\.\*$/.exec(pattern)?.[1]
    if (prefix !== undefined && type === 'keyword') return text => text.startsWith(prefix)
    throw refuse(
      'illegal_argument_exception',
      `${where(place)}: regular expressions but such as "Trans.*" are not supported here, received ${show(place.value)}. Write a list of values.`,
    )
  }
  const values = new Set(elements(place).map(at => scalar(at, 'a value')))
  return text => values.has(text)
}
