import type { DocumentReader } from '../engine/port.ts'
import type { Hit } from '../engine/query/hits.ts'
import type { SearchControl } from '../engine/query/search.ts'
import { openSearcher } from '../engine/query/searcher.ts'
import { openReader, readingIn, type StoreReader } from '../engine/reader.ts'
import type { Visible } from '../engine/shipping/shipped-ranges.ts'
import { gapsIn, mergeRanges, type Range } from '../lib/ranges.ts'
import { DEFAULT_LIMITS } from '../limits/index.ts'
import { KINDS } from '../mapping/index.ts'
import type { BlockRun, SearchRequest } from '../query/request.ts'
import { notInCluster } from './deviations.ts'
import { loadPage } from './hits/cluster-hit.ts'
import { openPages } from './pages.ts'
import type { AskOptions, ClusterNetwork } from './query-client.ts'
import { createClusterSearcher } from './searcher.ts'

interface ClusterReaderOptions extends Omit<ClusterNetwork, 'visible'> {
  /** Path of SQLite's binding. */
  native?: string | undefined
  /** Returns a function that reports which documents of the network's store are in the cluster. */
  shelf(db: StoreReader['db']): () => Visible
}

/** Time limit of one request without a deadline. */
const MAX_REQUEST_MS = 60_000

/**
 * Reads a network's documents from the cluster, and those that are not there yet from its store: a
 * pass through all blocks misses none.
 */
export const openClusterReader = (
  path: string,
  { cluster, naming, network, shelf, native }: ClusterReaderOptions,
): DocumentReader => {
  const store = openSearcher(path, native)
  const reader = openReader(path, native)
  const visible = shelf(reader.db)
  const { asker, settle } = createClusterSearcher({
    ...{ cluster, naming, network, visible, reader, limits: DEFAULT_LIMITS },
  })

  const timed = ({ deadline }: SearchControl): AskOptions => ({
    deadline: Math.min(deadline, performance.now() + MAX_REQUEST_MS),
  })

  const inStore = readingIn(reader)
  /** Includes partially stored blocks. */
  const storedRanges = (): Range[] =>
    inStore(() => mergeRanges(reader.segments().map(({ first, last }) => ({ from: first, to: last }))))
  /** Blocks whose documents only the store has. */
  const missing = (now: Visible): Range[] => storedRanges().flatMap(({ from, to }) => gapsIn(now.ranges, from, to))

  const inBoth = (request: SearchRequest, now: Visible): SearchRequest | undefined => {
    const runs = missing(now).map(({ from, to }): BlockRun => [from, to])
    if (runs.length === 0) return undefined
    requireChainOrder(request)
    return { ...request, within: runs }
  }

  const search: DocumentReader['search'] = (request, options) =>
    settle(async now => ({ hits: await hitsOf(request, options, now) }), timed(options))

  const hitsOf = async (request: SearchRequest, options: SearchControl, now: Visible): Promise<Hit[]> => {
    const here = inBoth(request, now)
    const { from, size } = request
    const first = here ? { ...request, from: 0, size: from + size } : request
    const page = await asker.page(first, timed(options), now)
    const there = loadPage(request, page)
    if (!here) return there
    const more = store.search({ ...here, from: 0, size: from + size }, options)
    return [...there, ...more.hits].sort(orderOf(request)).slice(from, from + size)
  }

  const pages: DocumentReader['pages'] = async (request, options) => {
    const here = inBoth(request, visible())
    const opened = await openPages(request, { asker, options: () => timed(options), visible, settle })
    const there = async function* () {
      try {
        for (;;) {
          await opened.ready()
          const page = opened.take()
          if (!page) return
          yield loadPage(request, page)
        }
      } finally {
        opened.close()
      }
    }
    return { pages: here ? inOrder(there(), store.pages(here, options).pages, orderOf(request)) : there() }
  }

  return {
    search,
    pages,
    close() {
      reader.close()
      store.close()
    },
  }
}

/** Hits of both sources are distinguished only by their places. */
const requireChainOrder = ({ sort }: SearchRequest): void => {
  if (sort[0]?.by !== '_doc')
    throw notInCluster('Another order than that of the chain in what goes through history', 'sort by [_doc]')
}

const orderOf = ({ sort: [first] }: SearchRequest): ((a: Hit, b: Hit) => number) => {
  const sign = first?.order === 'desc' ? -1 : 1
  return (a, b) => sign * (placeOf(a) - placeOf(b) || KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind))
}

const placeOf = ({ sort }: Hit): number => Number(sort![0])

/** Merges two ordered lists of hits. */
async function* inOrder(
  one: AsyncIterable<Hit[]>,
  other: Iterable<Hit[]>,
  order: (a: Hit, b: Hit) => number,
): AsyncGenerator<Hit[]> {
  const rest = oneByOne(other)
  let next = rest.next()
  for await (const page of one) {
    const hits: Hit[] = []
    for (const hit of page) {
      for (; !next.done && order(next.value, hit) < 0; next = rest.next()) hits.push(next.value)
      hits.push(hit)
    }
    yield hits
  }
  const hits: Hit[] = []
  for (; !next.done; next = rest.next()) hits.push(next.value)
  if (hits.length > 0) yield hits
}

function* oneByOne(pages: Iterable<Hit[]>): Generator<Hit> {
  for (const page of pages) yield* page
}
