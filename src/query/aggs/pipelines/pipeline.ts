import { refuse } from '../../../lib/errors.ts'
import type { JsonValue } from '../../json.ts'
import { bracketName, elements, isJsonMap, type JsonNode, members, toText, unexpected, where } from '../../json-node.ts'
import { key, nodeKey, SCHEMAS } from '../../keys.ts'
import { javaDouble } from '../../numbers.ts'
import type { Format } from '../ast.ts'
import { singleMetric } from '../metric-results.ts'
import { numberWriterOf } from '../number-format.ts'
import type { AggregationResult, AggregationResults, Bucket, Buckets, Metric, ResultValue } from '../result.ts'

/** A pipeline aggregation computes on results of other aggregations. */
export interface PipelineKind {
  /** Meaning, for the reference docs. */
  doc: string
  /** Differences from Elasticsearch, for the reference docs. */
  limit?: string
  /** A valid body, for the reference docs. */
  example: unknown
  stands: 'sibling' | 'in buckets' | 'in histogram'
  read(place: JsonNode): PipelineWork
}

interface PipelineWork {
  paths: readonly BucketsPath[]
  /** For siblings: computes a result. */
  sibling?(results: AggregationResults): Metric
  /** For inner ones: changes the buckets or adds results to them. */
  inside?(parent: Buckets, put: (bucket: Bucket, found: Metric) => void): void
}

export interface PipelineAggregation extends PipelineWork {
  name: string
  type: string
  place: JsonNode
  stands: PipelineKind['stands']
  meta?: JsonValue
}

export const EXPECTED_PIPELINE = 'an object such as {"buckets_path": "the_sum"}'

export const onePath = (place: JsonNode, at: JsonNode | undefined): BucketsPath => {
  const paths = listOfPaths(place, at)
  if (paths.length !== 1) throw unexpected(at!, 'one path')
  return paths[0]!
}

const listOfPaths = (place: JsonNode, at: JsonNode | undefined): BucketsPath[] => {
  if (at === undefined) {
    throw refuse('parsing_exception', `${where(place)}: Missing required field [buckets_path].`)
  }
  return elements(at).map(at => parsePath(at, toText(at, 'a path, such as "the_sum"')))
}

/** Paths by script variable: a single one is `_value`, those of a list `_value0`, `_value1` etc. */
export const namedPaths = (place: JsonNode, at: JsonNode | undefined): Map<string, BucketsPath> => {
  if (at === undefined || !isJsonMap(at.value)) {
    if (typeof at?.value === 'string') return new Map([['_value', onePath(place, at)]])
    return new Map(listOfPaths(place, at).map((path, i) => [`_value${i}`, path]))
  }
  return new Map(members(at, 'paths').map(([name, at]) => [name, parsePath(at, toText(at, 'a path'))]))
}

const gapPolicyOf = (place: JsonNode | undefined): GapPolicy => {
  if (place === undefined) return 'skip'
  const text = toText(place, 'a gap policy')
  if (text === 'skip' || text === 'insert_zeros' || text === 'keep_values') return text
  throw refuse(
    'parsing_exception',
    `${where(place)}: Invalid gap policy: ${bracketName(text)}, accepted values: [insert_zeros, skip, keep_values].`,
  )
}

const readNumberFormat = (place: JsonNode | undefined): Format =>
  place && numberWriterOf(place, toText(place, 'a format of numbers, such as "#,##0.00"'))

export const COMMON_PIPELINE_KEYS = {
  buckets_path: nodeKey,
  gap_policy: key(gapPolicyOf, SCHEMAS.text),
  format: key(readNumberFormat, SCHEMAS.text),
}

export const simpleValue = (value: number, format: Format, type = 'simple_value'): Metric =>
  singleMetric(type, Number.isFinite(value) ? value : null, format)

/** Numbers of a sibling's buckets, without gaps. */
export const numbersOfBuckets = (
  results: AggregationResults,
  path: BucketsPath,
  gaps: GapPolicy,
): { bucket: Bucket; value: number }[] => {
  const result = results.get(path.steps[0]!.name)
  if (result?.is !== 'buckets') return []
  const inner = pathInBuckets(path)
  const found: { bucket: Bucket; value: number }[] = []
  for (const bucket of result.buckets) {
    const value = valueAtPath(bucket, inner, gaps)
    if (value !== undefined && !Number.isNaN(value)) found.push({ bucket, value })
  }
  return found
}

/** A path such as `a>b[95.0]`, `a.avg`, `names['Transfer']>sum` or `_count`. */
export interface BucketsPath {
  readonly place: JsonNode
  readonly text: string
  readonly steps: readonly PathStep[]
  /** Names and keys of all steps, flat. */
  readonly names: readonly string[]
}
export interface PathStep {
  readonly name: string
  /** Key in brackets or after the last dot. */
  readonly key: string | undefined
}
export type GapPolicy = 'skip' | 'insert_zeros' | 'keep_values'
export const parsePath = (place: JsonNode, text: string): BucketsPath => {
  const parts = text.split('>').filter(part => part !== '')
  const bad = () => refuse('action_request_validation_exception', `${where(place)}: Invalid path ${bracketName(text)}.`)
  if (parts.length === 0 || parts.length > MAX_PATH_STEPS) throw bad()
  const steps = parts.map((part, i): PathStep => {
    const bracket = part.lastIndexOf('[')
    if (bracket >= 0) {
      if (bracket === 0 || bracket > part.length - 3 || !part.endsWith(']')) throw bad()
      return { name: part.slice(0, bracket), key: part.slice(bracket + 1, -1) }
    }
    const point = i === parts.length - 1 ? part.lastIndexOf('.') : -1
    if (point < 0) return { name: part, key: undefined }
    if (point === 0 || point > part.length - 2) throw bad()
    return { name: part.slice(0, point), key: part.slice(point + 1) }
  })
  return { place, text, steps, names: namesOfSteps(steps) }
}
const MAX_PATH_STEPS = 50
/** Rest of a path inside each bucket; `h._count` is the count of each. */
const pathInBuckets = (path: BucketsPath): BucketsPath => {
  const names = path.names.slice(1)
  return { ...path, names, text: names.length === 1 && names[0] === '_count' ? '_count' : path.text }
}
/** NaN for a skipped gap; undefined if a bucket or aggregation on the path does not exist. */
export const valueAtPath = (bucket: Bucket, path: BucketsPath, gaps: GapPolicy): number | undefined => {
  const value = numberOnPath(bucket, path.names, 0, path)
  if (value === undefined || path.text === '_count') return value
  const isGap = !Number.isFinite(value) || (bucket.docCount === 0 && gaps !== 'keep_values')
  return isGap ? (gaps === 'insert_zeros' ? 0 : Number.NaN) : value
}
const namesOfSteps = (steps: readonly PathStep[]): string[] =>
  steps.flatMap(({ name, key }) => (key === undefined ? [name] : [name, key]))
type PathTarget = Pick<Bucket, 'docCount' | 'results' | 'number'>
const numberOnPath = (
  bucket: PathTarget,
  names: readonly string[],
  at: number,
  path: BucketsPath,
): number | undefined => {
  const name = names[at]
  const isLast = at === names.length - 1
  if (name === undefined) throw noNumber(path, 'a bucket')
  if (name === '_count' && isLast) return bucket.docCount
  if (name === '_key' && isLast) {
    if (bucket.number === undefined) throw noNumber(path, 'a key that is not a number')
    return bucket.number
  }
  const result = bucket.results.get(name)
  return result && followResult(result, names, at + 1, path)
}
const followResult = (
  result: AggregationResult,
  names: readonly string[],
  at: number,
  path: BucketsPath,
): number | undefined => {
  const name = names[at]
  switch (result.is) {
    case 'metric': {
      if (at < names.length - 1) throw noNumber(path, 'no more than one name behind a metric')
      const value = result.number(name)
      if (value === undefined) throw name === undefined ? severalNumbers(path) : noSuchNumber(path, name)
      return value ?? Number.NaN
    }
    case 'bucket':
      if (name === undefined) throw noNumber(path, 'a bucket')
      return numberOnPath(result, names, at, path)
    case 'buckets': {
      if (name === '_bucket_count' && at === names.length - 1) return result.buckets.length
      if (name === undefined || !/^'.*'$/s.test(name)) throw noNumber(path, 'several buckets')
      const bucket = result.buckets.find(bucket => keyText(bucket) === name.slice(1, -1))
      return bucket && numberOnPath(bucket, names, at + 1, path)
    }
    case 'hits':
      throw noNumber(path, 'hits')
  }
}
/** The key as text, as in `keys` and in paths. */
export const keyText = (bucket: Bucket): string => {
  const members = new Map<string, ResultValue>(bucket.key)
  const key = members.get('key_as_string') ?? members.get('key') ?? bucket.name ?? ''
  return keyValueText(key)
}
const keyValueText = (value: ResultValue): string => {
  if (typeof value === 'number') return javaDouble(value)
  if (!(value instanceof Map)) return String(value)
  return `{${Array.from(value as ReadonlyMap<string, ResultValue>, ([name, inner]) => `${name}=${keyValueText(inner)}`).join(', ')}}`
}
const noNumber = (path: BucketsPath, found: string) =>
  refuse(
    'aggregation_execution_exception',
    `${where(path.place)}: buckets_path must reference either a number value or a single value numeric metric aggregation, got ${found} at ${bracketName(path.text)}.`,
  )
export const severalNumbers = (path: BucketsPath) =>
  refuse(
    'aggregation_execution_exception',
    `${where(path.place)}: buckets_path must reference either a number value or a single value numeric metric aggregation, but ${bracketName(path.text)} contains multiple values. Please specify which to use, as in [stats.avg] or [percentiles[95.0]].`,
  )
const noSuchNumber = (path: BucketsPath, name: string) =>
  refuse(
    'illegal_argument_exception',
    `${where(path.place)}: path not supported for ${bracketName(path.text)}: the aggregation has no number ${bracketName(name)}.`,
  )
