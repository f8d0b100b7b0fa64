import { parentPort } from 'node:worker_threads'
import { parseTokens } from '../decode/registry.ts'
import { messageOf, stop, systemFault } from '../lib/errors.ts'
import { type Failure, toFailure } from '../lib/failure.ts'
import { nativeBinding, readTextAsset } from '../lib/runtime.ts'
import type { Kind } from '../mapping/index.ts'
import type { SearchRequest } from '../query/request.ts'
import { readDamage } from '../store/damage.ts'
import { openReader, type Reader } from '../store/reader.ts'
import { answerGet, answerRequest, answerSearch, answerSimilar, answerSuggest, type Reply } from './answer.ts'
import { createSearcher, type Searcher, type SearchOptions } from './execute.ts'
import type { SimilarRequest } from './similar.ts'
import { createSuggester, type Suggester, type SuggestRequest } from './suggest.ts'

/** What a reading thread is asked. `store` is the file of the network's store. */
export type ToReader =
  | {
      type: 'search'
      id: number
      store: string
      index: string
      entities: string
      body: Uint8Array | undefined
      deadlineMs: number
    }
  /** A search that was read from something else than a body, such as a rule. */
  | { type: 'request'; id: number; store: string; index: string; request: SearchRequest; deadlineMs: number }
  | { type: 'get'; id: number; store: string; index: string; entity: string; document: string }
  | { type: 'suggest'; id: number; store: string; request: SuggestRequest }
  | { type: 'similar'; id: number; store: string; index: string; request: SimilarRequest }
  | { type: 'ranges'; id: number; store: string }
  /** Asks for the next part of the answer to the search that had the number `stream`. */
  | { type: 'more'; id: number; stream: number }
  /** Nobody wants the rest of an answer. */
  | { type: 'drop'; stream: number }

export type FromReader =
  | { type: 'ready' }
  | { type: 'answer'; id: number; status: number; body: Uint8Array; more: boolean }
  | { type: 'part'; id: number; body: Uint8Array; more: boolean }
  | { type: 'ranges'; id: number; ranges: { from: number; to: number }[] }
  | { type: 'failed'; id: number; failure: Failure }

/** One of the threads that answer queries. It answers one at a time; a long answer is given part by part, as it is asked for. */
export const runReader = ({ cancel }: { cancel: SharedArrayBuffer }) => {
  const cancelled = new Int32Array(cancel)
  const open = new Map<string, OpenStore>()
  const parts = new Map<number, { rest: Iterator<Uint8Array<ArrayBuffer>>; limits: Limits }>()
  const tell = (message: FromReader, transfer: ArrayBuffer[] = []) => parentPort!.postMessage(message, transfer)

  const openStore = (store: string) => {
    let one = open.get(store)
    if (!one) {
      const reader = readable(store)
      one = { reader, searcher: createSearcher(reader), suggester: undefined }
      open.set(store, one)
    }
    return one
  }

  const reply = (id: number, { status, body }: Reply, limits: Limits) => {
    if (typeof body === 'string') return send({ type: 'answer', id, status, body: encode(body), more: false })
    const rest = body[Symbol.iterator]()
    const { value = nothing(), done = false } = rest.next()
    if (!done) parts.set(id, { rest, limits })
    send({ type: 'answer', id, status, body: value, more: !done })
  }

  const more = (id: number, stream: number) => {
    const part = parts.get(stream)
    if (!part) throw new Error('there is no such answer to go on with')
    part.limits.begin(id)
    let next: IteratorResult<Uint8Array<ArrayBuffer>> | undefined
    try {
      next = part.rest.next()
    } finally {
      if (next?.done !== false) parts.delete(stream)
    }
    send({ type: 'part', id, body: next.value ?? nothing(), more: !next.done })
  }

  const send = (message: Extract<FromReader, { type: 'answer' | 'part' }>) =>
    tell(message, [message.body.buffer as ArrayBuffer])

  /** A long answer may take as long as its client does: the deadline is that of each part. */
  const createLimits = (deadlineMs: number): Limits => {
    let current = 0
    return {
      deadline: 0,
      begin(id) {
        current = id
        this.deadline = performance.now() + deadlineMs
      },
      cancelled: () => Atomics.load(cancelled, 0) === current,
    }
  }

  const tellDocument = ({ id, store, index, entity, document }: Extract<ToReader, { type: 'get' }>) => {
    const { status, body } = answerGet(openStore(store).searcher, index, entity as Kind, document)
    send({ type: 'answer', id, status, body: encode(body as string), more: false })
  }

  const tellSuggestions = ({ id, store, request }: Extract<ToReader, { type: 'suggest' }>) => {
    const one = openStore(store)
    one.suggester ??= createSuggester(one.reader, listedTokens)
    const { status, body } = answerSuggest(one.reader, one.suggester, request)
    send({ type: 'answer', id, status, body: encode(body as string), more: false })
  }

  const answer = (message: ToReader) => {
    switch (message.type) {
      case 'search': {
        const { id, store, index, entities, body, deadlineMs } = message
        const limits = createLimits(deadlineMs)
        limits.begin(id)
        const text = body && Buffer.from(body.buffer, body.byteOffset, body.length).toString()
        return reply(id, answerSearch(openStore(store).searcher, index, entities, text, limits), limits)
      }
      case 'request': {
        const { id, store, index, request, deadlineMs } = message
        const limits = createLimits(deadlineMs)
        limits.begin(id)
        return reply(id, answerRequest(openStore(store).searcher, index, request, limits), limits)
      }
      case 'get':
        return tellDocument(message)
      case 'suggest':
        return tellSuggestions(message)
      case 'similar': {
        const { id, store, index, request } = message
        const { status, body } = answerSimilar(openStore(store).searcher, index, request)
        return send({ type: 'answer', id, status, body: encode(body as string), more: false })
      }
      case 'ranges':
        return tell({ type: 'ranges', id: message.id, ranges: rangesOf(openStore(message.store).reader) })
      case 'more':
        return more(message.id, message.stream)
      case 'drop':
        parts.get(message.stream)?.rest.return?.()
        parts.delete(message.stream)
    }
  }

  parentPort!.on('message', (message: ToReader) => {
    try {
      answer(message)
    } catch (error) {
      if (message.type === 'drop') throw error
      tell({
        type: 'failed',
        id: message.id,
        failure: toFailure('store' in message ? readDamage(error, message.store) : error),
      })
    }
  })
  tell({ type: 'ready' })
}

interface OpenStore {
  reader: Reader
  searcher: Searcher
  /** Made when it is first asked. */
  suggester: Suggester | undefined
}

const listedTokens = () => ['tokens.txt', 'demo-tokens.txt'].flatMap(name => parseTokens(readTextAsset(name)))

interface Limits extends SearchOptions {
  /** The work of this number begins. */
  begin(id: number): void
}

const readable = (store: string): Reader => {
  try {
    return openReader(store, nativeBinding())
  } catch (error) {
    const code = (error as { code?: string }).code ?? ''
    if (/^SQLITE_(READONLY|CANTOPEN)/.test(code))
      throw stop(
        'store_unreadable',
        `the store ${store} cannot be opened (${messageOf(error)}): also who only reads needs the right to write to its folder, where SQLite keeps what readers share`,
        error,
      )
    throw systemFault(readDamage(error, store), store) ?? error
  }
}

/** Text as bytes that own their memory, so that they can be handed to another thread. */
const encode = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text)
const encoder = new TextEncoder()
const nothing = (): Uint8Array<ArrayBuffer> => new Uint8Array(0)

const rangesOf = (reader: Reader): { from: number; to: number }[] => {
  reader.begin()
  try {
    const ranges: { from: number; to: number }[] = []
    for (const { first, last } of reader.segments()) {
      const before = ranges.at(-1)
      if (before?.to === first - 1) before.to = last
      else ranges.push({ from: first, to: last })
    }
    return ranges
  } finally {
    reader.end()
  }
}
