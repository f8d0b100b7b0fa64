import { refuse } from '../../../lib/errors.ts'
import {
  elements,
  expectKeys,
  isJsonMap,
  type JsonNode,
  members,
  toText,
  toWhole,
  unexpected,
  where,
} from '../../json-node.ts'
import { direction, natural, nodeKey, optionalKey, readBodyKeys, SCHEMAS, type ValuesOf } from '../../keys.ts'
import type { Bucket, ResultValue } from '../result.ts'
import {
  type BucketsPath,
  COMMON_PIPELINE_KEYS,
  EXPECTED_PIPELINE,
  type GapPolicy,
  keyText,
  namedPaths,
  type PipelineKind,
  parsePath,
  simpleValue,
  valueAtPath,
} from './pipeline.ts'
import { compileScript, readScript, type ScriptValue, type Variables } from './script.ts'

/** Pipeline aggregations inside of one with several buckets. */

const { buckets_path, gap_policy, format } = COMMON_PIPELINE_KEYS
const SCRIPTED = { buckets_path, script: nodeKey, gap_policy }

export const bucketScript: PipelineKind = {
  doc: 'Arithmetic with the numbers of each bucket.',
  limit: 'Scripts are arithmetic, not Painless.',
  example: { buckets_path: { gas: 'gas', n: '_count' }, script: 'params.gas / params.n' },
  stands: 'in buckets',
  read(place) {
    const body = readBodyKeys(place, EXPECTED_PIPELINE, { ...SCRIPTED, format }, [])
    const { paths, gaps, run } = scripted(place, body, 'number')
    return {
      paths: [...paths.values()],
      inside({ buckets }, put) {
        for (const bucket of buckets) {
          const variables = variablesOf(bucket, paths, gaps)
          const isGap = [...variables.values()].some(value => value === null || Number.isNaN(value))
          if (gaps !== 'insert_zeros' && isGap) continue
          const value = run(variables)
          if (value !== null) put(bucket, simpleValue(Number(value), body.format))
        }
      },
    }
  },
}

export const bucketSelector: PipelineKind = {
  doc: 'Keeps the buckets whose numbers meet a condition.',
  limit: 'Scripts are arithmetic, not Painless.',
  example: { buckets_path: { gas: 'gas' }, script: 'params.gas > 1000000' },
  stands: 'in buckets',
  read(place) {
    const { paths, gaps, run } = scripted(place, readBodyKeys(place, EXPECTED_PIPELINE, SCRIPTED, []), 'boolean')
    return {
      paths: [...paths.values()],
      inside(parent) {
        parent.buckets = parent.buckets.filter(bucket => run(variablesOf(bucket, paths, gaps)) === true)
      },
    }
  },
}

interface Scripted {
  paths: ReadonlyMap<string, BucketsPath>
  gaps: GapPolicy
  run(variables: Variables): ScriptValue
}

const scripted = (place: JsonNode, body: ValuesOf<typeof SCRIPTED>, wanted: 'number' | 'boolean'): Scripted => {
  const paths = namedPaths(place, body.buckets_path)
  if (body.script === undefined) throw refuse('illegal_argument_exception', `${where(place)}: Required [script].`)
  const run = compileScript(readScript(body.script), new Set(paths.keys()), wanted)
  return { paths, gaps: body.gap_policy, run }
}

const variablesOf = (bucket: Bucket, paths: ReadonlyMap<string, BucketsPath>, gaps: GapPolicy): Variables => {
  const variables = new Map<string, number | null>()
  for (const [name, path] of paths) variables.set(name, valueAtPath(bucket, path, gaps) ?? null)
  return variables
}

export const bucketSort: PipelineKind = {
  doc: 'Sorts the buckets by numbers in them or by `_key`, and keeps `size` of them, starting at `from`.',
  example: { sort: [{ gas: 'desc' }], size: 3 },
  stands: 'in buckets',
  read(place) {
    const body = readBodyKeys(place, 'an object such as {"sort": [{"the_sum": "desc"}], "size": 3}', SORT_KEYS, [])
    const { sort: orders = [], from = 0, size = Number.POSITIVE_INFINITY, gap_policy: gaps } = body
    if (orders.length === 0 && body.from === undefined && body.size === undefined) {
      throw refuse(
        'action_request_validation_exception',
        `${where(place)}: it is configured to perform nothing. Please set either of [sort, size, from] to use bucket_sort.`,
      )
    }
    return {
      paths: orders.map(({ path }) => path),
      inside(parent) {
        const sorted = orders.length === 0 ? parent.buckets : sortBuckets(parent.buckets, orders, gaps)
        parent.buckets = sorted.slice(from, from + size)
      },
    }
  },
}

interface PathOrder {
  path: BucketsPath
  descending: boolean
}

const ordersOf = (place: JsonNode): PathOrder[] => {
  if (!isJsonMap(place.value)) return [{ path: parsePath(place, toText(place, EXPECTED_ORDER)), descending: false }]
  return members(place, EXPECTED_ORDER).map(([name, at]) => {
    const order = isJsonMap(at.value) ? expectKeys(at, EXPECTED_ORDER, ['order'], []).order : at
    return { path: parsePath(at, name), descending: order !== undefined && direction(order) === 'desc' }
  })
}

const EXPECTED_ORDER = 'a path, or an object such as {"the_sum": "desc"}'

/** Buckets without any number are dropped; those that lack one come last. */
const sortBuckets = (buckets: readonly Bucket[], orders: readonly PathOrder[], gaps: GapPolicy): Bucket[] => {
  const sortable = buckets.map(bucket => ({
    bucket,
    values: orders.map(({ path }) => (path.text === '_key' ? sortKey(bucket) : sortNumber(bucket, path, gaps))),
  }))
  return sortable
    .filter(({ values }) => values.some(value => value !== undefined))
    .sort((a, b) => {
      for (const [i, { descending }] of orders.entries()) {
        const order = compareSortValues(a.values[i], b.values[i], descending)
        if (order !== 0) return order
      }
      return 0
    })
    .map(({ bucket }) => bucket)
}

type SortValue = number | bigint | string | undefined

const sortNumber = (bucket: Bucket, path: BucketsPath, gaps: GapPolicy): SortValue => {
  const value = valueAtPath(bucket, path, gaps)
  return gaps !== 'insert_zeros' && Number.isNaN(value) ? undefined : value
}

const sortKey = (bucket: Bucket): SortValue => {
  if (bucket.number !== undefined) return bucket.number
  const key: ResultValue | undefined = new Map<string, ResultValue>(bucket.key).get('key')
  return typeof key === 'number' || typeof key === 'bigint' ? key : keyText(bucket)
}

const compareSortValues = (a: SortValue, b: SortValue, descending: boolean): number => {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined)
  const order =
    isNoNumber(a) || isNoNumber(b) ? Number(isNoNumber(a)) - Number(isNoNumber(b)) : a < b ? -1 : a > b ? 1 : 0
  return descending ? -order : order
}

const isNoNumber = (value: SortValue): boolean => typeof value === 'number' && Number.isNaN(value)

const sortSize = (place: JsonNode): number => {
  const size = toWhole(place, 'a positive integer')
  if (size < 1) throw unexpected(place, 'a positive integer')
  return size
}

const SORT_KEYS = {
  sort: optionalKey(place => elements(place).flatMap(ordersOf)),
  from: optionalKey(natural, SCHEMAS.whole),
  size: optionalKey(sortSize, SCHEMAS.whole),
  gap_policy,
}
