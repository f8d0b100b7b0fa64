import { statSync } from 'node:fs'
import { timeOfBlock } from '../engine/blocks.ts'
import type { Searcher, StoreSearcher } from '../engine/query/searcher.ts'
import { createKeptMemory } from '../engine/reader.ts'
import { isReplica } from '../engine/shipping/replica.ts'
import type { Visible } from '../engine/shipping/shipped-ranges.ts'
import { perVersion } from '../engine/store-version.ts'
import { refuse } from '../lib/errors.ts'
import type { Eventually } from '../lib/scheduling/event-loop.ts'
import { byKind, KINDS, type Kind } from '../mapping/index.ts'
import { ALL_NODE } from '../query/ast.ts'
import {
  type AnswerOptions,
  answerDocuments,
  answerGet,
  answerRequest,
  answerSimilar,
  type Reply,
} from '../search/answer.ts'
import { answerForm, searchText } from '../search/answer-forms.ts'
import { createCoverageHeader } from '../search/coverage.ts'
import { networkIndex } from '../search/index-names.ts'
import type { AnswerParts } from '../search/lines.ts'
import { openStore } from '../search/open-store.ts'
import type { ReadAhead } from '../search/read-ahead.ts'
import type { NetworkStore, SearchCaller, SharedParts, StoreAnswer } from '../search/store.ts'
import type { StreamOptions } from '../search/streams.ts'
import { createClusterAnswers, createClusterStates } from './cluster-answer-cache.ts'
import type { AskOptions, QueryClient } from './query-client.ts'
import { createClusterSearcher } from './searcher.ts'
import type { ClusterPlace } from './stores.ts'
import { newestShipped, readShippedBlocks } from './visibility.ts'

const always = () => true

/** Whole answers get one of this many parts of the cache. */
const ANSWERS = 16
/** Most bytes of a body that the main thread reads. */
const SMALL_BODY = 16_384

interface ClusterStoreOptions extends Omit<SharedParts, 'fileOf'> {
  network: string
  place: ClusterPlace
  /** File of the network, which has its blocks. */
  file: string
}

interface How {
  /** The moment that date math counts from. */
  now?: number
  /** Time of the request, as of `performance.now`. */
  started?: number
}

/**
 * Answers for one network whose documents are in a cluster, by the same code as from its file. This
 * waits for the cluster and takes little time, so it stays in the main thread.
 */
export const createClusterStore = (options: ClusterStoreOptions) => {
  const { network, place: given, file, inThread, streams, deadlineMs, limits } = options
  const { shelf, told, ...place } = given
  const { reader } = openStore(file, limits, createKeptMemory(0))
  const state = createClusterStates(reader.db, shelf(reader.db))
  const hasMoved = perVersion(reader.db, place.moved?.(reader.db) ?? always)
  const visible = () => state().visible
  const { searcherOf, writerOf, documents, seen, asker } = createClusterSearcher({
    ...{ ...place, network, visible, reader, limits },
    told: told?.(reader.db),
  })
  const answered = createClusterAnswers(state, Math.floor(limits.keptMemory / ANSWERS))
  const index = networkIndex(network)
  /** Refuses requests for codes and names of contracts if only another process has them. */
  const isSearchOnly = isReplica(reader.db)
  const checkNames = (asked: string) => {
    if (isSearchOnly)
      throw refuse(
        'illegal_argument_exception',
        `${asked} cannot be answered by a server with role = "search": ask the server that indexes ${network}.`,
      )
  }

  const optionsOf = (
    { signal }: SearchCaller,
    { now = Date.now(), started = performance.now() }: How = {},
  ): AnswerOptions => ({
    ...{ started, deadline: started + deadlineMs, limits, now },
    cancelled: () => signal.aborted,
  })

  const answer = async (
    work: (searcher: StoreSearcher, options: AnswerOptions) => Eventually<Reply>,
    asking: SearchCaller,
    how?: How,
  ): Promise<StoreAnswer> => {
    const { account, signal } = asking
    const options = { ...optionsOf(asking, how), mayStream: streams.mayOpen(account) }
    const { body, ...reply } = await work(searcherOf({ signal, deadlineMs }), options)
    if (body instanceof Uint8Array) return { ...reply, body }
    return { ...reply, ...(await stream(body, { account, format: reply.format })) }
  }

  /** Documents that are there, one after another. */
  const answerWith = async (
    wanted: readonly { kind: Kind; id: string }[],
    asking: SearchCaller,
    work: (searcher: Pick<Searcher, 'writeDocument'>, options: AnswerOptions) => Reply,
  ): Promise<StoreAnswer> => {
    const options = optionsOf(asking)
    const byId = await documents(wanted, { signal: asking.signal, deadline: options.deadline })
    const { body, ...reply } = work(writerOf(byId), options)
    return { ...reply, body: body as Uint8Array }
  }

  const stream = async (body: AnswerParts, told: Pick<StreamOptions, 'account' | 'format'>) => {
    const close = () => body.close?.()
    const rest = body.parts[Symbol.iterator]()
    const next = async () => {
      await body.ready?.()
      const { value } = rest.next()
      // Copies the part: other answers share the memory of its writer.
      return { body: new Uint8Array(value ?? []), more: !body.ended() }
    }
    try {
      const first = await next()
      if (!first.more) return { body: first.body }
      const ahead = (): ReadAhead => ({ next, end: close })
      return streams.open({ ...told, body: first.body, ahead, drop: close })
    } catch (error) {
      close()
      throw error
    }
  }

  const store: NetworkStore = {
    async search(search, { account, signal }) {
      if ((search.body?.length ?? 0) > SMALL_BODY) return inThread.search(network, search, { account, signal })
      const how = { now: search.now, started: performance.now() }
      const text = searchText(search.body)
      const asked = { ...search, index }
      return answered(asked, text ?? '', signal, signal =>
        answer((searcher, options) => answerForm(searcher, asked, text, options), { account, signal }, how),
      )
    },
    request: (request, asking) =>
      answer((searcher, options) => answerRequest(searcher, index, request, options), asking),
    get: ({ entity, id, source, bare, ...asking }) =>
      answerWith([{ kind: entity as Kind, id }], asking, searcher =>
        answerGet(searcher, index, entity as Kind, id, { source, bare }),
      ),
    documents: (wanted, { dialect, ...asking }) =>
      answerWith(
        wanted.flatMap(one => ('instead' in one ? [] : [one])),
        asking,
        (searcher, options) => answerDocuments(searcher, index, wanted, { ...options, dialect }),
      ),
    async suggest(request, asking) {
      checkNames('Suggestions')
      return inThread.suggest(network, request, asking)
    },
    async similar(request, asking) {
      checkNames('Similarity')
      return answer((searcher, options) => answerSimilar(searcher, index, request, options), asking)
    },
    async holdings({ signal }) {
      const asking = { signal, deadline: performance.now() + deadlineMs }
      const { counts, bytes } = await holdingsInCluster(asker, asking, visible())
      return { counts, bytes: bytes + statSync(file).size }
    },
    seen: async () => seen(),
    async held() {
      const now = visible()
      const number = newestShipped(now)
      const time = timeOfBlock(reader.db, number)
      const newest = time === undefined ? null : { number, time }
      return { ...readShippedBlocks(reader, now.ranges), newest }
    },
    coverage: createCoverageHeader(reader),
  }
  return { ...store, hasMoved, close: reader.close }
}

/** Number of documents of each kind, and their bytes on all nodes. */
export const holdingsInCluster = async (
  asker: QueryClient,
  options: AskOptions,
  visible: Visible,
): Promise<{ counts: Record<Kind, number>; bytes: number }> => {
  const countOf = async (kind: Kind) => {
    const request = { parts: [{ kind, query: ALL_NODE }], sort: [], from: 0, size: 0, source: false, trackTotal: true }
    return (await asker.page(request, options, visible)).total
  }
  const bytesOf = async () => {
    const path = `/${asker.target(KINDS)}/_stats/store`
    const text = await asker.send({ method: 'GET', path, query: { level: 'cluster' } }, options)
    const { _all } = JSON.parse(text) as { _all: { total: { store?: { size_in_bytes: number } } } }
    return _all.total.store?.size_in_bytes ?? 0
  }
  const [bytes, ...counts] = await Promise.all([bytesOf(), ...KINDS.map(countOf)])
  return { counts: byKind(KINDS, kind => counts[KINDS.indexOf(kind)]!), bytes }
}
