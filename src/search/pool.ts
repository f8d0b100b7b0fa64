import { availableParallelism } from 'node:os'
import type { NamedContract } from '../engine/query/suggest.ts'
import type { Limits } from '../limits/index.ts'
import type { SearchRequest } from '../query/request.ts'
import { createCursorKeys, createCursors } from './cursors/service.ts'
import { eachOf } from './index-names.ts'
import { createInline } from './inline.ts'
import { oneOnly } from './multi-network.ts'
import { type Answer, type Asking, NATIVE, type SearchService } from './service.ts'
import { createSqliteStores } from './sqlite-stores.ts'
import type { BodySearch, Caller, HeldBlocks, NetworkStore, OtherStores, SharedParts } from './store.ts'
import { createStreams } from './streams.ts'
import { renderShortly } from './template.ts'
import { createThreadAsker, createThreads, type ThreadsState } from './threads.ts'

/** The threads that answer queries, as the main thread sees them. */
export interface Pool extends SearchService {
  /** As `search`, for a request that was parsed already. */
  request(request: Asking & { request: SearchRequest }): Promise<Answer>
  /** Ranges of blocks that a network's store holds; none without a store. They go before everything else. */
  ranges(network: string): Promise<HeldBlocks['ranges']>
  /** The same with the newest block. */
  held(network: string): Promise<HeldBlocks>
  /** How the reading threads are. */
  threads(): ThreadsState
  close(): Promise<void>
}

export interface PoolOptions {
  /** File of each network's store, by name; as of this very moment where the one that is wanted is not among them. */
  stores(wanted?: string): ReadonlyMap<string, string>
  /** Networks whose documents lie elsewhere than in their files. */
  elsewhere?(shared: SharedParts): OtherStores
  /** Contracts of a network that were given names. */
  contracts?(network: string): Promise<readonly NamedContract[]>
  threads: number
  /** Time that a query may run; it restarts with each part of a long answer. */
  deadlineMs: number
  /** Time that the main thread itself may take for a query; with 0, threads answer all. */
  inlineMs?: number
  limits: Limits
}

export const createPool = ({
  stores,
  elsewhere,
  contracts,
  threads: size,
  deadlineMs,
  inlineMs,
  limits,
}: PoolOptions): Pool => {
  // The main thread answers, too.
  const shared = { ...limits, keptMemory: Math.floor(limits.keptMemory / (size + 1)) }
  const threads = createThreads({ threads: size, deadlineMs, limits: shared })
  const ask = createThreadAsker(threads)
  let ids = 0
  const nextId = () => ++ids
  const streams = createStreams(limits)
  const inline = createInline({
    ...{ limits: shared, mayShare: () => threads.busy() < SPARE },
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

  const search = async (network: string, asked: BodySearch, asking: Caller): Promise<Answer> => {
    const { cursor, ...answer } = await storeOf(network).search(asked, asking)
    try {
      cursors.used(asking.account, cursor)
    } catch (error) {
      answer.pieces?.cancel()
      throw error
    }
    return answer
  }

  const keys = createCursorKeys()
  const cursors = createCursors({
    limits,
    key(network) {
      if (eachOf(network).length > 1) throw oneOnly('A scroll or a point in time')
      return keys.of(fileOf(network))
    },
    page({ network, dialect, ...asking }, scroll) {
      asking.signal.throwIfAborted()
      const { asked, now } = scroll
      const body = scroll.body === undefined ? undefined : Buffer.from(scroll.body)
      return search(network, { ...asked, dialect, body, now, scroll }, asking)
    },
    seen: async ({ network, ...asking }) => storeOf(network).seen(asking),
  })

  /** None where the store cannot be read now: whoever searches it hears why. */
  const coverageNow = (network: string): string | undefined => {
    try {
      return storeOf(network).coverage()
    } catch {
      return undefined
    }
  }
  const coverages = new Map<string, { at: number; text: string | undefined }>()
  const coverageOf = (network: string): string | undefined => {
    const at = performance.now()
    const known = coverages.get(network)
    if (known && at - known.at < FRESH_MS) return known.text
    const text = coverageNow(network)
    coverages.set(network, { at, text })
    return text
  }

  const held = async (network: string): Promise<HeldBlocks> =>
    stores(network).has(network) ? storeOf(network).held() : NOTHING_HELD

  // A dear query need not wait for it; cheap ones, which the main thread answers, go before it.
  const starting = setTimeout(threads.start, START_AFTER_MS)
  starting.unref()

  return {
    networks: wanted => [...stores(wanted).keys()],
    async search(asking) {
      const { network, account, signal, scroll, ...asked } = asking
      signal.throwIfAborted()
      if (scroll !== undefined && eachOf(network).length > 1)
        throw oneOnly('[scroll]', 'page by [search_after], or take all hits by "size": -1')
      if (scroll !== undefined) return cursors.begin({ ...asking, scroll })
      // What goes on with an answer counts from the moment that the first part did.
      return search(network, { ...asked, now: Date.now() }, { account, signal })
    },
    cursors,
    async render({ body, isJson = false, account, signal }) {
      const rendered = renderShortly(body, { limits, isJson })
      if (rendered) return rendered
      const message = { type: 'render', id: nextId(), deadlineMs, body, isJson } as const
      return ask('rendered', message, { account, signal, bytes: body.length })
    },
    request: async ({ request, network, ...asking }) => storeOf(network).request(request, asking),
    async suggest({ q, size, network, ...asking }) {
      const store = storeOf(network)
      return store.suggest({ q, size, contracts: (await contracts?.(network)) ?? [] }, asking)
    },
    similar: async ({ kind, id, size, network, ...asking }) => storeOf(network).similar({ kind, id, size }, asking),
    async get({ network, ...asking }) {
      asking.signal.throwIfAborted()
      return storeOf(network).get(asking)
    },
    documents: async ({ wanted, filterPath, network, ...asking }) =>
      storeOf(network).documents(wanted, { ...asking, dialect: { ...NATIVE, filterPath } }),
    holdings: async ({ network, ...asking }) => storeOf(network).holdings(asking),
    coverage(network) {
      const each = eachOf(network)
      const told = each.flatMap(one => {
        const text = coverageOf(one)
        return text === undefined ? [] : [each.length === 1 ? text : `${one}: ${text}`]
      })
      return told.length === 0 ? undefined : told.join(', ')
    },
    ranges: async network => (await held(network)).ranges,
    held,
    threads: threads.state,
    close() {
      clearTimeout(starting)
      inline.close()
      others?.close()
      keys.close()
      return threads.close()
    },
  }
}

const START_AFTER_MS = 250
/** Time for which it counts what scopes cover: to look at a store takes a tenth of the time of a cheap query. */
const FRESH_MS = 100
const NOTHING_HELD: HeldBlocks = { ranges: [], newest: null }
/** Processors that are left beside the main thread and one for whoever asks. */
const SPARE = availableParallelism() - 2
