import { refuse } from '../../../lib/errors.ts'
import {
  elements,
  integer,
  isObject,
  type JsonNode,
  known,
  members,
  string,
  unexpected,
  where,
} from '../../json-node.ts'
import type { Bucket, Value } from '../result.ts'
import { type BucketsPath, type GapPolicy, keyText, parsePath, valueIn } from './path.ts'
import { gapPolicyOf, type PipelineKind } from './pipeline.ts'

export const bucketSort: PipelineKind = {
  doc: 'Sorts the buckets by numbers in them or by `_key`, and keeps `size` of them, starting at `from`.',
  example: { sort: [{ gas: 'desc' }], size: 3 },
  stands: 'in buckets',
  read(place) {
    const body = known(place, 'an object such as {"sort": [{"the_sum": "desc"}], "size": 3}', KEYS, [])
    const orders = body.sort === undefined ? [] : elements(body.sort).flatMap(ordersOf)
    const from = body.from === undefined ? 0 : integer(body.from, 'an integer from 0 on')
    if (from < 0) throw unexpected(body.from!, 'an integer from 0 on')
    const size = body.size === undefined ? Number.POSITIVE_INFINITY : integer(body.size, 'a positive integer')
    if (size < 1) throw unexpected(body.size!, 'a positive integer')
    if (orders.length === 0 && body.from === undefined && body.size === undefined) {
      throw refuse(
        'action_request_validation_exception',
        `${where(place)}: it is configured to perform nothing. Please set either of [sort, size, from] to use bucket_sort.`,
      )
    }
    const gaps = gapPolicyOf(body.gap_policy)
    return {
      paths: orders.map(({ path }) => path),
      inside(parent) {
        const sorted = orders.length === 0 ? parent.buckets : inOrder(parent.buckets, orders, gaps)
        parent.buckets = sorted.slice(from, from + size)
      },
    }
  },
}

const KEYS = ['sort', 'from', 'size', 'gap_policy'] as const

interface Order {
  path: BucketsPath
  descending: boolean
}

const ordersOf = (place: JsonNode): Order[] => {
  if (!isObject(place.value)) return [{ path: parsePath(place, string(place, EXPECTED)), descending: false }]
  return members(place, EXPECTED).map(([name, at]) => {
    const order = isObject(at.value) ? known(at, EXPECTED, ['order'], []).order : at
    const direction = order === undefined ? 'asc' : string(order, '"asc" or "desc"').toLowerCase()
    if (direction !== 'asc' && direction !== 'desc') throw unexpected(order!, '"asc" or "desc"')
    return { path: parsePath(at, name), descending: direction === 'desc' }
  })
}

const EXPECTED = 'a path, or an object such as {"the_sum": "desc"}'

/** What has none of the numbers is left out, what lacks one comes last. */
const inOrder = (buckets: readonly Bucket[], orders: readonly Order[], gaps: GapPolicy): Bucket[] => {
  const sortable = buckets.map(bucket => ({
    bucket,
    values: orders.map(({ path }) => (path.text === '_key' ? sortKey(bucket) : numberOf(bucket, path, gaps))),
  }))
  return sortable
    .filter(({ values }) => values.some(value => value !== undefined))
    .sort((a, b) => {
      for (const [i, { descending }] of orders.entries()) {
        const order = compare(a.values[i], b.values[i], descending)
        if (order !== 0) return order
      }
      return 0
    })
    .map(({ bucket }) => bucket)
}

type SortValue = number | bigint | string | undefined

const numberOf = (bucket: Bucket, path: BucketsPath, gaps: GapPolicy): SortValue => {
  const value = valueIn(bucket, path, gaps)
  return gaps !== 'insert_zeros' && Number.isNaN(value) ? undefined : value
}

const sortKey = (bucket: Bucket): SortValue => {
  if (bucket.number !== undefined) return bucket.number
  const key: Value | undefined = new Map<string, Value>(bucket.key).get('key')
  return typeof key === 'number' || typeof key === 'bigint' ? key : keyText(bucket)
}

const compare = (a: SortValue, b: SortValue, descending: boolean): number => {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined)
  const order =
    isNoNumber(a) || isNoNumber(b) ? Number(isNoNumber(a)) - Number(isNoNumber(b)) : a < b ? -1 : a > b ? 1 : 0
  return descending ? -order : order
}

const isNoNumber = (value: SortValue): boolean => typeof value === 'number' && Number.isNaN(value)
