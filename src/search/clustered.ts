import { statSync } from 'node:fs'
import { holdingsInCluster } from '../cluster/holdings.ts'
import { createClusterSearcher } from '../cluster/searcher.ts'
import { newestShelved } from '../cluster/shelved.ts'
import { timeOfBlock } from '../engine/blocks.ts'
import { createKeptMemory } from '../engine/kept.ts'
import type { Searcher, StoreSearcher } from '../engine/query/searcher.ts'
import type { SimilarRequest } from '../engine/query/similar.ts'
import { isMirror } from '../engine/shelf-mirror.ts'
import { perVersion } from '../engine/versioned.ts'
import { refuse } from '../lib/errors.ts'
import type { Eventually } from '../lib/eventually.ts'
import type { Limits } from '../limits/index.ts'
import type { Kind } from '../mapping/index.ts'
import type { SearchRequest, Seen } from '../query/request.ts'
import type { Ahead } from './ahead.ts'
import {
  type AnswerOptions,
  answerDocuments,
  answerGet,
  answerRequest,
  answerSimilar,
  type Parts,
  type Reply,
} from './answer.ts'
import { createClusterAnswers } from './cluster-answers.ts'
import { createClusterStates } from './cluster-state.ts'
import type { ClusterPlace } from './clusters.ts'
import { createCoverageHeader, heldInCluster } from './coverage.ts'
import type { Dialect } from './dialect.ts'
import { answerForm } from './forms.ts'
import type { InlineAnswer, InlineSearch, Whose } from './inline.ts'
import { openStore } from './open-store.ts'
import type { HeldBlocks } from './reader-messages.ts'
import type { Answer, Getting, Holdings, Wanted } from './service.ts'
import type { Opening, Streams } from './streams.ts'
import { indexOf } from './target.ts'

const always = () => true

/** One of so many parts of what is kept is for whole answers. */
const ANSWERS = 16

/**
 * Answers for one network whose documents lie in a cluster: the same answers as from its store, since the same code makes them. That waits for
 * the cluster, and takes little time of the main thread, so that no other one is asked.
 */
export interface Clustered {
  search(search: InlineSearch, asking: Whose): Promise<InlineAnswer>
  request(request: SearchRequest, asking: Whose): Promise<Answer>
  get(asked: Whose & { entity: string; id: string } & Getting): Promise<Answer>
  documents(wanted: readonly Wanted[], asked: Whose & { dialect: Dialect }): Promise<Answer>
  similar(request: SimilarRequest, asking: Whose): Promise<Answer>
  holdings(asking: Whose): Promise<Holdings>
  seen(): Promise<Seen>
  held(): HeldBlocks
  /** Whether searches of the network still go to the cluster. */
  hasMoved(): boolean
  /** The header of what scopes cover. */
  coverage(): string | undefined
  /** Refuses what goes by codes and names of contracts, where the store has none: another process keeps them. */
  checkNames(asked: string): void
  close(): void
}

export interface ClusteredOptions {
  network: string
  place: ClusterPlace
  /** File of the network's store. */
  store: string
  streams: Streams
  deadlineMs: number
  limits: Limits
}

interface How {
  /** The moment that date math counts from. */
  now?: number
  /** When it was asked for, as of `performance.now`. */
  started?: number
}

export const createClustered = ({
  network,
  place: { shelf, told, ...place },
  store,
  streams,
  deadlineMs,
  limits,
}: ClusteredOptions): Clustered => {
  const { reader } = openStore(store, limits, createKeptMemory(0))
  const state = createClusterStates(reader.db, shelf(reader.db))
  const hasMoved = perVersion(reader.db, place.moved?.(reader.db) ?? always)
  const visible = () => state().visible
  const { searcherOf, writerOf, documents, seen, asker } = createClusterSearcher({
    ...{ ...place, network, visible, reader, limits },
    told: told?.(reader.db),
  })
  const answers = createClusterAnswers(state, Math.floor(limits.keptMemory / ANSWERS))
  const index = indexOf(network)
  const isSearchOnly = isMirror(reader.db)
  const coverage = createCoverageHeader(reader)

  const optionsOf = (
    { signal }: Whose,
    { now = Date.now(), started = performance.now() }: How = {},
  ): AnswerOptions => ({
    ...{ started, deadline: started + deadlineMs, limits, now },
    cancelled: () => signal.aborted,
  })

  const answer = async (
    work: (searcher: StoreSearcher, options: AnswerOptions) => Eventually<Reply>,
    asking: Whose,
    how?: How,
  ): Promise<InlineAnswer> => {
    const { account, signal } = asking
    const options = { ...optionsOf(asking, how), mayStream: streams.mayOpen(account) }
    const { body, ...reply } = await work(searcherOf({ signal, deadlineMs }), options)
    if (body instanceof Uint8Array) return { ...reply, body }
    return { ...reply, ...(await stream(body, { account, format: reply.format })) }
  }

  /** Documents that are there, one after another. */
  const answerWith = async (
    wanted: readonly { kind: Kind; id: string }[],
    asking: Whose,
    work: (searcher: Pick<Searcher, 'writeDocument'>, options: AnswerOptions) => Reply,
  ): Promise<InlineAnswer> => {
    const options = optionsOf(asking)
    const byId = await documents(wanted, { signal: asking.signal, deadline: options.deadline })
    const { body, ...reply } = work(writerOf(byId), options)
    return { ...reply, body: body as Uint8Array }
  }

  const stream = async (body: Parts, told: Pick<Opening, 'account' | 'format'>) => {
    const close = () => body.close?.()
    const rest = body.parts[Symbol.iterator]()
    const next = async () => {
      await body.ready?.()
      const { value } = rest.next()
      // What writes parts is shared with other answers.
      return { body: new Uint8Array(value ?? []), more: !body.ended() }
    }
    try {
      const first = await next()
      if (!first.more) return { body: first.body }
      const ahead = (): Ahead => ({ next, end: close })
      return streams.open({ ...told, body: first.body, ahead, drop: close })
    } catch (error) {
      close()
      throw error
    }
  }

  return {
    search(search, { account, signal }) {
      const how = { now: search.now, started: performance.now() }
      const text = textOf(search.body)
      return answers.answer(search, text ?? '', signal, signal =>
        answer((searcher, options) => answerForm(searcher, search, text, options), { account, signal }, how),
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
    similar: (request, asking) =>
      answer((searcher, options) => answerSimilar(searcher, index, request, options), asking),
    async holdings({ signal }) {
      const { counts, bytes } = await holdingsInCluster(
        asker,
        { signal, deadline: performance.now() + deadlineMs },
        visible(),
      )
      return { counts, bytes: bytes + statSync(store).size }
    },
    seen: async () => seen(),
    held() {
      const now = visible()
      const number = newestShelved(now)
      const time = timeOfBlock(reader.db, number)
      return { ...heldInCluster(reader, now.ranges), newest: time === undefined ? null : { number, time } }
    },
    coverage,
    hasMoved,
    checkNames(asked) {
      if (isSearchOnly)
        throw refuse(
          'illegal_argument_exception',
          `${asked} cannot be answered by a server with role = "search": ask the server that indexes ${network}.`,
        )
    },
    close: reader.close,
  }
}

const textOf = (body: Uint8Array | undefined) =>
  body && Buffer.from(body.buffer, body.byteOffset, body.length).toString()
