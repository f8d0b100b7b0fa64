import { refuse } from '../../../lib/errors.ts'
import type { Json } from '../../json.ts'
import { elements, isObject, type JsonNode, members, named, string, unexpected, where } from '../../json-node.ts'
import { given, key, SCHEMAS } from '../../keys.ts'
import type { Format } from '../ast.ts'
import { single } from '../metrics/numbers.ts'
import { numberWriterOf } from '../number-text.ts'
import type { Bucket, Buckets, Metric, Results } from '../result.ts'
import { type BucketsPath, type GapPolicy, insideOf, parsePath, valueIn } from './path.ts'

/** One kind of pipeline aggregation: it computes with what other aggregations found. */
export interface PipelineKind {
  /** What it means, for the reference docs. */
  doc: string
  /** What is not as in Elasticsearch, for the reference docs. */
  limit?: string
  /** The body of a working one, for the reference docs. */
  example: unknown
  /** Where it stands: beside an aggregation with buckets, inside of any such, or inside of a histogram. */
  stands: 'beside' | 'in buckets' | 'in histogram'
  read(place: JsonNode): Work
}

/** What a pipeline aggregation does, once all that its paths lead to is there. */
export interface Work {
  paths: readonly BucketsPath[]
  /** Of one that stands beside others: what it finds in what they found. */
  beside?(results: Results): Metric
  /** Of one inside of others: changes the buckets, or puts a result into them. */
  inside?(parent: Buckets, put: (bucket: Bucket, found: Metric) => void): void
}

export interface Pipeline extends Work {
  name: string
  type: string
  place: JsonNode
  stands: PipelineKind['stands']
  meta?: Json
}

/** What stands under a pipeline's name. */
export const EXPECTED = 'an object such as {"buckets_path": "the_sum"}'

export const onePath = (place: JsonNode, at: JsonNode | undefined): BucketsPath => {
  const paths = listOfPaths(place, at)
  if (paths.length !== 1) throw unexpected(at!, 'one path')
  return paths[0]!
}

const listOfPaths = (place: JsonNode, at: JsonNode | undefined): BucketsPath[] => {
  if (at === undefined) {
    throw refuse('parsing_exception', `${where(place)}: Missing required field [buckets_path].`)
  }
  return elements(at).map(at => parsePath(at, string(at, 'a path, such as "the_sum"')))
}

/** Paths by the names under which a script knows them; a single one is `_value`, those of a list are `_value0`, `_value1` and so on. */
export const namedPaths = (place: JsonNode, at: JsonNode | undefined): Map<string, BucketsPath> => {
  if (at === undefined || !isObject(at.value)) {
    if (typeof at?.value === 'string') return new Map([['_value', onePath(place, at)]])
    return new Map(listOfPaths(place, at).map((path, i) => [`_value${i}`, path]))
  }
  return new Map(members(at, 'paths').map(([name, at]) => [name, parsePath(at, string(at, 'a path'))]))
}

const gapPolicyOf = (place: JsonNode | undefined): GapPolicy => {
  if (place === undefined) return 'skip'
  const text = string(place, 'a gap policy')
  if (text === 'skip' || text === 'insert_zeros' || text === 'keep_values') return text
  throw refuse(
    'parsing_exception',
    `${where(place)}: Invalid gap policy: ${named(text)}, accepted values: [insert_zeros, skip, keep_values].`,
  )
}

const formatOf = (place: JsonNode | undefined): Format =>
  place && numberWriterOf(place, string(place, 'a format of numbers, such as "#,##0.00"'))

/** What most of them take. */
export const COMMON = {
  buckets_path: given,
  gap_policy: key(gapPolicyOf, SCHEMAS.text),
  format: key(formatOf, SCHEMAS.text),
}

/** What most of them find: one number, null where it is none. */
export const simpleValue = (value: number, format: Format, type = 'simple_value'): Metric =>
  single(type, Number.isFinite(value) ? value : null, format)

/** The numbers of the buckets of an aggregation beside, without gaps. */
export const collect = (results: Results, path: BucketsPath, gaps: GapPolicy): { bucket: Bucket; value: number }[] => {
  const result = results.get(path.steps[0]!.name)
  if (result?.is !== 'buckets') return []
  const inner = insideOf(path)
  const found: { bucket: Bucket; value: number }[] = []
  for (const bucket of result.buckets) {
    const value = valueIn(bucket, inner, gaps)
    if (value !== undefined && !Number.isNaN(value)) found.push({ bucket, value })
  }
  return found
}
