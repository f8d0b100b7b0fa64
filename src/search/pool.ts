import type { Worker } from 'node:worker_threads'
import { retry, stop } from '../lib/errors.ts'
import { fromFailure } from '../lib/failure.ts'
import { startWorker } from '../lib/runtime.ts'
import type { SearchRequest } from '../query/request.ts'
import type { FromReader, ToReader } from './reader-thread.ts'
import type { Answer, SearchService } from './service.ts'
import type { NamedContract } from './suggest.ts'

/** The threads that answer queries, as the main thread sees them. */
export interface Pool extends SearchService {
  /** As `search`, of what is no body but was read already. */
  request(request: { network: string; request: SearchRequest; signal: AbortSignal }): Promise<Answer>
  /** Ranges of blocks that a network's store holds; none where there is no store. */
  ranges(network: string): Promise<{ from: number; to: number }[]>
  /** Starts a thread and has it open every store, so that the first query finds them open. */
  warm(): void
  close(): Promise<void>
}

export interface PoolOptions {
  /** File of each network's store, by name, as of now. */
  stores(): ReadonlyMap<string, string>
  /** Contracts of a network that were given names. */
  contracts?(network: string): Promise<readonly NamedContract[]>
  threads: number
  /** Time that a query may run; that of a long answer begins anew with each of its parts. */
  deadlineMs: number
}

interface Thread {
  worker: Worker
  /** Number of the task to give up. */
  cancel: Int32Array
  state: 'starting' | 'idle' | 'busy' | 'lost'
  /** What it works on. */
  task: Task | undefined
  /** Parts of answers that it alone can give. */
  parts: Task[]
}

/** Something that a thread is asked. Tasks are given out one by one, so that one which takes long holds up no other. */
interface Task {
  message: Exclude<ToReader, { type: 'drop' }>
  resolve(reply: Reply): void
  reject(error: unknown): void
}

interface Reply {
  message: FromReader
  thread: Thread
}

/** How much longer than its deadline a query may take to notice that it is over. */
const GRACE_MS = 3000
/** How much longer than a deadline a query waits for a thread. */
const QUEUE_MS = 5000

/** Documents live for one answer only: a small young generation is emptied often, and long streams take little memory. */
const YOUNG_MB = 12

export const createPool = ({ stores, contracts, threads: size, deadlineMs }: PoolOptions): Pool => {
  let threads: Thread[] = []
  let queue: Task[] = []
  let ids = 0
  let closed = false

  const start = () => {
    const shared = new SharedArrayBuffer(4)
    const worker = startWorker('reader', { cancel: shared }, { resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB } })
    const thread: Thread = {
      worker,
      cancel: new Int32Array(shared),
      state: 'starting',
      task: undefined,
      parts: [],
    }
    threads.push(thread)
    worker.on('message', (message: FromReader) => {
      const { task } = thread
      thread.task = undefined
      if (thread.state !== 'lost') thread.state = 'idle'
      if (message.type === 'failed') task?.reject(fromFailure(message.failure))
      else task?.resolve({ message, thread })
      giveOut()
    })
    worker.on('error', error => lose(thread, error))
    worker.on('exit', () => lose(thread, new Error('a reading thread has ended')))
    worker.unref()
  }

  /** Gives up a thread with what it was asked; another takes its place. */
  const lose = (thread: Thread, error: Error) => {
    if (thread.state === 'lost') return
    // One that cannot even start must not be started over and over for the same query.
    if (thread.state === 'starting') queue.shift()?.reject(error)
    thread.state = 'lost'
    threads = threads.filter(other => other !== thread)
    for (const task of [thread.task, ...thread.parts]) task?.reject(error)
    void thread.worker.terminate()
    giveOut()
  }

  const giveOut = () => {
    if (closed) return
    for (const thread of threads) {
      if (thread.state !== 'idle') continue
      const [part, query] = [thread.parts[0], queue[0]]
      const task = part && (!query || part.message.id < query.message.id) ? thread.parts.shift() : queue.shift()
      if (task) run(thread, task)
    }
    const starting = threads.filter(({ state }) => state === 'starting').length
    if (queue.length > starting && threads.length < size) start()
  }

  const run = (thread: Thread, task: Task) => {
    const { id } = task.message
    thread.state = 'busy'
    // The thread looks at the flag now and then; one that does not is stuck inside SQLite.
    let timer = setTimeout(() => {
      Atomics.store(thread.cancel, 0, id)
      timer = setTimeout(() => lose(thread, tooLong()), GRACE_MS)
    }, deadlineMs)
    thread.task = {
      message: task.message,
      resolve(reply) {
        clearTimeout(timer)
        task.resolve(reply)
      },
      reject(error) {
        clearTimeout(timer)
        task.reject(error)
      },
    }
    thread.worker.postMessage(task.message)
  }

  /** Asks whichever thread is free next, or the one that has begun the answer. */
  const ask = (message: Task['message'], signal?: AbortSignal, by?: Thread): Promise<Reply> =>
    new Promise<Reply>((resolve, reject) => {
      signal?.throwIfAborted()
      if (closed || by?.state === 'lost') throw stop('search_closed', 'the search was given up')
      const list = by ? by.parts : queue
      const leave = () => {
        const at = list.indexOf(task)
        if (at >= 0) list.splice(at, 1)
        return at >= 0
      }
      const abort = () => {
        if (!leave()) giveUp(message)
        task.reject(signal!.reason)
      }
      const timer = setTimeout(() => leave() && task.reject(tooBusy()), deadlineMs + QUEUE_MS)
      const settle = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', abort)
      }
      const task: Task = {
        message,
        resolve(reply) {
          settle()
          resolve(reply)
        },
        reject(error) {
          settle()
          reject(error)
        },
      }
      signal?.addEventListener('abort', abort, { once: true })
      list.push(task)
      giveOut()
    })

  /** Nobody waits any more for what a thread works on. */
  const giveUp = (message: Task['message']) => {
    const thread = threads.find(({ task }) => task?.message === message)
    if (!thread) return
    Atomics.store(thread.cancel, 0, message.id)
    thread.worker.postMessage({ type: 'drop', stream: message.id } satisfies ToReader)
  }

  const storeOf = (network: string): string => {
    const store = stores().get(network)
    if (store === undefined) throw new Error(`no store of ${network}`)
    return store
  }

  const answer = async (
    message: Extract<ToReader, { type: 'search' | 'request' | 'get' | 'suggest' | 'similar' }>,
    signal: AbortSignal,
  ): Promise<Answer> => {
    const { message: first, thread } = await ask(message, signal)
    if (first.type !== 'answer') throw new Error(`a reading thread answered ${first.type}`)
    if (!first.more) return { status: first.status, body: first.body }
    return { status: first.status, body: streamOf(thread, message.id, first.body) }
  }

  /** The parts of a long answer, the next one asked for when the last one is taken. */
  const streamOf = (thread: Thread, stream: number, first: Uint8Array): ReadableStream<Uint8Array> => {
    const ending = new AbortController()
    let next: Promise<Reply> | undefined
    const fetch = () => {
      next = ask({ type: 'more', id: ++ids, stream }, ending.signal, thread)
      next.catch(() => {})
    }
    return new ReadableStream<Uint8Array>(
      {
        start(controller) {
          controller.enqueue(first)
          fetch()
        },
        async pull(controller) {
          const { message } = await next!
          if (message.type !== 'part') throw new Error(`a reading thread answered ${message.type}`)
          // One part ahead: the thread makes the next while this one is sent.
          if (message.more) fetch()
          if (message.body.length > 0) controller.enqueue(message.body)
          if (!message.more) controller.close()
        },
        cancel() {
          ending.abort()
          thread.worker.postMessage({ type: 'drop', stream } satisfies ToReader)
        },
      },
      { highWaterMark: 1 },
    )
  }

  // The first query need not wait for it.
  start()

  return {
    networks: () => [...stores().keys()],
    search: ({ network, entities, body, signal }) => {
      const [id, store, index] = [++ids, storeOf(network), network.replaceAll('/', '-')]
      return answer({ type: 'search', id, store, index, entities, body, deadlineMs }, signal)
    },
    request: ({ network, request, signal }) => {
      const [id, store, index] = [++ids, storeOf(network), network.replaceAll('/', '-')]
      return answer({ type: 'request', id, store, index, request, deadlineMs }, signal)
    },
    async suggest({ network, q, size, signal }) {
      const store = storeOf(network)
      const named = (await contracts?.(network)) ?? []
      return answer({ type: 'suggest', id: ++ids, store, request: { q, size, contracts: named } }, signal)
    },
    similar: ({ network, address, size, signal }) => {
      const [id, store, index] = [++ids, storeOf(network), network.replaceAll('/', '-')]
      return answer({ type: 'similar', id, store, index, request: { address, size } }, signal)
    },
    get: ({ network, entity, id: document, signal }) => {
      const [id, store, index] = [++ids, storeOf(network), network.replaceAll('/', '-')]
      return answer({ type: 'get', id, store, index, entity, document }, signal)
    },
    async ranges(network) {
      const store = stores().get(network)
      if (store === undefined) return []
      const { message } = await ask({ type: 'ranges', id: ++ids, store })
      return message.type === 'ranges' ? message.ranges : []
    },
    warm() {
      for (const network of stores().keys()) this.ranges(network).catch(() => {})
    },
    async close() {
      closed = true
      for (const { reject } of queue) reject(stop('search_closed', 'the search was given up'))
      queue = []
      const open = threads
      threads = []
      await Promise.all(open.map(({ worker }) => worker.terminate()))
    },
  }
}

const tooLong = () =>
  retry(
    'search_timeout_exception',
    'the search took longer than the deadline allows: narrow it, or raise query-deadline',
  )

const tooBusy = () =>
  retry('es_rejected_execution_exception', 'all threads that answer queries are busy: ask again, or raise readers')
