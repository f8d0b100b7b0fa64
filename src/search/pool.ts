import { availableParallelism } from 'node:os'
import { Yielded } from '../engine/query/options.ts'
import type { NamedContract } from '../engine/query/suggest.ts'
import type { Limits } from '../limits/index.ts'
import type { SearchRequest } from '../query/request.ts'
import { createAhead } from './ahead.ts'
import { createBound } from './bound.ts'
import { type ClusterPlace, createClusters } from './clusters.ts'
import { createCursorKeys } from './cursors/keys.ts'
import { createCursors } from './cursors/service.ts'
import { NATIVE } from './dialect.ts'
import { createInline } from './inline.ts'
import type { HeldBlocks, Search } from './reader-messages.ts'
import { type Answer, type Asking, NO_ACCOUNT, type SearchService } from './service.ts'
import { oneOnly } from './several.ts'
import { createStreams } from './streams.ts'
import { eachOf, indexOf } from './target.ts'
import { renderBody } from './template.ts'
import { createThreads, type Message, type ThreadsState } from './threads.ts'

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
  /** Where the documents of a network lie in a cluster; undefined where its store holds them. */
  clusters?(network: string): ClusterPlace | undefined
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
  clusters: placeOf = () => undefined,
  contracts,
  threads: size,
  deadlineMs,
  inlineMs,
  limits,
}: PoolOptions): Pool => {
  // The main thread answers, too.
  const shared = { ...limits, keptMemory: Math.floor(limits.keptMemory / (size + 1)) }
  const threads = createThreads({ threads: size, deadlineMs, limits: shared })
  let ids = 0
  const nextId = () => ++ids
  const streams = createStreams(limits)
  const inline = createInline({
    ...{ limits: shared, mayShare: () => threads.busy() < SPARE },
    ...(inlineMs !== undefined && { budgetMs: inlineMs }),
  })

  const storeOf = (network: string): string => {
    const store = stores(network).get(network)
    if (store === undefined) throw new Error(`no store of ${network}`)
    return store
  }

  const clusters = createClusters({ placeOf, storeOf, streams, deadlineMs, limits: shared })

  const answer = async (
    message: Extract<Message, { type: 'get' | 'documents' | 'suggest' | 'similar' }>,
    asking: Asking,
  ) => {
    const { account, signal } = asking
    const { id } = message
    const reply = await threads.ask({ id, account, signal, lane: 'cheap', bytes: 0, message: () => message })
    if (reply.message.type !== 'answer') throw new Error(`a reading thread answered ${reply.message.type}`)
    const { status, body } = reply.message
    return { status, body }
  }

  const search = async (
    network: string,
    search: Search,
    { account, signal }: Pick<Asking, 'account' | 'signal'>,
  ): Promise<Answer> => {
    const bytes = search.type === 'search' ? (search.body?.length ?? 0) : 0
    const among = clusters.among(network)
    const first = await threads.ask({
      // Who waits for clusters leaves a thread to others.
      ...{ id: search.id, account, signal, lane: among ? 'dear' : 'cheap', bytes },
      message: () => ({ ...search, mayStream: streams.mayOpen(account), inClusters: among?.() }),
    })
    const { message, thread } = first
    if (message.type !== 'answer') throw new Error(`a reading thread answered ${message.type}`)
    const { status, body, more, format, cursor } = message
    cursors.used(account, cursor)
    const told = { status, ...(format && { format }) }
    if (!more) return { ...told, body }
    const stream = streams.open({
      ...{ account, body, format, drop: () => threads.drop(thread, search.id) },
      ahead: signal =>
        among
          ? createBound({ threads, thread, stream: search.id, account, signal, nextId })
          : createAhead({ threads, search, account, first: { message, thread }, signal, nextId }),
    })
    return { ...told, ...stream }
  }

  const searchOnce = async (
    network: string,
    asked: Extract<Search, { type: 'search' }>,
    asking: Pick<Asking, 'account' | 'signal'>,
  ): Promise<Answer> => {
    const clustered = clusters.of(network)
    // Several networks take longer than the main thread has, and so does a large body.
    const found = clustered
      ? (asked.body?.length ?? 0) > SMALL_BODY
        ? undefined
        : await clustered.search(asked, asking)
      : asked.more
        ? undefined
        : await inline.search(asked, asking)
    if (!found) return search(network, asked, asking)
    const { cursor, ...answer } = found
    cursors.used(asking.account, cursor)
    return answer
  }

  const keys = createCursorKeys()
  const cursors = createCursors({
    limits,
    key(network) {
      if (eachOf(network).length > 1) throw oneOnly('A scroll or a point in time')
      return keys.of(storeOf(network))
    },
    page({ network, dialect, ...asking }, scroll) {
      asking.signal.throwIfAborted()
      const { asked, now } = scroll
      const body = scroll.body === undefined ? undefined : Buffer.from(scroll.body)
      return searchOnce(network, { type: 'search', ...searchOf(network), ...asked, dialect, body, now, scroll }, asking)
    },
    async seen({ network, account, signal }) {
      const clustered = clusters.of(network)
      if (clustered) return clustered.seen()
      const id = nextId()
      const asked = { id, account, signal, lane: 'cheap', bytes: 0 } as const
      const store = storeOf(network)
      const { message } = await threads.ask({ ...asked, message: () => ({ type: 'seen', id, store }) })
      if (message.type !== 'seen') throw new Error(`a reading thread answered ${message.type}`)
      return message.seen
    },
  })

  /** None where the store cannot be read now: whoever searches it hears why. */
  const coverageNow = (network: string): string | undefined => {
    const store = stores(network).get(network)
    try {
      const clustered = clusters.of(network)
      return clustered ? clustered.coverage() : store && inline.coverage(store)
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

  const held = async (network: string): Promise<HeldBlocks> => {
    const store = stores(network).get(network)
    if (store === undefined) return NOTHING_HELD
    const clustered = clusters.of(network)
    if (clustered) return clustered.held()
    const id = nextId()
    const asked = { id, account: NO_ACCOUNT, lane: 'first', bytes: 0 } as const
    const { message } = await threads.ask({ ...asked, message: () => ({ type: 'held', id, store }) })
    return message.type === 'held' ? message.held : NOTHING_HELD
  }

  /** What every search of the network has. */
  const searchOf = (network: string) => {
    const [store, ...more] = eachOf(network).map(storeOf)
    return {
      ...{ id: nextId(), store: store!, index: indexOf(network), deadlineMs },
      ...(more.length > 0 && { more }),
      // What goes on with an answer counts from the moment that the first part did.
      ...{ now: Date.now(), mayStream: true },
    }
  }

  // A dear query need not wait for it; cheap ones, which the main thread answers, go before it.
  const starting = setTimeout(threads.start, START_AFTER_MS)
  starting.unref()

  return {
    networks: wanted => [...stores(wanted).keys()],
    async search(asking) {
      const { network, account: _account, signal, scroll, ...asked } = asking
      signal.throwIfAborted()
      if (scroll !== undefined && eachOf(network).length > 1)
        throw oneOnly('[scroll]', 'page by [search_after], or take all hits by "size": -1')
      if (scroll !== undefined) return cursors.begin({ ...asking, scroll })
      return searchOnce(network, { type: 'search', ...searchOf(network), ...asked }, asking)
    },
    cursors,
    async render({ body, isJson = false, account, signal }) {
      if (body.length <= SMALL_TEMPLATE) {
        const until = performance.now() + SHORT_MS
        const check = () => {
          if (performance.now() > until) throw new Yielded('a template takes longer than the main thread has')
        }
        try {
          return renderBody(body, { limits, isJson, check })
        } catch (error) {
          if (!(error instanceof Yielded)) throw error
        }
      }
      const id = nextId()
      const asked = { id, account, signal, lane: 'cheap', bytes: body.length } as const
      const { message } = await threads.ask({
        ...asked,
        message: () => ({ type: 'render', id, deadlineMs, body, isJson }),
      })
      if (message.type !== 'rendered') throw new Error(`a reading thread answered ${message.type}`)
      return message
    },
    async request({ request, ...asking }) {
      const clustered = clusters.of(asking.network)
      return clustered
        ? clustered.request(request, asking)
        : search(asking.network, { type: 'request', ...searchOf(asking.network), request }, asking)
    },
    async suggest({ q, size, ...asking }) {
      clusters.of(asking.network)?.checkNames('Suggestions')
      const store = storeOf(asking.network)
      const named = (await contracts?.(asking.network)) ?? []
      return answer({ type: 'suggest', id: nextId(), store, request: { q, size, contracts: named } }, asking)
    },
    similar: async ({ kind, id, size, ...asking }) => {
      const clustered = clusters.of(asking.network)
      clustered?.checkNames('Similarity')
      if (clustered) return clustered.similar({ kind, id, size }, asking)
      const [store, index] = [storeOf(asking.network), indexOf(asking.network)]
      return answer({ type: 'similar', id: nextId(), store, index, deadlineMs, request: { kind, id, size } }, asking)
    },
    async get(asking) {
      const { entity, id: document, source, bare } = asking
      asking.signal.throwIfAborted()
      const clustered = clusters.of(asking.network)
      if (clustered) return clustered.get(asking)
      const [store, index] = [storeOf(asking.network), indexOf(asking.network)]
      const asked = { type: 'get', id: nextId(), store, index, entity, document, source, bare } as const
      return (await inline.get(asked, asking)) ?? answer(asked, asking)
    },
    documents: async ({ wanted, filterPath, ...asking }) => {
      const dialect = { ...NATIVE, filterPath }
      const clustered = clusters.of(asking.network)
      if (clustered) return clustered.documents(wanted, { ...asking, dialect })
      const [store, index] = [storeOf(asking.network), indexOf(asking.network)]
      return answer({ type: 'documents', id: nextId(), store, index, deadlineMs, wanted, dialect }, asking)
    },
    async holdings({ network, account, signal }) {
      const clustered = clusters.of(network)
      if (clustered) return clustered.holdings({ account, signal })
      const id = nextId()
      const asked = { id, account, signal, lane: 'cheap', bytes: 0 } as const
      const store = storeOf(network)
      const { message } = await threads.ask({ ...asked, message: () => ({ type: 'holdings', id, store }) })
      if (message.type !== 'holdings') throw new Error(`a reading thread answered ${message.type}`)
      return message.holdings
    },
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
      clusters.close()
      keys.close()
      return threads.close()
    },
  }
}

const START_AFTER_MS = 250
/** Bytes of a body that the main thread reads, of what it asks a cluster. */
const SMALL_BODY = 16_384
/** Bytes of a template that the main thread tries to render, and how long. */
const SMALL_TEMPLATE = 4_096
const SHORT_MS = 1
/** Time for which it counts what scopes cover: to look at a store takes a tenth of the time of a cheap query. */
const FRESH_MS = 100
const NOTHING_HELD: HeldBlocks = { ranges: [], newest: null }
/** Processors that are left beside the main thread and one for whoever asks. */
const SPARE = availableParallelism() - 2
