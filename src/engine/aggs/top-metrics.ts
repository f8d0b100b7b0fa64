import type { SpecOf } from '../../query/aggs/ast.ts'
import { shownTopSort, shownTopValue, topValue } from '../../query/aggs/buckets/top-metrics.ts'
import type { Metric, Value } from '../../query/aggs/result.ts'
import type { Value as Stored } from '../../query/ast.ts'
import type { Found } from '../query/sort.ts'
import { sortValues } from '../query/sort-values.ts'
import type { Aggregator, Context, State } from './aggregator.ts'
import { createTop, type Top } from './top.ts'

export const createTopMetrics = ({ metrics, sort, size }: SpecOf<'top_metrics'>, context: Context): Aggregator => {
  const { reader, exact } = context
  const request = { ...context.request, sort: [sort], from: 0, size, after: undefined, tiebreak: undefined }
  const scoring = sort.by === '_score' ? context.scoring() : undefined
  const top = createTop(request, size, scoring, context)
  const sortOf = sortValues(request, { documents: exact, reader })
  const storedOf = (one: Found, metric: (typeof metrics)[number]): Stored | undefined =>
    topValue(metric, one.kind, () => exact.load(one.kind, [one.position])[0])
  const numberOf = (owner: number, name: string | undefined): number | null | undefined => {
    const metric = metrics.find(one => one.name === name)
    const [first] = top.best(owner)
    if (!metric) return undefined
    const value = first && storedOf(first, metric)
    return value === undefined || typeof value === 'string' ? null : Number(value)
  }

  return {
    collect: top.collect,
    merge: (state, owners) => top.merge(state as State & Parameters<Top['merge']>[0], owners),
    finish() {},
    result(owner): Metric {
      const found = top.best(owner)
      scoring?.mark(found)
      const list = found.map((one): Value => {
        reader.check()
        return new Map<string, Value>([
          ['sort', [shownTopSort(sortOf(one)[0], sort)]],
          ['metrics', new Map(metrics.map(metric => [metric.name, shownTopValue(storedOf(one, metric), metric)]))],
        ])
      })
      return { is: 'metric', type: 'top_metrics', body: [['top', list]], number: rest => numberOf(owner, rest) }
    },
    number: (owner, _, rest) => numberOf(owner, rest) ?? null,
    bytes: top.bytes,
  }
}
