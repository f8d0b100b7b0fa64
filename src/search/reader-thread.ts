import { parentPort } from 'node:worker_threads'
import { parseTokens } from '../decode/registry.ts'
import { newestTimes } from '../engine/blocks.ts'
import type { HitCursor } from '../engine/query/pages.ts'
import { checkDeadline, Yielded } from '../engine/query/search.ts'
import type { StoreSearcher } from '../engine/query/searcher.ts'
import { createSuggester, type Suggester } from '../engine/query/suggest.ts'
import { createKeptMemory, type StoreReader, wholeRanges } from '../engine/reader.ts'
import { createLocalDocumentsCheck } from '../engine/shipping/document-location.ts'
import { toTransferredError } from '../lib/errors.ts'
import { readTextAsset } from '../lib/runtime.ts'
import type { Eventually } from '../lib/scheduling/event-loop.ts'
import type { Limits } from '../limits/index.ts'
import type { Kind } from '../mapping/index.ts'
import { asDamage } from '../sqlite/damage.ts'
import {
  type AnswerOptions,
  answerDocuments,
  answerGet,
  answerRequest,
  answerSimilar,
  answerSuggest,
  type Reply,
} from './answer.ts'
import { answerForm, searchText } from './answer-forms.ts'
import { scopedIn } from './coverage.ts'
import { networksIn } from './index-names.ts'
import { searchSeveral } from './multi-network.ts'
import { holdingsOf, type OpenStore, openStore } from './open-store.ts'
import type { SearchTask, ToReader } from './reader-messages.ts'
import { createReaderParts, type PartOptions, type SendReply } from './reader-parts.ts'
import { argumentColumnsOf } from './service.ts'
import type { HeldBlocks, OpenRemoteSearch, RemoteNetworks } from './store.ts'
import { renderTemplateBody } from './template.ts'

export interface ReaderData {
  /** Two numbers: of the task to give up, and of the task that is to make room for others. */
  flags: SharedArrayBuffer
  limits: Limits
}

/**
 * One of the threads that answer queries, one at a time; long answers part by part, on request.
 * `openElsewhere` searches several networks together, some of which are remote.
 */
export const runReader = ({ flags: shared, limits }: ReaderData, openElsewhere: OpenRemoteSearch) => {
  const flags = new Int32Array(shared)
  const send: SendReply = (message, transfer = []) => parentPort!.postMessage(message, transfer)
  const handlers = createHandlers({ stores: createThreadStores(limits), flags, limits, send, openElsewhere })
  const fail = (message: ToReader, error: unknown) => {
    if (message.type === 'drop') throw error
    if (error instanceof Yielded) return send({ type: 'yielded', id: message.id })
    const failure = toTransferredError('store' in message ? asDamage(error, message.store) : error)
    send({ type: 'failed', id: message.id, failure })
  }
  parentPort!.on('message', (message: ToReader) => {
    const handle = handlers[message.type] as (message: ToReader) => Eventually<void>
    try {
      const done = handle(message)
      if (done instanceof Promise) done.catch(error => fail(message, error))
    } catch (error) {
      fail(message, error)
    }
  })
  send({ type: 'ready' })
}

interface ThreadStore extends OpenStore {
  /** Created on first use. */
  suggester: Suggester | undefined
  /** Refuses a store that lacks documents: it is emptied when they are stored elsewhere. */
  checkWhole: (() => void) | undefined
}

/** The stores that a thread has open, by their files. */
const createThreadStores = (limits: Limits) => {
  const open = new Map<string, ThreadStore>()
  const kept = createKeptMemory(limits.keptMemory)
  const opened = (store: string): ThreadStore => {
    let one = open.get(store)
    if (!one) {
      one = { ...openStore(store, limits, kept), suggester: undefined, checkWhole: undefined }
      open.set(store, one)
    }
    return one
  }
  return {
    opened,
    /** For what looks for documents. */
    whole(store: string): ThreadStore {
      const one = opened(store)
      one.checkWhole ??= createLocalDocumentsCheck(one.reader.db)
      one.checkWhole()
      return one
    },
  }
}

interface HandlersOptions {
  stores: ReturnType<typeof createThreadStores>
  flags: Int32Array
  limits: Limits
  send: SendReply
  openElsewhere: OpenRemoteSearch
}

type Handlers = { [T in ToReader['type']]: (message: Extract<ToReader, { type: T }>) => Eventually<void> }

/** The handler of each message. */
const createHandlers = ({ stores, flags, limits, send, openElsewhere }: HandlersOptions): Handlers => {
  const { opened, whole } = stores
  const parts = createReaderParts(send)
  /** Searches that wait for other machines. */
  const waiting = new Map<number, ReturnType<OpenRemoteSearch>>()

  /** A long answer may take as long as its client does: the deadline is that of each part. */
  const begin = (
    { id, deadlineMs }: { id: number; deadlineMs: number },
    more: Partial<AnswerOptions> = {},
  ): PartOptions => {
    let current = 0
    const options: PartOptions = {
      ...{ limits, ...more, deadline: 0 },
      begin(id) {
        current = id
        this.deadline = performance.now() + deadlineMs
      },
      cancelled: () => Atomics.load(flags, 0) === current,
      yields: () => Atomics.load(flags, 1) === current,
      reached: at => send({ type: 'reached', id: current, at }),
    }
    options.begin(id)
    return options
  }

  const answer = (searcher: StoreSearcher, search: SearchTask, options: PartOptions): Eventually<Reply> =>
    search.type === 'request'
      ? answerRequest(searcher, search.index, search.request, options)
      : answerForm(searcher, search, searchText(search.body), options)

  const search = (search: SearchTask, after?: HitCursor) => {
    const { now, mayStream } = search
    const options = begin(search, { now, mayStream, after })
    // No other thread has the rows that a Parquet file waits to write.
    if (search.type === 'search' && argumentColumnsOf(search.format)) options.yields = () => false
    const files = storeFilesOf(search)
    const indexes = networksIn(search.index)
    options.check = () => files.forEach(whole)
    const members = files.map((file, i) => ({ searcher: whole(file).searcher, index: indexes[i]! }))
    // Stores of files answer at once.
    return { reply: answer(searchSeveral(members), search, options) as Reply, options }
  }

  const searchElsewhere = async (search: SearchTask, elsewhere: RemoteNetworks) => {
    const { id, index, now, mayStream, deadlineMs } = search
    const options = begin(search, { now, mayStream })
    const one = openElsewhere({
      ...{ elsewhere, index, deadlineMs, limits },
      stores: storeFilesOf(search).map((file, i) => () => (elsewhere.networks[i] ? opened(file) : whole(file))),
    })
    waiting.set(id, one)
    try {
      const reply = await answer(one.searcher, search, options)
      if (reply.body instanceof Uint8Array) one.close()
      else await reply.body.ready?.()
      // An answer that waits for other machines cannot begin again.
      options.yields = () => false
      parts.reply(id, reply, options, one.close)
    } catch (error) {
      one.close()
      throw error
    } finally {
      waiting.delete(id)
    }
  }

  const handleSearch = (message: SearchTask) => {
    if (message.elsewhere) return searchElsewhere(message, message.elsewhere)
    const { reply, options } = search(message)
    parts.reply(message.id, reply, options)
  }

  return {
    search: handleSearch,
    request: handleSearch,
    get({ id, store, index, entity, document, ...how }) {
      parts.replyWhole(id, answerGet(whole(store).searcher, index, entity as Kind, document, how))
    },
    documents({ store, index, wanted, dialect, ...task }) {
      parts.replyWhole(task.id, answerDocuments(whole(store).searcher, index, wanted, begin(task, { dialect })))
    },
    render({ body, isJson, ...task }) {
      const options = begin(task)
      send({
        type: 'rendered',
        id: task.id,
        ...renderTemplateBody(body, { limits, isJson, check: () => checkDeadline(options) }),
      })
    },
    holdings: ({ id, store }) => send({ type: 'holdings', id, holdings: holdingsOf(opened(store), store) }),
    suggest({ id, store, request }) {
      const one = opened(store)
      one.suggester ??= createSuggester(one.reader, listedTokens)
      parts.replyWhole(id, answerSuggest(one.reader, one.suggester, request))
    },
    similar({ store, index, request, ...task }) {
      parts.replyWhole(task.id, answerSimilar(whole(store).searcher, index, request, begin(task)))
    },
    held: ({ id, store }) => send({ type: 'held', id, held: heldIn(opened(store).reader) }),
    seen: ({ id, store }) => send({ type: 'seen', id, seen: opened(store).searcher.seen() }),
    more: parts.more,
    resume(message) {
      const { reply, options } = search({ ...message.search, id: message.id, mayStream: true }, message.after)
      parts.resume(message, reply, options)
    },
    drop({ stream }) {
      waiting.get(stream)?.close()
      parts.drop(stream)
    },
  }
}

const storeFilesOf = ({ store, more = [] }: SearchTask): string[] => [store, ...more]

const listedTokens = () => ['tokens.txt', 'demo-tokens.txt'].flatMap(name => parseTokens(readTextAsset(name)))

const heldIn = (reader: StoreReader): HeldBlocks => {
  reader.begin()
  try {
    const ranges = wholeRanges(reader.segments())
    return { ranges, newest: newestTimes(reader, 1)[0] ?? null, ...scopedIn(reader) }
  } finally {
    reader.end()
  }
}
