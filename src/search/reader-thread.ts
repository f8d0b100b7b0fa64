import { parentPort } from 'node:worker_threads'
import { parseTokens } from '../decode/registry.ts'
import { newestTimes } from '../engine/blocks.ts'
import { createKeptMemory } from '../engine/kept.ts'
import { createWholeCheck } from '../engine/moved.ts'
import { Yielded } from '../engine/query/options.ts'
import type { Cursor } from '../engine/query/pages.ts'
import type { SimilarRequest } from '../engine/query/similar.ts'
import { createSuggester, type Suggester, type SuggestRequest } from '../engine/query/suggest.ts'
import type { Reader } from '../engine/reader.ts'
import { wholeRanges } from '../engine/reader.ts'
import { newBytes } from '../lib/bytes.ts'
import { type Failure, toFailure } from '../lib/failure.ts'
import { readTextAsset } from '../lib/runtime.ts'
import type { Limits } from '../limits/index.ts'
import type { Kind } from '../mapping/index.ts'
import type { SearchRequest, Seen } from '../query/request.ts'
import { readDamage } from '../sqlite/damage.ts'
import {
  type AnswerOptions,
  answerDocuments,
  answerGet,
  answerRequest,
  answerSimilar,
  answerSuggest,
  type Parts,
  type Reply,
} from './answer.ts'
import { type ScopeCoverage, scopedIn } from './coverage.ts'
import type { ScrollState } from './cursors/state.ts'
import type { Dialect } from './dialect.ts'
import { answerForm } from './forms.ts'
import { holdingsOf } from './holdings.ts'
import { type InClusters, type Mixed, openMixed } from './mixed.ts'
import { type OpenStore, openStore } from './open-store.ts'
import type { Getting, Holdings, Searching, Wanted } from './service.ts'
import { searchSeveral } from './several.ts'
import { eachOf } from './target.ts'

/** What a reading thread is asked. `store` is the file of the network's store. */
export type ToReader =
  | Search
  | ({ type: 'get'; id: number; store: string; index: string; entity: string; document: string } & Getting)
  | {
      type: 'documents'
      id: number
      store: string
      index: string
      deadlineMs: number
      wanted: readonly Wanted[]
      dialect: Dialect
    }
  | { type: 'holdings'; id: number; store: string }
  | { type: 'suggest'; id: number; store: string; request: SuggestRequest }
  | { type: 'similar'; id: number; store: string; index: string; deadlineMs: number; request: SimilarRequest }
  | { type: 'held'; id: number; store: string }
  | { type: 'seen'; id: number; store: string }
  /** Asks for the next part of the answer to the search that had the number `stream`. */
  | ({ type: 'more'; id: number; stream: number; after: Cursor | undefined } & Into)
  /** The same of a thread that has not begun that answer: it goes on behind the hit that the answer has come to. */
  | ({ type: 'resume'; id: number; stream: number; search: Search; after: Cursor | undefined } & Into)
  /** Nobody wants the rest of an answer. */
  | { type: 'drop'; stream: number }

/** Memory for a part of an answer; one that does not fit is given in memory of its own. */
interface Into {
  into: SharedArrayBuffer | undefined
}

/** A search by its body, or one that was read from something else, such as a rule. */
export type Search = {
  id: number
  store: string
  /** Of all networks that are searched, with commas between them. */
  index: string
  /** Files of further networks, in the order of their names. */
  more?: readonly string[]
  inClusters?: InClusters | undefined
  now: number
  deadlineMs: number
  mayStream: boolean
} & (
  | ({ type: 'search'; scroll?: ScrollState } & Omit<Searching, 'scroll'>)
  | { type: 'request'; request: SearchRequest }
)

export type FromReader =
  | { type: 'ready' }
  /** `isApart`: each part can be built without those before it. */
  | ({
      type: 'answer'
      id: number
      body: Uint8Array
      more: boolean
      at: Cursor | undefined
      isApart?: boolean
    } & Omit<Reply, 'body'>)
  /** `at`: the last hit in it. `body`: how many bytes there are in the memory that was given for it, or the bytes. */
  | { type: 'part'; id: number; body: Uint8Array | number; more: boolean; at: Cursor | undefined }
  /** The part at work will end with this hit: what comes behind it may be asked for elsewhere. */
  | { type: 'reached'; id: number; at: Cursor }
  /** The task has made room for others, and must be started again. */
  | { type: 'yielded'; id: number }
  | { type: 'held'; id: number; held: HeldBlocks }
  | { type: 'holdings'; id: number; holdings: Holdings }
  | { type: 'seen'; id: number; seen: Seen }
  | { type: 'failed'; id: number; failure: Failure }

/** Ranges of blocks that a store holds, and its newest block with its time in epoch seconds. */
export interface HeldBlocks {
  ranges: { from: number; to: number }[]
  newest: { number: number; time: number } | null
  /** What scopes want, where blocks are stored in part. */
  coverage?: ScopeCoverage[]
  /** The newest block that was looked at for scopes. */
  looked?: number
}

export interface ReaderData {
  /** Two numbers: of the task to give up, and of the task that is to make room for others. */
  flags: SharedArrayBuffer
  limits: Limits
}

/** One of the threads that answer queries. It answers one at a time; a long answer is given part by part, as it is asked for. */
export const runReader = ({ flags: shared, limits }: ReaderData) => {
  const flags = new Int32Array(shared)
  const open = new Map<string, Opened>()
  const kept = createKeptMemory(limits.keptMemory)
  const streams = new Map<number, Stream>()
  /** Searches that wait for clusters. */
  const underWay = new Map<number, Mixed>()
  const tell = (message: FromReader, transfer: ArrayBuffer[] = []) => parentPort!.postMessage(message, transfer)

  const opened = (store: string): Opened => {
    let one = open.get(store)
    if (!one) {
      one = { ...openStore(store, limits, kept), suggester: undefined, checkWhole: undefined }
      open.set(store, one)
    }
    return one
  }

  /** For what looks for documents. */
  const whole = (store: string): Opened => {
    const one = opened(store)
    one.checkWhole ??= createWholeCheck(one.reader.db)
    one.checkWhole()
    return one
  }

  const reply = (id: number, { body, ...answer }: Reply, options: Running, mixed?: Mixed) => {
    if (body instanceof Uint8Array) return send({ type: 'answer', id, ...answer, body, ...END })
    const rest = body.parts[Symbol.iterator]()
    const { value } = rest.next()
    const goesOn = !body.ended()
    if (goesOn) streams.set(id, { ...body, rest, options, mixed })
    else mixed?.close()
    const isApart = body.goTo !== undefined
    send({ type: 'answer', id, ...answer, body: owned(value), more: goesOn, at: body.at(), isApart })
  }

  const more = ({ id, stream, after, into }: Pick<More, 'id' | 'stream' | 'after' | 'into'>) => {
    const one = streams.get(stream)
    if (!one) throw new Error('there is no such answer to continue')
    one.options.check?.()
    one.options.begin(id)
    if (after) one.goTo?.(after)
    let next: IteratorResult<Uint8Array> | undefined
    try {
      next = one.rest.next()
    } finally {
      if (next === undefined || one.ended()) {
        streams.delete(stream)
        one.mixed?.close()
      }
    }
    const state = { type: 'part', id, more: !one.ended(), at: one.at() } as const
    const bytes = next.value ?? nothing()
    if (!into || bytes.length > into.byteLength) return send({ ...state, body: owned(bytes) })
    new Uint8Array(into).set(bytes)
    tell({ ...state, body: bytes.length })
  }

  const readyForMore = async (message: More) => {
    const { options, mixed } = streams.get(message.stream)!
    options.begin(message.id)
    try {
      await mixed!.ready()
    } catch (error) {
      streams.delete(message.stream)
      mixed!.close()
      throw error
    }
    more(message)
  }

  const answerMixed = async (search: Search, inClusters: InClusters) => {
    const { id, index, now, mayStream, deadlineMs } = search
    const options = createOptions(deadlineMs)
    options.begin(id)
    const asked: AnswerOptions = Object.assign(options, { limits, now, mayStream, readBefore: {} })
    const stores = [search.store, ...(search.more ?? [])]
    const mixed = openMixed({
      ...{ inClusters, index, deadlineMs, limits },
      stores: stores.map((one, i) => () => (inClusters.networks[i] ? opened(one) : whole(one))),
    })
    underWay.set(id, mixed)
    try {
      const answered = await mixed.run(searcher =>
        search.type === 'request'
          ? answerRequest(searcher, index, search.request, asked)
          : answerForm(searcher, search, textOf(search.body), asked),
      )
      if (answered.body instanceof Uint8Array) mixed.close()
      else await mixed.ready()
      // What was begun with clusters is not begun anew.
      options.yields = () => false
      reply(id, answered, options, mixed)
    } catch (error) {
      mixed.close()
      throw error
    } finally {
      underWay.delete(id)
    }
  }

  const resume = ({ id, stream, search, after, into }: Extract<ToReader, { type: 'resume' }>) => {
    const { body, options } = begin({ ...search, id, mayStream: true }, after)
    if (body instanceof Uint8Array) throw new Error('an answer without parts cannot be continued')
    streams.set(stream, { ...body, rest: body.parts[Symbol.iterator](), options })
    more({ id, stream, after, into })
  }

  const begin = (search: Search, after?: Cursor) => {
    const { id, store, index, now, mayStream } = search
    const options = createOptions(search.deadlineMs)
    options.begin(id)
    const asked: AnswerOptions = Object.assign(options, { limits, now, mayStream, after })
    const indexes = eachOf(index)
    const stores = [store, ...(search.more ?? [])]
    options.check = () => stores.forEach(whole)
    const members = stores.map((one, i) => ({
      searcher: whole(one).searcher,
      index: indexes[i]!,
    }))
    const searcher = searchSeveral(members)
    const answered =
      search.type === 'request'
        ? answerRequest(searcher, index, search.request, asked)
        : answerForm(searcher, search, textOf(search.body), asked)
    return { ...answered, options }
  }

  const send = (message: Extract<FromReader, { type: 'answer' | 'part' }> & { body: Uint8Array }) =>
    tell(message, [message.body.buffer as ArrayBuffer])

  /** A long answer may take as long as its client does: the deadline is that of each part. */
  const createOptions = (deadlineMs: number): Running => {
    let current = 0
    return {
      deadline: 0,
      begin(id) {
        current = id
        this.deadline = performance.now() + deadlineMs
      },
      cancelled: () => Atomics.load(flags, 0) === current,
      yields: () => Atomics.load(flags, 1) === current,
      reached: at => tell({ type: 'reached', id: current, at }),
    }
  }

  const tellDocument = ({ id, store, index, entity, document, ...how }: Extract<ToReader, { type: 'get' }>) => {
    const { status, body } = answerGet(whole(store).searcher, index, entity as Kind, document, how)
    send({ type: 'answer', id, status, body: body as Uint8Array, ...END })
  }

  const tellDocuments = ({ id, store, index, wanted, dialect, deadlineMs }: Documents) => {
    const options = createOptions(deadlineMs)
    options.begin(id)
    const asked = Object.assign(options, { limits, dialect })
    const { status, body } = answerDocuments(whole(store).searcher, index, wanted, asked)
    send({ type: 'answer', id, status, body: body as Uint8Array, ...END })
  }

  const tellSimilar = ({ id, store, index, deadlineMs, request }: Extract<ToReader, { type: 'similar' }>) => {
    const options = createOptions(deadlineMs)
    options.begin(id)
    const { status, body } = answerSimilar(whole(store).searcher, index, request, options)
    send({ type: 'answer', id, status, body: body as Uint8Array, ...END })
  }

  const tellSuggestions = ({ id, store, request }: Extract<ToReader, { type: 'suggest' }>) => {
    const one = opened(store)
    one.suggester ??= createSuggester(one.reader, listedTokens)
    const { status, body } = answerSuggest(one.reader, one.suggester, request)
    send({ type: 'answer', id, status, body: body as Uint8Array, ...END })
  }

  const answer = (message: ToReader): Promise<void> | void => {
    switch (message.type) {
      case 'search':
      case 'request': {
        if (message.inClusters) return answerMixed(message, message.inClusters)
        const { options, ...answered } = begin(message)
        return reply(message.id, answered, options)
      }
      case 'get':
        return tellDocument(message)
      case 'documents':
        return tellDocuments(message)
      case 'holdings':
        return tell({ type: 'holdings', id: message.id, holdings: holdingsOf(opened(message.store), message.store) })
      case 'suggest':
        return tellSuggestions(message)
      case 'similar':
        return tellSimilar(message)
      case 'held':
        return tell({ type: 'held', id: message.id, held: heldIn(opened(message.store).reader) })
      case 'seen':
        return tell({ type: 'seen', id: message.id, seen: opened(message.store).searcher.seen() })
      case 'more':
        return streams.get(message.stream)?.mixed ? readyForMore(message) : more(message)
      case 'resume':
        return resume(message)
      case 'drop':
        underWay.get(message.stream)?.close()
        streams.get(message.stream)?.rest.return?.()
        streams.get(message.stream)?.mixed?.close()
        streams.delete(message.stream)
    }
  }

  const fail = (message: ToReader, error: unknown) => {
    if (message.type === 'drop') throw error
    if (error instanceof Yielded) return tell({ type: 'yielded', id: message.id })
    const failure = toFailure('store' in message ? readDamage(error, message.store) : error)
    tell({ type: 'failed', id: message.id, failure })
  }

  parentPort!.on('message', (message: ToReader) => {
    try {
      const done = answer(message)
      if (done instanceof Promise) done.catch(error => fail(message, error))
    } catch (error) {
      fail(message, error)
    }
  })
  tell({ type: 'ready' })
}

type More = Extract<ToReader, { type: 'more' }>
type Documents = Extract<ToReader, { type: 'documents' }>

interface Opened extends OpenStore {
  /** Made when it is first asked. */
  suggester: Suggester | undefined
  /** Refuses where it does not hold all documents. A store is emptied where a cluster answers for it. */
  checkWhole: (() => void) | undefined
}

const listedTokens = () => ['tokens.txt', 'demo-tokens.txt'].flatMap(name => parseTokens(readTextAsset(name)))

interface Stream extends Parts {
  rest: Iterator<Uint8Array>
  options: Running
  /** Of several networks of which some lie in clusters. */
  mixed?: Mixed | undefined
}

interface Running extends AnswerOptions {
  /** The work of this number begins. */
  begin(id: number): void
  /** Refuses to go on where stores no longer hold all documents. */
  check?: () => void
}

const END = { more: false, at: undefined }

const textOf = (body: Uint8Array | undefined) =>
  body && Buffer.from(body.buffer, body.byteOffset, body.length).toString()

const nothing = (): Uint8Array<ArrayBuffer> => new Uint8Array(0)

/** A copy in memory of its own, which can be handed to another thread. */
const owned = (bytes: Uint8Array = nothing()): Uint8Array<ArrayBuffer> => {
  const copy = newBytes(bytes.length)
  copy.set(bytes)
  return copy
}

const heldIn = (reader: Reader): HeldBlocks => {
  reader.begin()
  try {
    const ranges = wholeRanges(reader.segments())
    return { ranges, newest: newestTimes(reader, 1)[0] ?? null, ...scopedIn(reader) }
  } finally {
    reader.end()
  }
}
