import { availableParallelism } from 'node:os'
import type { NamedContract } from '../engine/query/suggest.ts'
import { memoizeLatest } from '../lib/caches.ts'
import { type Eventually, whenThere } from '../lib/scheduling/event-loop.ts'
import type { Limits } from '../limits/index.ts'
import type { SearchRequest } from '../query/request.ts'
import type { StoreChecks } from './checks.ts'
import { createCursorKeys, createCursors } from './cursors/service.ts'
import { networksIn } from './index-names.ts'
import { createInline } from './inline.ts'
import { oneOnly } from './multi-network.ts'
import { NATIVE_DIALECT, type NetworkCaller, type SearchAnswer, type SearchService } from './service.ts'
import { createSqliteStores } from './sqlite-stores.ts'
import type { BodySearch, HeldBlocks, NetworkStore, RemoteStores, SearchCaller, SharedParts } from './store.ts'
import { createAnswerStreams } from './streams.ts'
import { renderShortly } from './template.ts'
import { mayLookUp, withLookups } from './terms-lookup.ts'
import { createThreads } from './thread-pool.ts'

export interface PoolOptions {
  /** Store file of each network by name; read again if the `wanted` network is missing. */
  stores(wanted?: string): ReadonlyMap<string, string>
  /** Networks whose documents are not in their files. */
  elsewhere?(shared: SharedParts): RemoteStores
  /** Refuses to answer from files that are damaged or exchanged. */
  checks?: StoreChecks
  /** Named contracts of a network. */
  contracts?(network: string): Promise<readonly NamedContract[]>
  threads: number
  /** Time that a query may run; it restarts with each part of a long answer. */
  deadlineMs: number
  /** Time that the main thread may take for a query; with 0, threads answer all; without end, it alone. */
  inlineMs?: number
  limits: Limits
}

export type Pool = ReturnType<typeof createPool>

/** Answers searches of all networks: on this thread, by the thread pool, or from a cluster. */
export const createPool = (options: PoolOptions) => {
  const { stores, elsewhere, checks, contracts, threads: size, deadlineMs, inlineMs, limits } = options
  // The main thread answers, too.
  const shared = { ...limits, keptMemory: Math.floor(limits.keptMemory / (size + 1)) }
  const threads = createThreads({ threads: size, deadlineMs, limits: shared })
  let ids = 0
  const nextId = () => ++ids
  const streams = createAnswerStreams(limits)
  const inline = createInline({
    ...{ limits: shared, mayShare: () => threads.busy() < SPARE_PROCESSORS },
    ...(inlineMs !== undefined && { budgetMs: inlineMs }),
  })

  const fileOf = (network: string): string => {
    const store = stores(network).get(network)
    if (store === undefined) throw new Error(`no store of ${network}`)
    return store
  }

  const inFiles = createSqliteStores({
    ...{ fileOf, inline, threads, streams, deadlineMs, nextId },
    among: networks => others?.among(networks),
  })
  const others = elsewhere?.({
    ...{ fileOf, streams, deadlineMs, limits: shared },
    inThread: {
      search: (network, search, asking) => inFiles(network).searchInThread(search, asking),
      suggest: (network, request, asking) => inFiles(network).suggest(request, asking),
    },
  })
  const storeOf = (network: string): NetworkStore => others?.of(network) ?? inFiles(network)

  const check = (network: string) => {
    for (const one of checks ? networksIn(network) : []) checks?.check(one, stores(one).get(one))
  }
  const checkedStoreOf = (network: string): NetworkStore => {
    check(network)
    return storeOf(network)
  }

  const search = (network: string, asked: BodySearch, asking: SearchCaller): Eventually<SearchAnswer> =>
    whenThere(checkedStoreOf(network).search(asked, asking), answer => {
      if (answer.cursor) cursors.noteUse(asking.account, answer.cursor, answer)
      return answer
    })

  const keys = createCursorKeys()
  const cursors = createCursors({
    limits,
    key(network) {
      if (networksIn(network).length > 1) throw oneOnly('A scroll or a point in time')
      return keys.of(fileOf(network))
    },
    async page({ network, dialect, ...asking }, scroll) {
      asking.signal.throwIfAborted()
      const { asked, now } = scroll
      const body = scroll.body === undefined ? undefined : Buffer.from(scroll.body)
      return search(network, { ...asked, dialect, body, now, scroll }, asking)
    },
    seen: async ({ network, ...asking }) => checkedStoreOf(network).seen(asking),
  })

  const coverageOf = createCoverageCache(network => storeOf(network).coverage())

  const held = async (network: string): Promise<HeldBlocks> => {
    check(network)
    return stores(network).has(network) ? storeOf(network).held() : NOTHING_HELD
  }

  // A dear query need not wait for it; cheap ones, which the main thread answers, go before it.
  const starting = inlineMs === Number.POSITIVE_INFINITY ? undefined : setTimeout(threads.start, THREAD_START_MS)
  starting?.unref()

  const listNetworks = createNetworkList(checks)
  const service: SearchService = {
    networks: wanted => listNetworks(stores(wanted)),
    async search(asking) {
      const { network, account, signal, scroll, ...asked } = asking
      signal.throwIfAborted()
      if (scroll !== undefined && networksIn(network).length > 1)
        throw oneOnly('[scroll]', 'page by [search_after], or take all hits by "size": -1')
      const body = mayLookUp(asked.body)
        ? await withLookups(asked.body, { ...asking, networks: service.networks(), limits, storeOf: checkedStoreOf })
        : asked.body
      if (scroll !== undefined) return cursors.begin({ ...asking, body, scroll })
      // Later parts of an answer keep the moment of the first one.
      return search(network, { ...asked, body, now: Date.now() }, { account, signal })
    },
    cursors: {
      ...cursors,
      async scroll(asked) {
        check(asked.network)
        return cursors.scroll(asked)
      },
    },
    async render({ body, isJson = false, account, signal }) {
      const rendered = renderShortly(body, { limits, isJson })
      if (rendered) return rendered
      const message = { type: 'render', id: nextId(), deadlineMs, body, isJson } as const
      return threads.askWhole('rendered', message, { account, signal, bytes: body.length })
    },
    async suggest({ q, size, network, ...asking }) {
      const store = checkedStoreOf(network)
      return store.suggest({ q, size, contracts: (await contracts?.(network)) ?? [] }, asking)
    },
    similar: async ({ kind, id, size, network, ...asking }) =>
      checkedStoreOf(network).similar({ kind, id, size }, asking),
    async get({ network, ...asking }) {
      asking.signal.throwIfAborted()
      return checkedStoreOf(network).get(asking)
    },
    documents: async ({ wanted, filterPath, network, ...asking }) =>
      checkedStoreOf(network).documents(wanted, { ...asking, dialect: { ...NATIVE_DIALECT, filterPath } }),
    holdings: async ({ network, ...asking }) => storeOf(network).holdings(asking),
    coverage(network) {
      if (!network.includes(',')) return coverageOf(network)
      const each = networksIn(network)
      const texts = each.flatMap(one => {
        const text = coverageOf(one)
        return text === undefined ? [] : [`${one}: ${text}`]
      })
      return texts.length === 0 ? undefined : texts.join(', ')
    },
  }

  return {
    ...service,
    deadlineMs,
    /** As `search`, for a request that was parsed already. */
    request: async ({
      request,
      network,
      ...asking
    }: NetworkCaller & { request: SearchRequest }): Promise<SearchAnswer> =>
      checkedStoreOf(network).request(request, asking),
    /** Block ranges of a network's store; none without a store. Runs before all queries. */
    ranges: async (network: string) => (await held(network)).ranges,
    /** The same ranges, with the newest block. */
    held,
    threads: threads.state,
    async close() {
      clearTimeout(starting)
      inline.close()
      others?.close()
      keys.close()
      await Promise.all([threads.close(), checks?.close()])
    },
  }
}

/** The same list while the files are the same, so others can tell whether it changed. */
const createNetworkList = (checks: StoreChecks | undefined) => {
  const list = memoizeLatest((files: ReadonlyMap<string, string>, _lost: number) => [
    ...new Set([...files.keys(), ...(checks?.lost.keys() ?? [])]),
  ])
  return (files: ReadonlyMap<string, string>): readonly string[] => list(files, checks?.lost.size ?? 0)
}

/** Caches scope coverage briefly; undefined if the store is unreadable: its searches say why. */
const createCoverageCache = (read: (network: string) => string | undefined) => {
  const known = new Map<string, { at: number; text: string | undefined }>()
  const readNow = (network: string) => {
    try {
      return read(network)
    } catch {
      return undefined
    }
  }
  return (network: string): string | undefined => {
    const at = performance.now()
    const last = known.get(network)
    if (last && at - last.at < COVERAGE_FRESH_MS) return last.text
    const text = readNow(network)
    known.set(network, { at, text })
    return text
  }
}

const THREAD_START_MS = 250
/** Validity of cached coverage: reading it takes a tenth of the time of a cheap query. */
const COVERAGE_FRESH_MS = 100
const NOTHING_HELD: HeldBlocks = { ranges: [], newest: null }
/** Processors besides one for the main thread and one for its clients. */
const SPARE_PROCESSORS = availableParallelism() - 2
