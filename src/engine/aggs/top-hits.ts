import { createByteWriter } from '../../lib/bytes.ts'
import type { SpecOf } from '../../query/aggs/ast.ts'
import { shownTopSort, shownTopValue, topValue } from '../../query/aggs/buckets.ts'
import type { Metric, TopHits, Value } from '../../query/aggs/result.ts'
import type { Value as Stored } from '../../query/ast.ts'
import { javaDouble } from '../../query/java-double.ts'
import type { SearchRequest } from '../../query/request.ts'
import { asFloat } from '../../query/statistics.ts'
import type { Found } from '../query/found.ts'
import { BEST_FIRST } from '../query/scores/scoring.ts'
import { sortValues } from '../query/sort/sort-values.ts'
import { hidesScores } from '../show/envelope.ts'
import type { Aggregator, Context } from './aggregator.ts'
import { createTop } from './top.ts'

export const createTopHits = (spec: SpecOf<'top_hits'>, context: Context): Aggregator => {
  const { size, from, sort } = spec
  const request = requestOf(spec, context.request)
  const scoring = spec.scored ? context.scoring() : undefined
  const isScored = scoring !== undefined && scoring.uniform === undefined
  const ordered = sort.length === 0 && isScored ? { ...request, sort: BEST_FIRST } : request
  // Where scores are but one of several keys, Elasticsearch does not look for the greatest one.
  const showsGreatest = !hidesScores(request) && (sort.length < 2 || request.trackScores === true)
  const wantsGreatest = isScored && showsGreatest
  const top = createTop(ordered, from + size, { scoring, greatest: wantsGreatest }, context)
  const out = createByteWriter(1 << 12)
  return {
    ...top,
    result(owner): TopHits {
      const found = top.of(owner).slice(from)
      scoring?.mark(found, spec.shown)
      out.clear()
      const hits = context.hits.writer(request, context.index)(found, out)
      const most = wantsGreatest ? asFloat(top.score(owner)) : asFloat(scoring?.uniform ?? 1)
      const score = hits > 0 && showsGreatest ? javaDouble(most) : 'null'
      const total = context.total(top.count(owner))
      return {
        is: 'hits',
        type: 'top_hits',
        hits: `{"total":${total},"max_score":${score},"hits":[${Buffer.from(out.view()).toString()}]}`,
      }
    },
    number: () => null,
  }
}

/** What the search itself shows of its hits is nothing to these. */
export const requestOf = (
  { size, sort, source, shown, trackScores, scored }: SpecOf<'top_hits'>,
  { parts, names }: SearchRequest,
): SearchRequest => ({
  parts: parts.map(({ kind, query, score, marks }) => ({
    ...{ kind, query },
    ...(scored && score && { score }),
    ...(marks && { marks }),
  })),
  ...{ sort, from: 0, size, source, trackTotal: true },
  ...(names && { names }),
  ...(shown && { shown }),
  ...(trackScores && { trackScores }),
})

export const createTopMetrics = ({ metrics, sort, size }: SpecOf<'top_metrics'>, context: Context): Aggregator => {
  const { reader, exact } = context
  const request = { ...context.request, sort: [sort], from: 0, size, after: undefined, tiebreak: undefined }
  const scoring = sort.by === '_score' ? context.scoring() : undefined
  const top = createTop(request, size, { scoring }, context)
  const sortOf = sortValues(request, { documents: exact, reader })
  const storedOf = (one: Found, metric: (typeof metrics)[number]): Stored | undefined =>
    topValue(metric, one.kind, () => exact.load(one.kind, [one.position])[0])
  const numberOf = (owner: number, name: string | undefined): number | null | undefined => {
    const metric = metrics.find(one => one.name === name)
    const [first] = top.of(owner)
    if (!metric) return undefined
    const value = first && storedOf(first, metric)
    return value === undefined || typeof value === 'string' ? null : Number(value)
  }

  return {
    ...top,
    result(owner): Metric {
      const found = top.of(owner)
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
  }
}
