import { refuse } from '../../../lib/errors.ts'
import { createDateReader } from '../../dates/reader.ts'
import { checkLength } from '../../dsl/patterns.ts'
import {
  boolean,
  elements,
  isObject,
  type JsonNode,
  known,
  scalar,
  show,
  string,
  unexpected,
  where,
} from '../../json-node.ts'
import { flag, given, key, optional } from '../../keys.ts'
import { readDouble } from '../../numbers.ts'
import { OPERATORS } from '../../regexp/parse.ts'
import { matcherOf } from '../../text/pattern.ts'
import type { GivenTerms, SpecOf, Terms, ValueType } from '../ast.ts'
import { formatOf, readTermValues } from '../fields.ts'
import { checkOrder, count, readOrder } from '../options.ts'
import { type AggregationScope, aggregation, illegal, script, text, whole } from './kind.ts'

export const terms = aggregation({
  doc: 'A bucket for each value of a field, the most frequent ones first. Counts are exact.',
  example: { field: 'event.raw', size: 5 },
  ...{ gives: 'buckets', expected: 'an object such as {"field": "event.raw"}' },
  keys: {
    ...{ field: text, size: whole(1, 10), shard_size: given, min_doc_count: whole(0, 1), shard_min_doc_count: given },
    order: key(at => readOrder(at, [{ by: '_count', ascending: false }])),
    ...{ include: given, exclude: given, missing: given, format: text, show_term_doc_count_error: flag, script },
  },
  // Counts are exact whatever they say.
  ignored: ['execution_hint', 'collect_mode', 'value_type'],
  spec({ size, order, ...keys }, body) {
    const values = readTermValues(keys, body)
    const shardSize = order[0]!.by === '_key' ? size : Math.floor(size * 1.5 + 10)
    return {
      ...{ kind: 'terms', values, size, shardSize: Math.max(size, count(keys.shard_size, 1, shardSize)) },
      ...{ minDocCount: keys.min_doc_count, order, terms: readTerms(values.type, keys, body.scope) },
      format: formatOf(values, keys, body),
    }
  },
  check: (place, spec, aggs) => checkOrder(place, (spec as SpecOf<'terms'>).order, aggs),
})

const LEAST_PRECISION = 0.00001
/** As in Elasticsearch. */
const MOST_RARE = 100

export const rareTerms = aggregation({
  doc: 'A bucket for each value that few documents have (max_doc_count, from 1 to 100), the rarest ones first. Counts are exact.',
  example: { field: 'event.raw', max_doc_count: 2 },
  ...{ gives: 'buckets', expected: 'an object such as {"field": "event.raw"}' },
  keys: {
    field: text,
    max_doc_count: key(at => {
      const most = at ? Math.trunc(readDouble(at)) : 1
      if (most >= 1 && most <= MOST_RARE) return most
      throw illegal(at!, `[max_doc_count] must be from 1 to ${MOST_RARE}.`)
    }),
    // Counts are exact whatever it says.
    precision: optional(at => {
      if (!(readDouble(at) >= LEAST_PRECISION))
        throw illegal(at, `[precision] must be greater than ${LEAST_PRECISION.toFixed(5)}.`)
    }),
    ...{ include: given, exclude: given, missing: given, format: text, script },
  },
  ignored: ['value_type'],
  spec({ max_doc_count: maxDocCount, ...keys }, body) {
    const values = readTermValues(keys, body)
    if (values.type === 'double')
      throw illegal(body.place, 'RareTerms aggregation does not support floating point fields.')
    const terms = readTerms(values.type, keys, body.scope)
    return { kind: 'rare_terms', values, maxDocCount, terms, format: formatOf(values, keys, body) }
  },
})

interface TermKeys {
  include?: JsonNode | undefined
  exclude?: JsonNode | undefined
  format?: JsonNode | undefined
}

/** Which terms become buckets. */
const readTerms = (type: ValueType, { include, exclude, format }: TermKeys, scope: AggregationScope): Terms => {
  const partition = partitionOf(include)
  if (partition.partition && exclude)
    throw unexpected(
      exclude,
      'no [exclude] beside a partition: Cannot specify any excludes when using a partition-based include',
    )
  return { ...partition, ...wantedOf(include, exclude, termReader(type, format, scope)) }
}

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

type Wanted = Pick<Terms, 'include' | 'exclude' | 'given'>

const wantedOf = (include: JsonNode | undefined, exclude: JsonNode | undefined, read: TermReader): Wanted => {
  const given = {
    include: include === undefined || isObject(include.value) ? undefined : givenTerms(include, read),
    exclude: exclude === undefined ? undefined : givenTerms(exclude, read),
  }
  return { given, include: given.include && testOf(given.include), exclude: given.exclude && testOf(given.exclude) }
}

/** A term as text by which it is known; undefined of texts, for which a regular expression may stand. */
type TermReader = ((place: JsonNode) => string) | undefined

const termReader = (type: ValueType, format: JsonNode | undefined, scope: AggregationScope): TermReader => {
  switch (type) {
    case 'keyword':
      return undefined
    case 'boolean':
      return place => String(boolean(place))
    case 'date': {
      const text = format && string(format, 'a date format')
      const reader = createDateReader({ ...scope, ...(format && text && { format: { place: format, text } }) })
      return place => String(reader.read(place, scalar(place, 'a date'), false))
    }
    default:
      return place => {
        const text = scalar(place, 'a number')
        return /^-?\d+$/.test(text) ? String(BigInt(text)) : String(readDouble(place))
      }
  }
}

const givenTerms = (place: JsonNode, read: TermReader): NonNullable<GivenTerms> => {
  if (Array.isArray(place.value)) return elements(place).map(at => (read ? read(at) : scalar(at, 'a value')))
  const pattern = scalar(place, 'a list of values, or a regular expression')
  if (read)
    throw refuse(
      'illegal_argument_exception',
      `${where(place)}: cannot support regular expression style include/exclude settings as they can only be applied to string fields. Use an array of values, received ${show(place.value)}.`,
    )
  checkLength(pattern, place)
  return { regexp: pattern }
}

const testOf = (given: NonNullable<GivenTerms>): ((text: string) => boolean) => {
  if ('regexp' in given)
    return matcherOf({ how: 'regexp', text: given.regexp, ignoreCase: false, operators: OPERATORS })
  const values = new Set(given)
  return text => values.has(text)
}
