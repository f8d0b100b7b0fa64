import { readDocument } from '../../../documents/read.ts'
import { asBigint } from '../../../documents/show.ts'
import { KINDS, type Kind } from '../../../mapping/index.ts'
import type { SpecOf } from '../../../query/aggs/ast.ts'
import { shownTopSort, shownTopValue, topValue } from '../../../query/aggs/buckets/top-metrics.ts'
import type { Value } from '../../../query/aggs/result.ts'
import type { SearchRequest } from '../../../query/request.ts'
import { META } from '../../meta.ts'
import type { Answered } from '../answer.ts'
import type { ClusterAggregation } from '../kind.ts'
import { scoreOf } from './top-hits.ts'

/** From the first documents themselves: clusters of OpenSearch do not know it. */
export const topMetrics: ClusterAggregation<'top_metrics'> = {
  ask(spec, { hits, request, uniform }) {
    const inner = sortedBy(spec, request)
    return { top_hits: { ...hits.ask(inner, scoreOf(inner, uniform)), size: spec.size } }
  },
  read(spec, found, { hits, request, uniform }) {
    const { metrics, sort } = spec
    const inner = sortedBy(spec, request)
    const first = hitsIn(found)
    const values = first.map(({ kind, ...document }) =>
      metrics.map(metric => ({ metric, value: topValue(metric, kind, () => document) })),
    )
    const list = first.map(
      (hit, i): Value =>
        new Map<string, Value>([
          ['sort', [shownTopSort(hits.sorted(inner, hit.sort, scoreOf(inner, uniform))[0], sort)]],
          ['metrics', new Map(values[i]!.map(({ metric, value }) => [metric.name, shownTopValue(value, metric)]))],
        ]),
    )
    return {
      is: 'metric',
      type: 'top_metrics',
      body: [['top', list]],
      number(rest) {
        if (!metrics.some(({ name }) => name === rest)) return undefined
        const value = values[0]?.find(({ metric }) => metric.name === rest)?.value
        return value === undefined || typeof value === 'string' ? null : Number(value)
      },
    }
  },
}

const sortedBy = ({ sort }: SpecOf<'top_metrics'>, { parts }: SearchRequest): SearchRequest => ({
  ...{ parts, sort: [sort], from: 0, size: 1, source: true, trackTotal: false },
})

interface Hit {
  kind: Kind
  _source: Record<string, unknown>
  sort: readonly unknown[]
}

const hitsIn = (found: Answered | undefined): Hit[] => {
  if (!found) return []
  const { hits } = readDocument(found.hits as string, asBigint) as { hits: Omit<Hit, 'kind'>[] }
  return hits.map(hit => ({ ...hit, kind: KINDS[(hit._source[META] as { kind: number }).kind]! }))
}
