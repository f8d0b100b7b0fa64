import type { Worker } from 'node:worker_threads'
import type { Cursor } from '../engine/query/pages.ts'
import { fromFailure, retry, stop } from '../lib/errors.ts'
import { startWorker } from '../lib/runtime.ts'
import { createFairQueue } from '../lib/scheduling/queues.ts'
import { isMemorySmall } from '../lib/system-limits.ts'
import { type Limits, overNow } from '../limits/index.ts'
import type { FromReader, ToReader } from './reader-messages.ts'
import { createShares, type Waiting } from './thread-shares.ts'

/**
 * The threads that answer queries, and who gets one next. What a query costs is known only as it runs: each begins as a cheap one, and one
 * that takes longer is dear from then on. Dear ones leave a thread free, so that one that must make room for others is stopped there
 * and begins anew when it is its turn.
 */
export interface Threads {
  ask(asked: Asked): Promise<Reply>
  /** How many are at work. */
  busy(): number
  state(): ThreadsState
  /** Whether there is one, or could be one, that nobody waits for. */
  isSpare(): boolean
  /** Starts the first one, so that a query need not wait for it. */
  start(): void
  /** Tells the thread that nobody wants the rest of an answer. */
  drop(thread: Thread, stream: number): void
  close(): Promise<void>
}

/** Threads that answer queries, also as the status shows them. */
export interface ThreadsState {
  /** How many there may be. */
  most: number
  started: number
  busy: number
  /** Tasks that wait for one. */
  waiting: number
  /** How many were given up since the start. */
  lost: number
  /** Why the last one could not be started; null since one could. */
  error: string | null
}

export type Message = Exclude<ToReader, { type: 'drop' }>

export interface Asked extends Waiting {
  id: number
  /** What the thread that takes the task is told: it may be another one each time. */
  message(thread: Thread): Message
  /**
   * Of a part of a long answer: the one thread that does it best; undefined where that one is gone. It waits for as long as it takes, since
   * its client has the parts before it.
   */
  home?(): Thread | undefined
  /** Whether no other thread can do it. */
  isBound?: boolean
  /** Called where the thread gives up what it has done of it. */
  onYield?(thread: Thread): void
  /** Told the last hit of the part of a long answer that is being written. */
  onReached?(at: Cursor): void
  /** Bytes that are held while it waits. */
  bytes: number
  signal?: AbortSignal | undefined
}

export interface Thread {
  readonly worker: Worker
  state: 'starting' | 'idle' | 'busy' | 'lost'
}

export interface Reply {
  message: Exclude<FromReader, { type: 'ready' | 'failed' | 'yielded' | 'reached' }>
  thread: Thread
}

interface Running extends Thread {
  /** Numbers of the task to give up, and of the task that is to make room. */
  flags: Int32Array
  task: Task | undefined
}

interface Task extends Asked {
  /** When it began to wait, or to run. */
  since: number
  /** How often it has made room for others. */
  tries: number
  timers: NodeJS.Timeout[]
  resolve(reply: Reply): void
  reject(error: unknown): void
}

export interface ThreadsOptions {
  threads: number
  deadlineMs: number
  limits: Limits
}

/** How much longer than its deadline a query may take to notice that it is over. */
const GRACE_MS = 3000
/** How much longer than a deadline a query waits for a thread. */
const QUEUE_MS = 5000
/**
 * A cheap query ends within the first of these times, or begun anew within one of the next: the first query of a thread takes longer, and
 * so does any on a busy machine. From then on it is dear.
 */
const CHEAP_MS = [20, 100, 400] as const
/** A dear query that waits so long goes before cheap ones. */
const PATIENCE_MS = 1000

/** How long closing waits for threads to end. */
const CLOSE_MS = 2_000
/** Documents live for one answer only: a small young generation is emptied often, and long streams take little memory. */
const YOUNG_MB = isMemorySmall() ? 4 : 12

export const createThreads = ({ threads: size, deadlineMs, limits }: ThreadsOptions): Threads => {
  let threads: Running[] = []
  const queue = createFairQueue<Task>()
  const shares = createShares({ threads: size, most: limits.dearSearches, cheapMs: CHEAP_MS[0] })
  let closed = false
  let lost = 0
  let startFault: string | null = null

  const start = () => {
    const shared = new SharedArrayBuffer(8)
    const options = { resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB } }
    const worker = startWorker('reader', { flags: shared, limits }, options)
    const thread: Running = { worker, flags: new Int32Array(shared), state: 'starting', task: undefined }
    threads.push(thread)
    worker.on('message', (message: FromReader) => {
      if (thread.state === 'lost') return
      const { task } = thread
      if (message.type === 'reached') {
        if (task?.id === message.id) task.onReached?.(message.at)
        return
      }
      release(thread)
      thread.state = 'idle'
      startFault = null
      if (task && message.type === 'yielded') {
        task.tries++
        if (task.tries === CHEAP_MS.length) task.lane = 'dear'
        task.onYield?.(thread)
        wait(task)
      } else if (message.type === 'failed') task?.reject(fromFailure(message.failure))
      else if (message.type !== 'ready' && message.type !== 'yielded') task?.resolve({ message, thread })
      giveOut()
    })
    worker.on('error', error => lose(thread, error))
    worker.on('exit', () => lose(thread, new Error('a reading thread has ended')))
    worker.unref()
  }

  /** The thread no longer works on its task. */
  const release = (thread: Running) => {
    const { task } = thread
    if (!task) return
    for (const timer of task.timers) clearTimeout(timer)
    shares.ended(task, performance.now() - task.since)
    thread.task = undefined
  }

  /** Gives up a thread with what it works on; another takes its place. */
  const lose = (thread: Running, error: Error) => {
    if (thread.state === 'lost') return
    const isNew = thread.state === 'starting'
    const { task } = thread
    release(thread)
    thread.state = 'lost'
    threads = threads.filter(other => other !== thread)
    lost++
    if (isNew) startFault = error.message
    task?.reject(error)
    void thread.worker.terminate()
    // One that cannot even start must not be started over and over for the same query.
    if (isNew) next(() => true)?.reject(error)
    giveOut()
  }

  /** The next task of those that the shares allow. */
  const next = (fits: (task: Task) => boolean): Task | undefined => {
    const now = performance.now()
    const cheap = (task: Task) => fits(task) && shares.mayRun(task)
    const dear = (task: Task) => cheap(task) && (shares.noneDear() || now - task.since > PATIENCE_MS)
    return (
      queue.take('first', { allows: fits }) ??
      (size > 1 ? queue.take('dear', { allows: dear }) : undefined) ??
      queue.take('cheap', { allows: cheap }) ??
      queue.take('dear', { allows: cheap })
    )
  }

  const giveOut = () => {
    if (closed) return
    for (const thread of threads) {
      if (thread.state !== 'idle') continue
      const task = next(task => mayHave(thread, task))
      if (task) run(thread, task)
    }
    const starting = threads.filter(({ state }) => state === 'starting').length
    const waiting = queue.all().filter(task => task.home?.() === undefined && shares.mayRun(task)).length
    if (waiting > starting && threads.length < size) start()
  }

  /** Queries that wait behind a dear query move to another thread. */
  const mayHave = (thread: Running, task: Task): boolean => {
    const home = task.home?.() as Running | undefined
    return home === undefined || home === thread || (!task.isBound && home.task?.lane === 'dear')
  }

  const run = (thread: Running, task: Task) => {
    for (const timer of task.timers) clearTimeout(timer)
    task.since = performance.now()
    thread.state = 'busy'
    thread.task = task
    Atomics.store(thread.flags, 1, 0)
    shares.began(task)
    task.timers = [setTimeout(() => endWithin(thread, task), deadlineMs)]
    if (task.lane === 'cheap') task.timers.push(setTimeout(() => takeLong(thread, task), CHEAP_MS[task.tries]))
    const message = task.message(thread)
    const transfer = 'elsewhere' in message && message.elsewhere ? [message.elsewhere.port] : []
    thread.worker.postMessage(message, transfer)
  }

  /** The thread looks at the flag now and then; one that does not is stuck inside SQLite. */
  const endWithin = (thread: Running, task: Task) => {
    Atomics.store(thread.flags, 0, task.id)
    task.timers.push(setTimeout(() => lose(thread, tooLong()), GRACE_MS))
  }

  /** It goes on where dear ones have a thread left, and else makes room for others. */
  const takeLong = (thread: Running, task: Task) => {
    if (shares.becameDear(task)) task.lane = 'dear'
    else Atomics.store(thread.flags, 1, task.id)
    // The next cheap one shall not have to wait until a thread has started.
    if (threads.length < size && threads.every(({ state }) => state === 'busy')) start()
    giveOut()
  }

  const wait = (task: Task) => {
    task.since = performance.now()
    const giveUp = () => queue.remove(task) && task.reject(tooBusy())
    task.timers = task.home ? [] : [setTimeout(giveUp, deadlineMs + QUEUE_MS)]
    if (closed) return task.reject(gone())
    if (task.signal?.aborted) return task.reject(task.signal.reason)
    queue.add(task)
  }

  /** Refuses what would make an account wait for more than it may. */
  const checkWaiting = ({ account, bytes }: Asked) => {
    const waiting = queue.all().filter(task => task.account === account)
    if (waiting.length >= limits.waitingSearches) throw overNow('waitingSearches', limits)
    const held = waiting.reduce((sum, task) => sum + task.bytes, bytes)
    if (waiting.length > 0 && held > limits.waitingBytes) throw overNow('waitingBytes', limits)
  }

  const leave = (task: Task) => {
    if (queue.remove(task)) return
    const thread = threads.find(thread => thread.task === task)
    if (!thread) return
    endWithin(thread, task)
    drop(thread, task.id)
  }

  const busy = () => threads.filter(({ state }) => state === 'busy').length

  const drop = ({ worker }: Thread, stream: number) => worker.postMessage({ type: 'drop', stream } satisfies ToReader)

  return {
    busy,
    state: () => ({
      ...{ most: size, started: threads.length, busy: busy(), waiting: queue.size },
      ...{ lost, error: startFault },
    }),
    isSpare: () =>
      !closed && queue.size === 0 && (threads.length < size || threads.some(({ state }) => state === 'idle')),
    start() {
      if (threads.length === 0 && !closed) start()
    },
    drop,
    ask: asked =>
      new Promise<Reply>((resolve, reject) => {
        asked.signal?.throwIfAborted()
        if (closed) throw gone()
        if (asked.lane !== 'first') checkWaiting(asked)
        // In this order: a thread that is stuck is given up also where no one waits for it any more.
        const abort = () => {
          task.reject(asked.signal!.reason)
          leave(task)
        }
        const settle = () => {
          for (const timer of task.timers) clearTimeout(timer)
          asked.signal?.removeEventListener('abort', abort)
        }
        const task: Task = {
          ...asked,
          since: 0,
          tries: 0,
          timers: [],
          resolve(reply) {
            settle()
            resolve(reply)
          },
          reject(error) {
            settle()
            reject(error)
          },
        }
        asked.signal?.addEventListener('abort', abort, { once: true })
        wait(task)
        giveOut()
      }),
    async close() {
      closed = true
      const open = threads
      threads = []
      for (const task of queue.all()) if (queue.remove(task)) task.reject(gone())
      // One that is stuck in the operating system ends when that lets go of it.
      const patience = AbortSignal.timeout(CLOSE_MS)
      await Promise.race([
        Promise.all(open.map(({ worker }) => worker.terminate())),
        new Promise(resolve => patience.addEventListener('abort', resolve, { once: true })),
      ])
    },
  }
}

/** Asks for what is answered as a whole, by one type of message. */
export const createThreadAsker =
  ({ ask }: Pick<Threads, 'ask'>) =>
  async <T extends Reply['message']['type']>(
    type: T,
    message: Message,
    { account, signal, lane = 'cheap', bytes = 0 }: Pick<Asked, 'account' | 'signal'> & Partial<Asked>,
  ): Promise<Extract<Reply['message'], { type: T }>> => {
    const reply = await ask({ id: message.id, account, signal, lane, bytes, message: () => message })
    if (reply.message.type !== type) throw unexpected(reply.message)
    return reply.message as Extract<Reply['message'], { type: T }>
  }

export const unexpected = ({ type }: Reply['message']) => new Error(`a reading thread answered ${type}`)

const gone = () => stop('search_closed', 'the search was abandoned')

const tooLong = () =>
  retry('search_timeout_exception', 'the search passed its deadline: narrow it, or raise query-deadline')

const tooBusy = () =>
  retry('es_rejected_execution_exception', 'all reading threads are busy: try again, or raise readers')
