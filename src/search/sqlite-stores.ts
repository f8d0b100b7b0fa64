import { memoize } from '../lib/caches.ts'
import { whenThere } from '../lib/scheduling/event-loop.ts'
import { networkIndex, networksIn } from './index-names.ts'
import type { Inline } from './inline.ts'
import { createReadAhead } from './read-ahead.ts'
import type { SearchTask } from './reader-messages.ts'
import { argumentColumnsOf, NO_ACCOUNT } from './service.ts'
import type { BodySearch, NetworkStore, RemoteStores, SearchCaller, StoreAnswer } from './store.ts'
import type { AnswerStreams } from './streams.ts'
import { expectReply, type TaskMessage, type Threads } from './thread-pool.ts'

export interface SqliteStoresOptions {
  fileOf(network: string): string
  inline: Inline
  threads: Threads
  streams: AnswerStreams
  /** The remote ones of several networks. */
  among: RemoteStores['among']
  deadlineMs: number
  nextId(): number
}

/** Stores of SQLite files: the main thread gives fast answers, reading threads all others. */
export const createSqliteStores = (options: SqliteStoresOptions) => {
  const { fileOf, inline, threads, streams, among, deadlineMs, nextId } = options
  const ask = threads.askWhole

  /** `network`: one or several. Requests that several cannot answer were refused before. */
  const create = (network: string): SqliteStore => {
    const index = networkIndex(network)
    const networks = networksIn(network)

    const about = () => ({ id: nextId(), store: fileOf(network) })
    const whole = () => {
      const [store, ...more] = networks.map(fileOf)
      return { id: nextId(), store: store!, index, deadlineMs, mayStream: true, ...(more.length > 0 && { more }) }
    }

    const ofThread = async (search: SearchTask, { account, signal }: SearchCaller): Promise<StoreAnswer> => {
      const bytes = search.type === 'search' ? (search.body?.length ?? 0) : 0
      const elsewhere = among(network)
      const first = await threads.ask({
        // A search that waits for other machines leaves a thread to others.
        ...{ id: search.id, account, signal, lane: elsewhere ? 'dear' : 'cheap', bytes },
        message: () => ({ ...search, mayStream: streams.mayOpen(account), elsewhere: elsewhere?.() }),
      })
      const { thread } = first
      const message = expectReply(first.message, 'answer')
      const { status, body, more, format, cursor } = message
      const envelope = { status, cursor, ...(format && { format }) }
      if (!more) return { ...envelope, body }
      const stream = streams.open({
        ...{ account, body, format, drop: () => threads.drop(thread, search.id) },
        ahead: signal =>
          createReadAhead({
            ...{ threads, search, account, first: { message, thread }, signal, nextId },
            isBound: elsewhere !== undefined || argumentColumnsOf(format) !== undefined,
          }),
      })
      return { ...envelope, ...stream }
    }

    const answer = async (message: TaskMessage, asking: SearchCaller) => {
      const { status, body } = await ask('answer', message, asking)
      return { status, body }
    }

    return {
      searchInThread: async (search, asking) => ofThread({ type: 'search', ...whole(), ...search }, asking),
      search(search, asking) {
        const asked = { type: 'search', ...whole(), ...search } as const
        // Several networks take longer than the main thread has.
        const found = asked.more ? undefined : inline.search(asked, asking)
        return whenThere(found, found => found ?? ofThread(asked, asking))
      },
      request: async (request, asking) => ofThread({ type: 'request', ...whole(), now: Date.now(), request }, asking),
      async get({ entity, id: document, source, bare, ...asking }) {
        const asked = { type: 'get', ...about(), index, entity, document, source, bare } as const
        return (await inline.get(asked, asking)) ?? answer(asked, asking)
      },
      documents: async (wanted, { dialect, ...asking }) =>
        answer({ type: 'documents', ...about(), index, deadlineMs, wanted, dialect }, asking),
      suggest: async (request, asking) => answer({ type: 'suggest', ...about(), request }, asking),
      similar: async (request, asking) => answer({ type: 'similar', ...about(), index, deadlineMs, request }, asking),
      holdings: async asking => (await ask('holdings', { type: 'holdings', ...about() }, asking)).holdings,
      seen: async asking => (await ask('seen', { type: 'seen', ...about() }, asking)).seen,
      held: async () => (await ask('held', { type: 'held', ...about() }, { account: NO_ACCOUNT, lane: 'first' })).held,
      coverage: () => inline.coverage(fileOf(network)),
    }
  }

  return memoize(MOST_KNOWN, create)
}

interface SqliteStore extends NetworkStore {
  /** As `search`, where the main thread would take too long. */
  searchInThread(search: BodySearch, asking: SearchCaller): Promise<StoreAnswer>
}

/** Networks, and lists of several, that are kept. */
const MOST_KNOWN = 1_000
