import { createByteWriter } from '../../lib/bytes.ts'
import type { SpecOf } from '../../query/aggs/ast.ts'
import { shownTopSort, shownTopValue, topValue } from '../../query/aggs/buckets.ts'
import type { Metric, ResultValue, TopHits } from '../../query/aggs/result.ts'
import type { QueryValue as Stored } from '../../query/ast.ts'
import { javaDouble } from '../../query/numbers.ts'
import type { SearchRequest } from '../../query/request.ts'
import { asFloat } from '../../query/statistics.ts'
import { numberedAs, positionOfOrdinal } from '../query/fields/ordinals.ts'
import { BEST_FIRST } from '../query/scores/scoring.ts'
import type { SearchMatch } from '../query/search-match.ts'
import { sortValues } from '../query/sort/sort-values.ts'
import { hidesScores } from '../show/basic-hit.ts'
import { compareElementKeys, type ElementSource, elementHits, elementKeys, formatTotal } from '../show/inner-hits.ts'
import type { AggregationContext, Aggregator } from './aggregator.ts'
import { type BatchView, ordinalAt } from './batch.ts'
import { createBest, createTop } from './top.ts'

export const createTopHits = (spec: SpecOf<'top_hits'>, context: AggregationContext): Aggregator => {
  const { size, from, sort } = spec
  const request = topHitsRequest(spec, context.request)
  const scoring = spec.scored ? context.scoring() : undefined
  const isScored = scoring !== undefined && scoring.uniform === undefined
  const ordered = sort.length === 0 && isScored ? { ...request, sort: BEST_FIRST } : request
  // Elasticsearch computes no maximum if the score is one of several sort keys.
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
      const hits = context.hits.writer(request, context.index, context.writing)(found, out)
      const most = wantsGreatest ? asFloat(top.score(owner)) : asFloat(scoring?.uniform ?? 1)
      const score = hits > 0 && showsGreatest ? javaDouble(most) : 'null'
      const total = formatTotal(top.count(owner), context.writing.totals)
      return {
        is: 'hits',
        type: 'top_hits',
        hits: `{"total":${total},"max_score":${score},"hits":[${Buffer.from(out.view()).toString()}]}`,
      }
    },
    number: () => null,
  }
}

/** Top hits ignore what the search itself shows. */
export const topHitsRequest = (
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

export const createTopMetrics = (
  { metrics, sort, size }: SpecOf<'top_metrics'>,
  context: AggregationContext,
): Aggregator => {
  const { reader, exact } = context
  const request = { ...context.request, sort: [sort], from: 0, size, after: undefined, tiebreak: undefined }
  const scoring = sort.by === '_score' ? context.scoring() : undefined
  const top = createTop(request, size, { scoring }, context)
  const sortOf = sortValues(request, { documents: exact, reader })
  const storedOf = (one: SearchMatch, metric: (typeof metrics)[number]): Stored | undefined =>
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
      const list = found.map((one): ResultValue => {
        reader.check()
        return new Map<string, ResultValue>([
          ['sort', [shownTopSort(sortOf(one)[0], sort)]],
          ['metrics', new Map(metrics.map(metric => [metric.name, shownTopValue(storedOf(one, metric), metric)]))],
        ])
      })
      return { is: 'metric', type: 'top_metrics', body: [['top', list]], number: rest => numberOf(owner, rest) }
    },
    number: (owner, _, rest) => numberOf(owner, rest) ?? null,
  }
}

interface Element {
  kind: BatchView['kind']
  position: number
  offset: number
  keys: readonly (Stored | undefined)[]
  score: number
}

/** The best elements of a nested list; of equal ones those of the newest documents. */
export const createTopElements = (spec: SpecOf<'top_hits'>, context: AggregationContext): Aggregator => {
  const { size, from } = spec
  const { path, sort } = spec.elements!
  const { reader, exact, index } = context
  const request = topHitsRequest(spec, context.request)
  const scoring = spec.scored ? context.scoring() : undefined
  const scored = sort.length === 0 || request.trackScores === true
  const keysOf = elementKeys(sort, path)
  /** Chain order: by document, then by place in the list. */
  const keysAt = (element: ElementSource, position: number, offset: number) =>
    keysOf(element, offset).map((key, i) => (sort[i]!.field ? key : BigInt(position) * PLACES + BigInt(offset)))
  const compare = (a: Element, b: Element): number =>
    (sort.length > 0 ? compareElementKeys(sort, a.keys, b.keys) : b.score - a.score || b.position - a.position) ||
    a.position - b.position ||
    a.offset - b.offset
  const best = createBest(from + size, compare, 150)
  const elementsOf = (kind: BatchView['kind'], position: number): ElementSource[] => {
    const [document] = exact.load(kind, [position], [path])
    const all = document?._source[path]
    return Array.isArray(all) ? all : []
  }

  return {
    ...best,
    collect(at, batch) {
      const here = best.open(batch, true)
      const { documents, role, roles } = at.elements ?? NO_ELEMENTS
      const scores = scored && scoring && scoring.uniform === undefined ? scoring.in(at.kind, at.segment) : undefined
      let last = { ordinal: -1, elements: [] as ElementSource[] }
      for (let i = 0; at.elements && i < batch.count; i++) {
        reader.check()
        const element = ordinalAt(batch, i)
        const ordinal = documents[element]!
        const owner = batch.owners ? batch.owners[i]! : 0
        const { position: offset } = roles[role[element]!]!
        const position = positionOfOrdinal(at.header, numberedAs(at.kind), ordinal)
        if (sort.length > 0 && ordinal !== last.ordinal) last = { ordinal, elements: elementsOf(at.kind, position) }
        const keys = sort.length > 0 ? keysAt(last.elements[offset] ?? {}, position, offset) : []
        const score = scores ? scores[ordinal]! : (scoring?.uniform ?? 1)
        here.score(owner, score)
        here.add(owner, { kind: at.kind, position, offset, keys, score })
      }
      return here.state()
    },
    result(owner): TopHits {
      const hits = best
        .of(owner)
        .slice(from)
        .flatMap(({ kind, position, offset, keys, score }) => {
          const [document] = context.hits.documents(kind, [position])
          const all = document?._source[path]
          const element = Array.isArray(all) ? (all[offset] as ElementSource) : undefined
          if (!document || !element) return []
          const hitOf = elementHits({ kind, request, sort, list: path, index })
          return [JSON.stringify(hitOf(document, { element, offset, keys, score: scored ? asFloat(score) : null }))]
        })
      const total = formatTotal(best.count(owner), context.writing.totals)
      const score = hits.length > 0 && scored ? javaDouble(asFloat(best.score(owner))) : 'null'
      return { is: 'hits', type: 'top_hits', hits: `{"total":${total},"max_score":${score},"hits":[${hits.join()}]}` }
    },
    number: () => null,
  }
}

const PLACES = 2n ** 16n
const NO_ELEMENTS = { documents: new Uint32Array(0), role: new Uint32Array(0), roles: [] }
