import type { Searcher, Writing } from '../engine/query/execute.ts'
import type { SearchOptions } from '../engine/query/options.ts'
import type { Piece, Ranked, Ranking } from '../engine/query/rank.ts'
import { type Found, isNewestFirst } from '../engine/query/sort.ts'
import { comparedValues } from '../engine/query/sort-values.ts'
import { hidesScores } from '../engine/show/envelope.ts'
import { createByteWriter } from '../lib/bytes.ts'
import { lookup } from '../mapping/index.ts'
import { valuesOf } from '../query/predicate.ts'
import type { SearchRequest } from '../query/request.ts'
import type { Asker, AskOptions, Page } from './asker.ts'
import type { ClusterHit, FoundHits } from './hits/found.ts'
import type { ClusterPages } from './pages.ts'
import { notInCluster } from './refused.ts'
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
}: MemberOptions): Pick<Searcher, 'rank' | 'pieces'> => {
  const ask = (request: SearchRequest, options: SearchOptions): Promise<Page> =>
    settle(visible => asker.page(request, timed(options), visible), timed(options))

  /** What hits are compared by with those of others. */
  const rankerOf = (request: SearchRequest): ((hit: ClusterHit) => Ranked) => {
    const valuesAt = comparedValues(request, { documents: found.exact, reader: undefined })
    return hit => {
      const [document] = found.exact.load(hit.kind, [hit.position])
      const [time] = valuesOf(lookup(hit.kind, 'timestamp')!, document!._source)
      return { found: hit, values: valuesAt(hit), time: Number(time) / 1000 }
    }
  }

  return {
    rank(request, options, writing): Ranking {
      if (request.aggregations) throw notInCluster('Aggregations of several networks', 'ask each network')
      const { hits, total, maxScore, isEarly, sort, sortOf } = need(() => ask(request, options))
      const ordered = { ...request, sort }
      found.add(hits)
      const ranked = hits.map(rankerOf(ordered))
      const write = writerOf(request, writing, options)
      return {
        ...{ total, ranked, sort, descending: isNewestFirst(ordered) },
        ...(maxScore !== undefined && hits.length > 0 && !hidesScores(request) && { maxScore }),
        ...(isEarly !== undefined && { isEarly }),
        write: chosen => write({ hits: chosen as readonly Found[] as ClusterHit[], sortOf }, writing.out),
        close() {},
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
