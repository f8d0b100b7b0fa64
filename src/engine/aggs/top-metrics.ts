import type { SpecOf } from '../../query/aggs/ast.ts'
import type { Metric, Value } from '../../query/aggs/result.ts'
import type { Value as Stored } from '../../query/ast.ts'
import { rawValuesOf, readValue } from '../../query/predicate.ts'
import { tooLong } from '../../query/simplify.ts'
import { isRawJson } from '../../query/source-filter.ts'
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
  const isLong = ['long', 'date'].includes(Object.values(sort.fields)[0]?.es ?? '')

  const storedOf = (one: Found, { values }: (typeof metrics)[number]): Stored | undefined => {
    const field = values.fields[one.kind]
    const [document] = field ? exact.load(one.kind, [one.position]) : []
    const [raw] = field && document ? rawValuesOf(field, document._source) : []
    if (!field || raw === undefined || raw === null) return values.missing
    // Texts are shown as documents show them.
    const value = field.es === 'keyword' ? String(raw) : readValue(field, raw)
    return value === undefined || tooLong(field, value) ? values.missing : value
  }
  const shown = (one: Found, metric: (typeof metrics)[number]): Value => {
    const value = storedOf(one, metric)
    if (value === undefined) return null
    const { format, values } = metric
    if (format && typeof value === 'number') return format(value)
    return values.type === 'long' && typeof value === 'number' ? BigInt(value) : value
  }
  const sortShown = (one: Found): Value => {
    const [value] = sortOf(one)
    if (isRawJson(value)) return BigInt(value.rawJSON)
    if (typeof value !== 'number') return value as Value
    if (Object.values(sort.fields)[0]?.es === 'boolean') return value === 1
    return isLong ? BigInt(value) : value
  }
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
          ['sort', [sortShown(one)]],
          ['metrics', new Map(metrics.map(metric => [metric.name, shown(one, metric)]))],
        ])
      })
      return { is: 'metric', type: 'top_metrics', body: [['top', list]], number: rest => numberOf(owner, rest) }
    },
    number: (owner, _, rest) => numberOf(owner, rest) ?? null,
    bytes: top.bytes,
  }
}
