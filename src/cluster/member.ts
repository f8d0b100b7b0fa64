import { createAggregating } from '../engine/aggs/aggregations.ts'
import { mergeAll } from '../engine/aggs/aggregator.ts'
import { asking } from '../engine/query/evaluator.ts'
import type { Searcher, Writing } from '../engine/query/execute.ts'
import { check, type SearchOptions } from '../engine/query/options.ts'
import type { Piece, Ranked, Ranking } from '../engine/query/rank.ts'
import { EMPTY } from '../engine/query/sets.ts'
import { type Found, isNewestFirst } from '../engine/query/sort.ts'
import { comparedValues } from '../engine/query/sort-values.ts'
import type { Reader } from '../engine/reader.ts'
import { hidesScores } from '../engine/show/envelope.ts'
import type { Hits } from '../engine/show/hits.ts'
import { createByteWriter } from '../lib/bytes.ts'
import type { Limits } from '../limits/index.ts'
import { lookup } from '../mapping/index.ts'
import type { Aggregations } from '../query/aggs/ast.ts'
import { valuesOf } from '../query/predicate.ts'
import type { SearchRequest } from '../query/request.ts'
import { firstPage, prepareAggregating } from './aggregated.ts'
import { ALL_VALUES, askJoined, statesOf, type ToldAggregations, widened } from './aggs/joined.ts'
import type { Asker, AskOptions, Page } from './asker.ts'
import type { ClusterHit, FoundHits } from './hits/found.ts'
import type { ClusterPages } from './pages.ts'
import type { Need } from './replay.ts'
import type { Settle } from './settled.ts'

export interface MemberOptions {
  need: Need
  found: FoundHits
  /** Appends hits. */
  writerOf(
    request: SearchRequest,
    writing: Writing,
    options: SearchOptions,
  ): (page: Pick<Page, 'hits' | 'sortOf'>, out: Writing['out']) => number
  options(options: SearchOptions): AskOptions
  openedPages(request: SearchRequest): ClusterPages
  asker: Asker
  settle: Settle
  /** Of the network's store, which holds its blocks. */
  reader: Reader
  limits: Limits
}

/** A network of a cluster as one of several that are searched together. */
export const memberOf = ({
  need,
  found,
  writerOf,
  options: timed,
  openedPages,
  asker,
  settle,
  reader,
  limits,
}: MemberOptions): Pick<Searcher, 'rank' | 'pieces'> => {
  interface Asked {
    page: Page
    told?: ToldAggregations
  }

  const ask = (request: SearchRequest, options: SearchOptions, writing: Writing): Promise<Asked> =>
    settle(async visible => {
      const { aggregations } = request
      const asked = { asker, options: timed(options), visible }
      if (!aggregations) return { page: await asker.page(request, asked.options, visible) }
      const given = { ...request, aggregations: widened(aggregations) }
      const checked = { limits, most: ALL_VALUES, isJoined: true, check: () => check(options) }
      const aggregating = await prepareAggregating({ request: given, writing, write: noHits, ...checked }, asked)
      const { page, first } = await firstPage(given, aggregating, asked)
      return { page, told: await askJoined(aggregating, first) }
    }, timed(options))

  /** What hits are compared by with those of others. */
  const rankerOf = (request: SearchRequest): ((hit: ClusterHit) => Ranked) => {
    const valuesAt = comparedValues(request, { documents: found.exact, reader: undefined })
    return hit => {
      const [document] = found.exact.load(hit.kind, [hit.position])
      const [time] = valuesOf(lookup(hit.kind, 'timestamp')!, document!._source)
      return { found: hit, values: valuesAt(hit), time: Number(time) / 1000 }
    }
  }

  /** With what computes aggregations over stores, to which is added what the cluster told. */
  const aggregatingOf = (
    request: SearchRequest & { aggregations: Aggregations },
    { index, totals, typedKeys = false }: Writing,
    told: ToldAggregations,
  ): NonNullable<Ranking['aggregating']> => {
    const hits: Hits = { writer: noHits, documents: noHits, document: noHits }
    const aggregating = createAggregating({ reader, exact: found.exact, ask: asking(found.exact), limits, hits })
    const total = (count: number) => (totals === 'object' ? `{"value":${count},"relation":"eq"}` : `${count}`)
    // Nothing is found in the store.
    const evaluations = request.parts.map(() => ({ matches: () => EMPTY, count: () => 0 }))
    const joined = aggregating.joined({
      request,
      evaluations,
      aggregations: request.aggregations,
      index,
      total,
      typedKeys,
    })
    return shared => {
      const begun = joined(shared)
      return {
        ...begun,
        collect: (into = begun.inner) => mergeAll(into, statesOf(begun.inner, told, reader.check), ONLY),
      }
    }
  }

  return {
    rank(request, options, writing): Ranking {
      const { page, told } = need(() => ask(request, options, writing))
      const { hits, total, maxScore, isEarly, sort, sortOf } = page
      const ordered = { ...request, sort }
      const { aggregations } = request
      found.add(hits)
      const ranked = hits.map(rankerOf(ordered))
      const write = writerOf(request, writing, options)
      // What computes aggregations looks into the store, of whose state the answer is.
      if (told) reader.begin(() => check(options))
      return {
        ...{ total, ranked, sort, descending: isNewestFirst(ordered) },
        ...(maxScore !== undefined && hits.length > 0 && !hidesScores(request) && { maxScore }),
        ...(isEarly !== undefined && { isEarly }),
        write: chosen => write({ hits: chosen as readonly Found[] as ClusterHit[], sortOf }, writing.out),
        ...(told && aggregations && { aggregating: aggregatingOf({ ...request, aggregations }, writing, told) }),
        close: () => told && reader.end(),
      }
    },
    pieces(request, options, writing) {
      const pages = openedPages(request)
      const write = writerOf(request, writing, options)
      const out = createByteWriter()
      function* pieces(): Generator<Piece[]> {
        for (let page = pages.take(); page; page = pages.take()) {
          const { hits, sort, ...about } = page
          found.add(hits)
          const ranked = hits.map(rankerOf({ ...request, sort }))
          yield ranked.map((one): Piece => {
            out.clear()
            write({ ...about, hits: [one.found as ClusterHit] }, out)
            return { ...one, bytes: out.take() }
          })
        }
      }
      return {
        ...{ total: pages.total, at: () => undefined, pages: pieces() },
        ...(pages.maxScore !== undefined && !hidesScores(request) && { maxScore: pages.maxScore }),
      }
    },
  }
}

const ONLY = Uint32Array.of(0)

const noHits = (): never => {
  throw new Error('there are no hits in buckets of several networks')
}
