import { createByteWriter } from '../../lib/bytes.ts'
import { refuse } from '../../lib/errors.ts'
import { type Eventually, whenThere } from '../../lib/scheduling/event-loop.ts'
import type { SearchRequest, SortSpec } from '../../query/request.ts'
import { asFloat } from '../../query/statistics.ts'
import { renderJoined } from '../aggs/aggregations.ts'
import type { PiecePages, Ranked, Ranking, WrittenHit } from './hits.ts'
import type { HitCursor } from './pages.ts'
import { BEST_FIRST } from './scores/scoring.ts'
import type { SearchControl } from './search.ts'
import type { AwaitedPages, StoreSearcher, Writing, Written, WrittenPages } from './searcher.ts'
import { compareKeys, isNewestFirst } from './sort/sort.ts'

/** One of several networks that are searched together. */
export interface NetworkMember {
  searcher: StoreSearcher
  /** The network's name in `_index`. */
  index: string
  /** Whether its documents are remote. It is queried first, while no transaction is open. */
  isAway?: boolean | undefined
}

/** Writes hits of several networks into one answer. */
export type JoinedSearcher = Pick<StoreSearcher, 'write' | 'writePages'>

/** Remote networks are not continued elsewhere. */
const beginOf = ({ at }: { at(): HitCursor | undefined }): HitCursor => at() ?? { last: undefined, hits: 0 }

/** Hits that are taken, and sent, in one go. */
const JOINED_PAGE = 500

/**
 * Searches several networks like one list. Equal sort values are ordered by block time (in the
 * direction of the sort), then by the order of `members`, then by place in the chain. Each network
 * is read in one state.
 */
export const joinSearchers = (members: readonly NetworkMember[]): JoinedSearcher => {
  const scratch = createByteWriter(1 << 16)

  const write: JoinedSearcher['write'] = (request, options, writing) => {
    const rank = ({ searcher, index }: NetworkMember, i: number) =>
      searcher.rank({ ...asRead(request, i), from: 0, size: request.from + request.size }, options, {
        ...writing,
        index,
      })
    return whenThere(awayOf(members, rank), away => {
      const open: Ranking[] = []
      try {
        const rankings = members.map((member, i) => {
          // A store answers at once.
          const ranking = away[i] ?? (rank(member, i) as Ranking)
          open.push(ranking)
          return ranking
        })
        return writeRanked(request, rankings, writing)
      } finally {
        for (const { close } of open) close()
      }
    })
  }

  const writeRanked = (request: SearchRequest, rankings: readonly Ranking[], writing: Writing): Written => {
    const { from, size, trackTotal } = request
    const chosen = mergedAll(rankings, rankingOrder(request, rankings), { from, to: from + size })
    return {
      total: totalOfAll(rankings, trackTotal),
      hits: writeChosen(chosen, rankings, writing),
      ...bestOf(rankings),
      ...(rankings.some(({ isEarly }) => isEarly !== undefined) && {
        isEarly: rankings.some(({ isEarly }) => isEarly === true),
      }),
      ...(request.aggregations && {
        aggregations: renderJoined(
          rankings.map(({ aggregating }) => aggregating!),
          writing.typedKeys ?? false,
        ),
      }),
    }
  }

  const writePages: JoinedSearcher['writePages'] = (request, options, writing, after) => {
    if (request.from > 0 && members.some(({ isAway }) => isAway))
      throw refuse(
        'illegal_argument_exception',
        '[from] with "size": -1 does not work on several networks of which one is in a cluster: leave [from] out.',
      )
    // The hits after one network's page depend on the others.
    const alone = withoutReached(options)
    const begin = ({ searcher, index }: NetworkMember, i: number) =>
      searcher.pieces(asRead(request, i), alone, { ...writing, index, out: scratch }, after?.each?.[i])
    return whenThere(awayOf(members, begin), away => {
      const begun = members.map((member, i) => away[i] ?? (begin(member, i) as PiecePages & AwaitedPages))
      const waiting = begun.filter(({ ready }) => ready)
      return {
        ...pagesOf(begun, request, writing, after),
        ...(waiting.length > 0 && {
          async ready() {
            await Promise.all(waiting.map(({ ready }) => ready!()))
          },
          close() {
            for (const { close } of waiting) close?.()
          },
        }),
      }
    })
  }

  const pagesOf = (
    begun: readonly PiecePages[],
    request: SearchRequest,
    writing: Writing,
    after: HitCursor | undefined,
  ): WrittenPages => {
    const streams = begun.map(({ pages, ...found }) => ({ ...found, ...pageHead(pages[Symbol.iterator]()) }))
    let at: HitCursor = after ?? { last: undefined, hits: 0, each: streams.map(beginOf) }
    function* pages(): Generator<number> {
      const compare = comparing(request.sort, isNewestFirst(request.each![0]!))
      const each = [...at.each!]
      let skip = after ? 0 : request.from
      for (;;) {
        let hits = 0
        let { last } = at
        while (hits < JOINED_PAGE) {
          const next = firstList(streams, compare)
          if (next < 0) break
          const { found, bytes } = streams[next]!.take()
          each[next] = { ...each[next]!, last: found, hits: each[next]!.hits + 1, edge: undefined }
          last = found
          if (skip-- > 0) continue
          if (hits > 0) writing.out.byte(writing.between ?? COMMA)
          writing.out.bytes(bytes)
          hits++
        }
        if (hits === 0) return
        at = { last, hits: at.hits + hits, each: [...each] }
        yield hits
      }
    }
    return {
      total: after ? -1 : totalOfAll(streams, request.trackTotal),
      ...bestOf(streams),
      pages: pages(),
      at: () => at,
    }
  }

  return { write, writePages }
}

const COMMA = 0x2c

/** Asks the members that have to be waited for; the others are left undefined. */
const awayOf = <T>(
  members: readonly NetworkMember[],
  ask: (member: NetworkMember, i: number) => Eventually<T>,
): Eventually<readonly (T | undefined)[]> =>
  members.some(({ isAway }) => isAway)
    ? Promise.all(members.map((member, i) => (member.isAway ? ask(member, i) : undefined)))
    : []

/** The request as one of the networks reads it. */
const asRead = ({ each, ...request }: SearchRequest, i: number): SearchRequest => {
  const own = each![i]!
  return { ...own, trackTotal: request.trackTotal, from: 0 }
}

const totalOfAll = (found: readonly { total: number }[], trackTotal: SearchRequest['trackTotal']): number => {
  if (found.some(({ total }) => total < 0)) return -1
  const sum = found.reduce((sum, { total }) => sum + total, 0)
  return typeof trackTotal === 'number' ? Math.min(sum, trackTotal) : sum
}

/** Omitted if all hits score 1. */
const bestOf = (found: readonly { total: number; maxScore?: number }[]): { maxScore?: number } => {
  if (found.every(({ maxScore }) => maxScore === undefined)) return {}
  return { maxScore: Math.max(...found.filter(({ total }) => total !== 0).map(({ maxScore = 1 }) => maxScore)) }
}

type CompareRanked = (a: Ranked, b: Ranked) => number

const comparing =
  (sort: readonly SortSpec[], descending: boolean): CompareRanked =>
  (a, b) => {
    for (const [i, one] of sort.entries()) {
      const isByPlace = one.by === '_doc' || one.by === '_shard_doc'
      // Places of different networks are no measure.
      const difference = isByPlace
        ? (a.time - b.time) * (one.order === 'desc' ? -1 : 1)
        : compareKeys(a.values[i]!, b.values[i]!, one)
      if (difference !== 0) return difference
    }
    return descending ? b.time - a.time : a.time - b.time
  }

/** Index of the list with the first head; the first network wins ties; -1 if all are empty. */
const firstList = (lists: readonly { head(): Ranked | undefined }[], compare: CompareRanked): number => {
  let first = -1
  let best: Ranked | undefined
  for (const [i, list] of lists.entries()) {
    const head = list.head()
    if (!head || (best && compare(head, best) >= 0)) continue
    best = head
    first = i
  }
  return first
}

interface Chosen {
  member: number
  one: Ranked
}

/** Without a sort the best come first, even if all hits of a network have equal scores. */
const rankingOrder = ({ sort }: SearchRequest, rankings: readonly Ranking[]): readonly SortSpec[] =>
  sort.length === 0 && rankings.some(({ maxScore }) => maxScore !== undefined) ? BEST_FIRST : sort

const mergedAll = (
  rankings: readonly Ranking[],
  sort: readonly SortSpec[],
  { from, to }: { from: number; to: number },
): Chosen[] => {
  const filled = rankings.map(({ ranked, sort: own }) =>
    own.length === sort.length ? ranked : ranked.map(one => ({ ...one, values: [asFloat(one.found.score ?? 1)] })),
  )
  const compare = comparing(sort, rankings[0]?.descending ?? true)
  const places = filled.map(() => 0)
  const lists = filled.map((ranked, i) => ({ head: () => ranked[places[i]!] }))
  const chosen: Chosen[] = []
  for (let count = 0; count < to; count++) {
    const member = firstList(lists, compare)
    if (member < 0) break
    if (count >= from) chosen.push({ member, one: lists[member]!.head()! })
    places[member]!++
  }
  return chosen
}

/** Neighbours of one network are written together. */
const writeChosen = (chosen: readonly Chosen[], rankings: readonly Ranking[], { out, between }: Writing): number => {
  let hits = 0
  for (let at = 0; at < chosen.length; ) {
    const { member } = chosen[at]!
    let end = at + 1
    while (chosen[end]?.member === member) end++
    const before = out.length
    if (hits > 0) out.byte(between ?? COMMA)
    const written = rankings[member]!.write(chosen.slice(at, end).map(({ one }) => one.found))
    if (written === 0) out.truncate(before)
    hits += written
    at = end
  }
  return hits
}

/** The next one of some pages, which are taken as they are needed. */
const pageHead = (pages: Iterator<WrittenHit[]>) => {
  let page: WrittenHit[] = []
  let place = 0
  const head = (): WrittenHit | undefined => {
    while (place >= page.length) {
      const next = pages.next()
      if (next.done) return undefined
      page = next.value
      place = 0
    }
    return page[place]
  }
  return {
    head,
    take(): WrittenHit {
      const one = head()!
      place++
      return one
    },
  }
}

/** The deadline restarts with each part of an answer. */
const withoutReached = (options: SearchControl): SearchControl => ({
  get deadline() {
    return options.deadline
  },
  cancelled: () => options.cancelled?.() ?? false,
  yields: () => options.yields?.() ?? false,
})
