import { parentPort } from 'node:worker_threads'
import { ChainsieveError, stop } from '../lib/errors.ts'
import { type Failure, toFailure } from '../lib/failure.ts'
import { nativeBinding } from '../lib/runtime.ts'
import type { Kind } from '../mapping/index.ts'
import { openReader, type Reader } from '../store/reader.ts'
import { answerGet, answerSearch, type Reply } from './answer.ts'
import { createSearcher, type Searcher } from './execute.ts'

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
  | { type: 'get'; id: number; store: string; index: string; entity: string; document: string }
  | { type: 'ranges'; id: number; store: string }
  /** Asks for the next part of an answer. */
  | { type: 'more'; id: number }
  /** Nobody wants the rest of an answer. */
  | { type: 'drop'; id: number }

export type FromReader =
  | { type: 'answer'; id: number; status: number; body: Uint8Array; more: boolean }
  | { type: 'part'; id: number; body: Uint8Array; more: boolean }
  | { type: 'ranges'; id: number; ranges: { from: number; to: number }[] }
  | { type: 'failed'; id: number; failure: Failure }

/** One of the threads that answer queries. It answers one at a time; a long answer is given part by part, as it is asked for. */
export const runReader = ({ cancel }: { cancel: SharedArrayBuffer }) => {
  const cancelled = new Int32Array(cancel)
  const open = new Map<string, { reader: Reader; searcher: Searcher }>()
  const parts = new Map<number, Iterator<string>>()
  const tell = (message: FromReader, transfer: ArrayBuffer[] = []) => parentPort!.postMessage(message, transfer)

  const openStore = (store: string) => {
    let one = open.get(store)
    if (!one) {
      const reader = readable(store)
      one = { reader, searcher: createSearcher(reader) }
      open.set(store, one)
    }
    return one
  }

  const reply = (id: number, { status, body }: Reply) => {
    if (typeof body === 'string') return send({ type: 'answer', id, status, body: encode(body), more: false })
    const rest = body[Symbol.iterator]()
    parts.set(id, rest)
    const { value = '', done = false } = rest.next()
    send({ type: 'answer', id, status, body: encode(value), more: !done })
  }

  const send = (message: Extract<FromReader, { type: 'answer' | 'part' }>) => {
    if (!message.more) parts.delete(message.id)
    tell(message, [message.body.buffer as ArrayBuffer])
  }

  const answer = (message: ToReader) => {
    switch (message.type) {
      case 'search': {
        const { id, store, index, entities, body, deadlineMs } = message
        const options = { deadline: performance.now() + deadlineMs, cancelled: () => Atomics.load(cancelled, 0) === id }
        const text = body && Buffer.from(body.buffer, body.byteOffset, body.length).toString()
        return reply(id, answerSearch(openStore(store).searcher, index, entities, text, options))
      }
      case 'get':
        return reply(
          message.id,
          answerGet(openStore(message.store).searcher, message.index, message.entity as Kind, message.document),
        )
      case 'ranges':
        return tell({ type: 'ranges', id: message.id, ranges: rangesOf(openStore(message.store).reader) })
      case 'more': {
        const { value = '', done = false } = parts.get(message.id)?.next() ?? { done: true }
        return send({ type: 'part', id: message.id, body: encode(value), more: !done })
      }
      case 'drop':
        parts.get(message.id)?.return?.()
        parts.delete(message.id)
    }
  }

  parentPort!.on('message', (message: ToReader) => {
    try {
      answer(message)
    } catch (error) {
      parts.delete(message.id)
      tell({ type: 'failed', id: message.id, failure: toFailure(error) })
    }
  })
}

const readable = (store: string): Reader => {
  try {
    return openReader(store, nativeBinding())
  } catch (error) {
    if (error instanceof ChainsieveError) throw error
    throw stop('store_unreadable', `the store ${store} cannot be read: ${(error as Error).message}`, error)
  }
}

/** Text as bytes that own their memory, so that they can be handed to another thread. */
const encode = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text)
const encoder = new TextEncoder()

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
