import { refuse } from '../../../lib/errors.ts'
import { createDateReader } from '../../dates/reader.ts'
import { checkLength } from '../../dsl/patterns.ts'
import {
  elements,
  expectKeys,
  isJsonMap,
  type JsonNode,
  showJson,
  toBoolean,
  toList,
  toScalar,
  toText,
  unexpected,
  where,
} from '../../json-node.ts'
import { booleanKey, itself, key, neededKey, nodeKey, optionalKey, readBodyKeys } from '../../keys.ts'
import { readDouble } from '../../numbers.ts'
import { REGEXP_OPERATORS } from '../../regexp/parse.ts'
import { matcherOf } from '../../text/pattern.ts'
import type { GivenTerms, OrderBy, SpecOf, Terms, ValueType } from '../ast.ts'
import { formatOfValues, readTermValues } from '../fields.ts'
import { checkBucketOrder, readOrder } from '../order.ts'
import { type AggregationScope, aggregation, illegal, nameKey, readCount, scriptKey, wholeKey } from './kind.ts'

export const termsKind = aggregation({
  doc: 'A bucket for each value of a field, the most frequent ones first. Counts are exact.',
  example: { field: 'event.raw', size: 5 },
  ...{ gives: 'buckets', expected: 'an object such as {"field": "event.raw"}' },
  keys: {
    ...{
      field: nameKey,
      size: wholeKey(1, 10),
      shard_size: nodeKey,
      min_doc_count: wholeKey(0, 1),
      shard_min_doc_count: nodeKey,
    },
    order: key(at => readOrder(at, [{ by: '_count', ascending: false }])),
    ...{
      include: nodeKey,
      exclude: nodeKey,
      missing: nodeKey,
      format: nameKey,
      show_term_doc_count_error: booleanKey,
      script: scriptKey,
    },
  },
  // Without effect, since counts are exact.
  ignored: ['execution_hint', 'collect_mode', 'value_type'],
  spec({ size, order, ...keys }, body) {
    const values = readTermValues(keys, body)
    const shardSize = Math.max(size, readCount(keys.shard_size, 1, shardSizeFor(size, order)))
    return {
      ...{ kind: 'terms', values, size, shardSize },
      ...{ minDocCount: keys.min_doc_count, order, terms: readTermFilters(values.type, keys, body.scope) },
      format: formatOfValues(values, keys, body),
    }
  },
  check: (place, spec, aggs) => checkBucketOrder(place, (spec as SpecOf<'terms'>).order, aggs),
})

const shardSizeFor = (size: number, order: readonly OrderBy[]) =>
  order[0]!.by === '_key' ? size : Math.floor(size * 1.5 + 10)

const MULTI_TERMS_FIELD = { field: nameKey, missing: nodeKey, format: nameKey, script: scriptKey }

const MOST_FIELDS = 16

export const multiTermsKind = aggregation({
  doc: 'A bucket for each combination of values of two or more fields, the most frequent ones first. Counts are exact.',
  example: { terms: [{ field: 'event.raw' }, { field: 'address.raw' }], size: 5 },
  gives: 'buckets',
  keys: {
    terms: neededKey(itself),
    ...{ size: wholeKey(1, 10), shard_size: nodeKey, min_doc_count: wholeKey(1, 1), shard_min_doc_count: nodeKey },
    order: key(at => readOrder(at, [{ by: '_count', ascending: false }])),
    show_term_doc_count_error: booleanKey,
  },
  // Without effect, since counts are exact.
  ignored: ['collect_mode'],
  spec({ terms, size, order, ...keys }, body) {
    const places = toList(terms, 'a list of fields, such as [{"field": "event.raw"}, {"field": "address.raw"}]')
    if (places.length < 2)
      throw illegal(terms, 'multi term aggregation must has at least 2 terms. Use terms for a single field.')
    if (places.length > MOST_FIELDS) throw illegal(terms, `[multi_terms] has at most ${MOST_FIELDS} fields.`)
    const sources = places.map((place, i) => {
      const given = readBodyKeys(place, 'an object such as {"field": "event.raw"}', MULTI_TERMS_FIELD, ['value_type'])
      const at = { ...body, place }
      const values = readTermValues(given, at)
      const format = formatOfValues(values, given, at)
      return { by: 'terms' as const, name: `${i}`, values, format, descending: false, missingBucket: false }
    })
    const shardSize = Math.max(size, readCount(keys.shard_size, 1, shardSizeFor(size, order)))
    return { kind: 'multi_terms', sources, size, shardSize, minDocCount: keys.min_doc_count, order }
  },
  check: (place, spec, aggs) => checkBucketOrder(place, (spec as SpecOf<'multi_terms'>).order, aggs),
})

const LEAST_PRECISION = 0.00001
/** As in Elasticsearch. */
const MOST_RARE = 100

export const rareTermsKind = aggregation({
  doc: 'A bucket for each value that few documents have (max_doc_count, from 1 to 100), the rarest ones first. Counts are exact.',
  example: { field: 'event.raw', max_doc_count: 2 },
  ...{ gives: 'buckets', expected: 'an object such as {"field": "event.raw"}' },
  keys: {
    field: nameKey,
    max_doc_count: key(at => {
      const most = at ? Math.trunc(readDouble(at)) : 1
      if (most >= 1 && most <= MOST_RARE) return most
      throw illegal(at!, `[max_doc_count] must be from 1 to ${MOST_RARE}.`)
    }),
    // Without effect, since counts are exact.
    precision: optionalKey(at => {
      if (!(readDouble(at) >= LEAST_PRECISION))
        throw illegal(at, `[precision] must be greater than ${LEAST_PRECISION.toFixed(5)}.`)
    }),
    ...{ include: nodeKey, exclude: nodeKey, missing: nodeKey, format: nameKey, script: scriptKey },
  },
  ignored: ['value_type'],
  spec({ max_doc_count: maxDocCount, ...keys }, body) {
    const values = readTermValues(keys, body)
    if (values.type === 'double')
      throw illegal(body.place, 'RareTerms aggregation does not support floating point fields.')
    const terms = readTermFilters(values.type, keys, body.scope)
    return { kind: 'rare_terms', values, maxDocCount, terms, format: formatOfValues(values, keys, body) }
  },
})

interface TermKeys {
  include?: JsonNode | undefined
  exclude?: JsonNode | undefined
  format?: JsonNode | undefined
}

const readTermFilters = (type: ValueType, { include, exclude, format }: TermKeys, scope: AggregationScope): Terms => {
  const partition = partitionOf(include)
  if (partition.partition && exclude)
    throw unexpected(
      exclude,
      'no [exclude] with a partition: Cannot specify any excludes when using a partition-based include',
    )
  return { ...partition, ...readTermTests(include, exclude, termReader(type, format, scope)) }
}

const partitionOf = (include: JsonNode | undefined): Pick<Terms, 'partition'> => {
  if (include === undefined || !isJsonMap(include.value)) return { partition: undefined }
  const { partition, num_partitions } = expectKeys(include, 'an object with [partition] and [num_partitions]', [
    'partition',
    'num_partitions',
  ])
  const of = readCount(num_partitions, 1, 0)
  const wanted = readCount(partition, 0, -1)
  if (wanted < 0 || of === 0 || wanted >= of)
    throw unexpected(include, 'an object with [partition] and [num_partitions], the first less than the second')
  return { partition: { partition: wanted, of } }
}

type TermTests = Pick<Terms, 'include' | 'exclude' | 'given'>

const readTermTests = (include: JsonNode | undefined, exclude: JsonNode | undefined, read: TermReader): TermTests => {
  const given = {
    include: include === undefined || isJsonMap(include.value) ? undefined : givenTerms(include, read),
    exclude: exclude === undefined ? undefined : givenTerms(exclude, read),
  }
  return { given, include: given.include && termTest(given.include), exclude: given.exclude && termTest(given.exclude) }
}

/** Reads a term as canonical text; undefined for keywords, which may be regular expressions. */
type TermReader = ((place: JsonNode) => string) | undefined

const termReader = (type: ValueType, format: JsonNode | undefined, scope: AggregationScope): TermReader => {
  switch (type) {
    case 'keyword':
      return undefined
    case 'boolean':
      return place => String(toBoolean(place))
    case 'date': {
      const text = format && toText(format, 'a date format')
      const reader = createDateReader({ ...scope, ...(format && text && { format: { place: format, text } }) })
      return place => String(reader.read(place, toScalar(place, 'a date'), false))
    }
    default:
      return place => {
        const text = toScalar(place, 'a number')
        return /^-?\d+$/.test(text) ? String(BigInt(text)) : String(readDouble(place))
      }
  }
}

const givenTerms = (place: JsonNode, read: TermReader): NonNullable<GivenTerms> => {
  if (Array.isArray(place.value)) return elements(place).map(at => (read ? read(at) : toScalar(at, 'a value')))
  const pattern = toScalar(place, 'a list of values, or a regular expression')
  if (read)
    throw refuse(
      'illegal_argument_exception',
      `${where(place)}: cannot support regular expression style include/exclude settings as they can only be applied to string fields. Use an array of values, received ${showJson(place.value)}.`,
    )
  checkLength(pattern, place)
  return { regexp: pattern }
}

const termTest = (given: NonNullable<GivenTerms>): ((text: string) => boolean) => {
  if ('regexp' in given)
    return matcherOf({ how: 'regexp', text: given.regexp, ignoreCase: false, operators: REGEXP_OPERATORS })
  const values = new Set(given)
  return text => values.has(text)
}
