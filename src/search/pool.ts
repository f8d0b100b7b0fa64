import type { Worker } from 'node:worker_threads'
import { retry } from '../lib/errors.ts'
import { fromFailure } from '../lib/failure.ts'
import { startWorker } from '../lib/runtime.ts'
import type { FromReader, ToReader } from './reader-thread.ts'
import type { Answer, SearchService } from './service.ts'

/** The threads that answer queries, as the main thread sees them. */
export interface Pool extends SearchService {
  /** Ranges of blocks that a network's store holds. */
  ranges(network: string): Promise<{ from: number; to: number }[]>
  close(): Promise<void>
}

export interface PoolOptions {
  /** File of each network's store, by name, as of now. */
  stores(): ReadonlyMap<string, string>
  threads: number
  deadlineMs: number
}

interface Thread {
  worker: Worker
  /** Number of the query to give up. */
  cancel: Int32Array
  waiting: Map<number, Waiting>
}

interface Waiting {
  resolve(message: FromReader): void
  reject(error: Error): void
}

/** How much longer than its deadline a query may take to notice that it is over. */
const GRACE_MS = 3000

export const createPool = ({ stores, threads: size, deadlineMs }: PoolOptions): Pool => {
  let threads: Thread[] = []
  let ids = 0

  const start = (): Thread => {
    const shared = new SharedArrayBuffer(4)
    const worker = startWorker('reader', { cancel: shared })
    const thread: Thread = { worker, cancel: new Int32Array(shared), waiting: new Map() }
    worker.on('message', (message: FromReader) => {
      const waiter = thread.waiting.get(message.id)
      thread.waiting.delete(message.id)
      if (message.type === 'failed') waiter?.reject(fromFailure(message.failure))
      else waiter?.resolve(message)
    })
    worker.on('error', error => lose(thread, error))
    worker.unref()
    return thread
  }

  /** Gives up a thread with all that it was asked; another takes its place when the next query comes. */
  const lose = (thread: Thread, error: Error) => {
    threads = threads.filter(other => other !== thread)
    for (const waiter of thread.waiting.values()) waiter.reject(error)
    thread.waiting.clear()
    void thread.worker.terminate()
  }

  const leastBusy = (): Thread => {
    const idle = threads.find(({ waiting }) => waiting.size === 0)
    if (idle) return idle
    if (threads.length < size) {
      const thread = start()
      threads.push(thread)
      return thread
    }
    return threads.reduce((least, thread) => (thread.waiting.size < least.waiting.size ? thread : least))
  }

  const ask = async (thread: Thread, message: ToReader): Promise<FromReader> => {
    const { id } = message
    let timer: NodeJS.Timeout | undefined
    try {
      return await new Promise<FromReader>((resolve, reject) => {
        thread.waiting.set(id, { resolve, reject })
        timer = setTimeout(() => {
          // The thread answers by itself when it looks at the flag; one that does not is stuck inside SQLite.
          Atomics.store(thread.cancel, 0, id)
          timer = setTimeout(() => lose(thread, tooLong()), GRACE_MS)
        }, deadlineMs)
        thread.worker.postMessage(message)
      })
    } finally {
      clearTimeout(timer)
    }
  }

  const storeOf = (network: string): string => {
    const store = stores().get(network)
    if (store === undefined) throw new Error(`no store of ${network}`)
    return store
  }

  const answer = async (message: Extract<ToReader, { type: 'search' | 'get' }>): Promise<Answer> => {
    const thread = leastBusy()
    const first = await ask(thread, message)
    if (first.type !== 'answer') throw new Error(`a reading thread answered ${first.type}`)
    if (!first.more) return { status: first.status, body: first.body }
    return { status: first.status, body: streamOf(thread, message.id, first.body) }
  }

  /** The parts of a long answer, the next one asked for when the last one is taken. */
  const streamOf = (thread: Thread, id: number, first: Uint8Array): ReadableStream<Uint8Array> => {
    let next: Promise<FromReader> | undefined
    const fetch = () => {
      next = ask(thread, { type: 'more', id })
      next.catch(() => {})
    }
    return new ReadableStream<Uint8Array>(
      {
        start(controller) {
          controller.enqueue(first)
          fetch()
        },
        async pull(controller) {
          const message = await next!
          if (message.type !== 'part') throw new Error(`a reading thread answered ${message.type}`)
          // One part ahead: the thread makes the next while this one is sent.
          if (message.more) fetch()
          if (message.body.length > 0) controller.enqueue(message.body)
          if (!message.more) controller.close()
        },
        cancel: () => thread.worker.postMessage({ type: 'drop', id } satisfies ToReader),
      },
      { highWaterMark: 1 },
    )
  }

  return {
    networks: () => [...stores().keys()],
    search: ({ network, entities, body }) =>
      answer({
        type: 'search',
        id: ++ids,
        store: storeOf(network),
        index: network.replaceAll('/', '-'),
        entities,
        body,
        deadlineMs,
      }),
    get: ({ network, entity, id }) =>
      answer({
        type: 'get',
        id: ++ids,
        store: storeOf(network),
        index: network.replaceAll('/', '-'),
        entity,
        document: id,
      }),
    async ranges(network) {
      const message = await ask(leastBusy(), { type: 'ranges', id: ++ids, store: storeOf(network) })
      return message.type === 'ranges' ? message.ranges : []
    },
    async close() {
      await Promise.all(threads.map(({ worker }) => worker.terminate()))
      threads = []
    },
  }
}

const tooLong = () =>
  retry(
    'search_timeout_exception',
    'the search took longer than the deadline allows: narrow it, or raise query-deadline',
  )
