import { refuse } from '../../../lib/errors.ts'
import { type JsonNode, named, where } from '../../json-node.ts'
import { javaDouble } from '../../numbers.ts'
import type { Bucket, Result, Value } from '../result.ts'

/** A way to a number, such as `a>b[95.0]`, `a.avg`, `names['Transfer']>sum` or `_count`. */
export interface BucketsPath {
  readonly place: JsonNode
  readonly text: string
  readonly steps: readonly Step[]
  /** Names and keys of the steps, one after the other. */
  readonly names: readonly string[]
}

export interface Step {
  readonly name: string
  /** What stands in brackets, or behind the last point of the last step. */
  readonly key: string | undefined
}

/** What counts where a bucket has no documents or no such number. */
export type GapPolicy = 'skip' | 'insert_zeros' | 'keep_values'

export const parsePath = (place: JsonNode, text: string): BucketsPath => {
  const parts = text.split('>').filter(part => part !== '')
  const bad = () => refuse('action_request_validation_exception', `${where(place)}: Invalid path ${named(text)}.`)
  if (parts.length === 0 || parts.length > LONGEST) throw bad()
  const steps = parts.map((part, i): Step => {
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
  return { place, text, steps, names: flatten(steps) }
}

/** More steps than aggregations may lie in one another. */
const LONGEST = 50

/** The way in each bucket, once the first step led to an aggregation with buckets: `h._count` is the count of each, too. */
export const insideOf = (path: BucketsPath): BucketsPath => {
  const names = path.names.slice(1)
  return { ...path, names, text: names.length === 1 && names[0] === '_count' ? '_count' : path.text }
}

/** The number at the end of a path, NaN where a gap is skipped. Undefined where a bucket or an aggregation on the way is not there. */
export const valueIn = (bucket: Bucket, path: BucketsPath, gaps: GapPolicy): number | undefined => {
  const value = follow(bucket, path.names, 0, path)
  if (value === undefined || path.text === '_count') return value
  const isGap = !Number.isFinite(value) || (bucket.docCount === 0 && gaps !== 'keep_values')
  return isGap ? (gaps === 'insert_zeros' ? 0 : Number.NaN) : value
}

const flatten = (steps: readonly Step[]): string[] =>
  steps.flatMap(({ name, key }) => (key === undefined ? [name] : [name, key]))

type Inside = Pick<Bucket, 'docCount' | 'results' | 'number'>

/** `at`: which of the names comes next. */
const follow = (bucket: Inside, names: readonly string[], at: number, path: BucketsPath): number | undefined => {
  const name = names[at]
  const isLast = at === names.length - 1
  if (name === undefined) throw noNumber(path, 'a bucket')
  if (name === '_count' && isLast) return bucket.docCount
  if (name === '_key' && isLast) {
    if (bucket.number === undefined) throw noNumber(path, 'a key that is not a number')
    return bucket.number
  }
  const result = bucket.results.get(name)
  return result && followInto(result, names, at + 1, path)
}

const followInto = (result: Result, names: readonly string[], at: number, path: BucketsPath): number | undefined => {
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
      return follow(result, names, at, path)
    case 'buckets': {
      if (name === '_bucket_count' && at === names.length - 1) return result.buckets.length
      if (name === undefined || !/^'.*'$/s.test(name)) throw noNumber(path, 'several buckets')
      const bucket = result.buckets.find(bucket => keyText(bucket) === name.slice(1, -1))
      return bucket && follow(bucket, names, at + 1, path)
    }
    case 'hits':
      throw noNumber(path, 'hits')
  }
}

/** The key of a bucket as text, as `keys` shows it and `['key']` names it. */
export const keyText = (bucket: Bucket): string => {
  const members = new Map<string, Value>(bucket.key)
  const key = members.get('key_as_string') ?? members.get('key') ?? bucket.name ?? ''
  return textOf(key)
}

const textOf = (value: Value): string => {
  if (typeof value === 'number') return javaDouble(value)
  if (!(value instanceof Map)) return String(value)
  return `{${Array.from(value as ReadonlyMap<string, Value>, ([name, inner]) => `${name}=${textOf(inner)}`).join(', ')}}`
}

const noNumber = (path: BucketsPath, found: string) =>
  refuse(
    'aggregation_execution_exception',
    `${where(path.place)}: buckets_path must reference either a number value or a single value numeric metric aggregation, got ${found} at ${named(path.text)}.`,
  )

export const severalNumbers = (path: BucketsPath) =>
  refuse(
    'aggregation_execution_exception',
    `${where(path.place)}: buckets_path must reference either a number value or a single value numeric metric aggregation, but ${named(path.text)} contains multiple values. Please specify which to use, as in [stats.avg] or [percentiles[95.0]].`,
  )

const noSuchNumber = (path: BucketsPath, name: string) =>
  refuse(
    'illegal_argument_exception',
    `${where(path.place)}: path not supported for ${named(path.text)}: the aggregation has no number ${named(name)}.`,
  )
