import type { Searcher } from '../../src/engine/query/searcher.ts'
import { createByteWriter } from '../../src/lib/bytes.ts'
import type { Kind } from '../../src/mapping/index.ts'
import type { AggregationResult, AggregationResults, Bucket, Metric, ResultValue } from '../../src/query/aggs/result.ts'
import { parseSearch } from '../../src/query/parse.ts'

type Members = Record<string, unknown>

/** What an answer with `typed_keys` holds, as results. Names of `leave` are left out. */
export const resultsOf = (aggregations: Members, leave: ReadonlySet<string> = new Set()): AggregationResults =>
  new Map(
    Object.entries(aggregations)
      .map(([typed, found]): [string, AggregationResult] => {
        const [type, ...name] = typed.split('#')
        return [name.join('#'), resultOf(type!, found as Members, leave)]
      })
      .filter(([name]) => !leave.has(name)),
  )

const resultOf = (type: string, found: Members, leave: ReadonlySet<string>): AggregationResult => {
  const { meta: _, ...members } = found
  if ('buckets' in members) {
    const { buckets, ...rest } = members
    const keyed = !Array.isArray(buckets)
    const list = keyed
      ? Object.entries(buckets as Members)
      : (buckets as Members[]).map(one => [undefined, one] as const)
    return {
      is: 'buckets',
      type,
      members: Object.entries(rest).map(([name, value]) => [name, valueFrom(value)]),
      keyed,
      buckets: list.map(([name, one]) => bucketOf(name, one as Members, leave, LONG_KEYS.has(type))),
    }
  }
  if (type === 'top_hits') return { is: 'hits', type, hits: JSON.stringify(members.hits) }
  if ('doc_count' in members) {
    const { docCount, results } = bucketOf(undefined, members, leave)
    return { is: 'bucket', type, docCount, results }
  }
  return metricOf(type, members)
}

const LONG_KEYS: ReadonlySet<string> = new Set(['lterms', 'date_histogram', 'auto_date_histogram'])

const bucketOf = (
  name: string | undefined,
  { doc_count, ...members }: Members,
  leave: ReadonlySet<string>,
  hasLongKey = false,
): Bucket => {
  const key: Bucket['key'] = []
  const inner: Members = {}
  for (const [member, value] of Object.entries(members)) {
    if (member.includes('#')) inner[member] = value
    else key.push([member, hasLongKey && typeof value === 'number' ? BigInt(value) : valueFrom(value)])
  }
  return {
    ...(name !== undefined && { name }),
    key,
    ...(typeof members.key === 'number' && { number: members.key }),
    docCount: doc_count as number,
    results: resultsOf(inner, leave),
  }
}

const metricOf = (type: string, members: Members): Metric => ({
  is: 'metric',
  type,
  body: Object.entries(members).map(([name, value]) => [name, valueFrom(value)]),
  number(rest) {
    const values = members.values as Members | undefined
    const found = values ? values[Number(rest).toFixed(1)] : members[rest ?? 'value']
    return found as number | null | undefined
  },
})

const valueFrom = (value: unknown): ResultValue => {
  if (Array.isArray(value)) return value.map(valueFrom)
  if (typeof value === 'object' && value !== null) {
    return new Map(Object.entries(value).map(([name, inner]) => [name, valueFrom(inner)]))
  }
  return value as ResultValue
}

/** The aggregations that a store answers to a body, parsed. */
export const askAggregations = (
  searcher: Searcher,
  kinds: string,
  body: object,
  { typedKeys = false, now = 0, index = 'x' } = {},
) => {
  const text = JSON.stringify({ size: 0, ...body })
  const request = parseSearch(text, kinds.split(',') as Kind[], now, { index })
  const options = { index, out: createByteWriter(1 << 10), totals: 'object', typedKeys } as const
  const { aggregations } = searcher.write(request, { deadline: Number.POSITIVE_INFINITY }, options)
  return JSON.parse(aggregations!)
}
