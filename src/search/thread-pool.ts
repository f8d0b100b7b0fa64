import { setTimeout as sleep } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import type { HitCursor } from '../engine/query/pages.ts'
import { fromTransferredError, retry, stop } from '../lib/errors.ts'
import { startWorker } from '../lib/runtime.ts'
import { createFairQueue } from '../lib/scheduling/queues.ts'
import { isMemorySmall } from '../lib/system-limits.ts'
import { type Limits, overNow } from '../limits/index.ts'
import type { FromReader, ToReader } from './reader-messages.ts'
import { createShares, type QueuedTask } from './thread-shares.ts'

/** The thread pool that answers queries, as the status shows it. */
export interface ThreadsState {
  /** Maximum number of threads. */
  most: number
  started: number
  busy: number
  /** Tasks that wait for a thread. */
  waiting: number
  /** Number of threads given up since the start. */
  lost: number
  /** Why the last start failed; null after a successful one. */
  error: string | null
}

export type TaskMessage = Exclude<ToReader, { type: 'drop' }>

export interface ThreadTask extends QueuedTask {
  id: number
  /** Message for the thread that takes the task; each attempt may need another one. */
  message(thread: Thread): TaskMessage
  /**
   * For a part of a long answer: the best thread for it; undefined if that one is gone. Such a task
   * waits without limit, since its client already has the earlier parts.
   */
  home?(): Thread | undefined
  /** Whether no other thread can do it. */
  isBound?: boolean
  /** Called when the thread discards its work on the task. */
  onYield?(thread: Thread): void
  /** Called with the last hit of the part of a long answer that is being written. */
  onReached?(at: HitCursor): void
  /** Bytes of memory that it takes while it waits. */
  bytes: number
  signal?: AbortSignal | undefined
}

export interface Thread {
  readonly worker: Worker
  state: 'starting' | 'idle' | 'busy' | 'lost'
}

export interface ThreadReply {
  message: Exclude<FromReader, { type: 'ready' | 'failed' | 'yielded' | 'reached' }>
  thread: Thread
}

/** Caller of an answer without parts; a cheap task by default. */
type WholeCaller = Pick<ThreadTask, 'account' | 'signal'> & Partial<Pick<ThreadTask, 'lane' | 'bytes'>>

interface RunningThread extends Thread {
  /** Numbers of the task to give up, and of the task that is to make room. */
  flags: Int32Array
  task: Task | undefined
}

interface Task extends ThreadTask {
  /** When it began to wait, or to run. */
  since: number
  /** Number of times that it yielded to others. */
  tries: number
  timers: NodeJS.Timeout[]
  resolve(reply: ThreadReply): void
  reject(error: unknown): void
}

export interface ThreadsOptions {
  threads: number
  deadlineMs: number
  limits: Limits
}

/** Time after the deadline in which a query must notice it. */
const DEADLINE_GRACE_MS = 3000
/** Time beyond a deadline that a query may wait for a thread. */
const QUEUE_MS = 5000
/**
 * Times for a cheap query to end, in its first run and in restarts: a thread's first query takes
 * longer, as do all on a busy machine. After the last one it is dear.
 */
const CHEAP_MS = [20, 100, 400] as const
/** A dear query that has waited this long goes before cheap ones. */
const DEAR_PATIENCE_MS = 1000
/** Time that closing waits for threads to end. */
const CLOSE_MS = 2_000
/** A small young generation is collected often, so long streams take little memory. */
const READER_YOUNG_MB = isMemorySmall() ? 4 : 12

export type Threads = ReturnType<typeof createThreads>

/**
 * Threads that answer queries, and their scheduler. Cost shows only at run time: each query starts
 * as cheap and becomes dear if slow. Dear ones leave a thread free; if one yields, it restarts.
 */
export const createThreads = ({ threads: size, deadlineMs, limits }: ThreadsOptions) => {
  let threads: RunningThread[] = []
  const { queue, shares, next, ready, add, checkAccount } = createBacklog(size, limits, deadlineMs + QUEUE_MS)
  let closed = false
  let lost = 0
  let startFault: string | null = null

  const start = () => threads.push(startThread(limits, { onMessage: receive, onEnd: lose }))

  const receive = (thread: RunningThread, message: FromReader) => {
    if (thread.state === 'lost') return
    const { task } = thread
    if (message.type === 'reached') return task?.id === message.id && task.onReached?.(message.at)
    release(thread)
    thread.state = 'idle'
    startFault = null
    if (task && message.type === 'yielded') {
      noteYield(task, thread)
      wait(task)
    } else if (message.type === 'failed') task?.reject(fromTransferredError(message.failure))
    else if (message.type !== 'ready' && message.type !== 'yielded') task?.resolve({ message, thread })
    assign()
  }

  /** The thread no longer works on its task. */
  const release = (thread: RunningThread) => {
    const { task } = thread
    if (!task) return
    clearTimers(task)
    shares.ended(task, performance.now() - task.since)
    thread.task = undefined
  }

  /** Gives up a thread with what it works on; another takes its place. */
  const lose = (thread: RunningThread, error: Error) => {
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
    assign()
  }

  /** Assigns waiting tasks to idle threads, and starts a thread if these are not enough. */
  const assign = () => {
    if (closed) return
    for (const thread of threads.filter(({ state }) => state === 'idle')) {
      const task = next(task => mayTake(thread, task))
      if (task) run(thread, task)
    }
    const starting = threads.filter(({ state }) => state === 'starting').length
    if (ready() > starting && threads.length < size) start()
  }

  const run = (thread: RunningThread, task: Task) => {
    clearTimers(task)
    task.since = performance.now()
    thread.state = 'busy'
    thread.task = task
    Atomics.store(thread.flags, 1, 0)
    shares.began(task)
    task.timers = [setTimeout(() => cancel(thread, task), deadlineMs)]
    if (task.lane === 'cheap') task.timers.push(setTimeout(() => becomeDear(thread, task), CHEAP_MS[task.tries]))
    const message = task.message(thread)
    const transfer = 'elsewhere' in message && message.elsewhere ? [message.elsewhere.port] : []
    thread.worker.postMessage(message, transfer)
  }

  /** The thread looks at the flag now and then; one that does not is stuck inside SQLite. */
  const cancel = (thread: RunningThread, task: Task) => {
    Atomics.store(thread.flags, 0, task.id)
    task.timers.push(setTimeout(() => lose(thread, deadlinePassed()), DEADLINE_GRACE_MS))
  }

  /** Continues the task if enough threads are left, else makes it yield. */
  const becomeDear = (thread: RunningThread, task: Task) => {
    if (shares.becameDear(task)) task.lane = 'dear'
    else Atomics.store(thread.flags, 1, task.id)
    // Starts a thread early, for the next cheap query.
    if (threads.length < size && threads.every(({ state }) => state === 'busy')) start()
    assign()
  }

  const wait = (task: Task) => {
    task.since = performance.now()
    if (closed) return task.reject(searchClosed())
    if (task.signal?.aborted) return task.reject(task.signal.reason)
    add(task)
  }

  /** Nobody waits for the answer any more. */
  const abandon = (task: Task) => {
    if (queue.remove(task)) return
    const thread = threads.find(thread => thread.task === task)
    if (!thread) return
    cancel(thread, task)
    drop(thread, task.id)
  }

  const busy = () => threads.filter(({ state }) => state === 'busy').length

  /** Makes the thread discard the rest of an answer. */
  const drop = ({ worker }: Thread, stream: number) => worker.postMessage({ type: 'drop', stream } satisfies ToReader)

  const ask = (asked: ThreadTask): Promise<ThreadReply> =>
    new Promise((resolve, reject) => {
      asked.signal?.throwIfAborted()
      if (closed) throw searchClosed()
      if (asked.lane !== 'first') checkAccount(asked)
      wait(createTask(asked, { resolve, reject, abandon }))
      assign()
    })

  return {
    ask,
    /** Asks for what is answered as a whole, by one type of message. */
    async askWhole<T extends ThreadReply['message']['type']>(type: T, message: TaskMessage, caller: WholeCaller) {
      const { account, signal, lane = 'cheap', bytes = 0 } = caller
      const reply = await ask({ id: message.id, account, signal, lane, bytes, message: () => message })
      return expectReply(reply.message, type)
    },
    busy,
    state: (): ThreadsState => ({
      ...{ most: size, started: threads.length, busy: busy(), waiting: queue.size },
      ...{ lost, error: startFault },
    }),
    /** Whether a thread is idle or could be started, and no task waits. */
    isSpare: (): boolean =>
      !closed && queue.size === 0 && (threads.length < size || threads.some(({ state }) => state === 'idle')),
    /** Starts the first thread before a query needs it. */
    start() {
      if (threads.length === 0 && !closed) start()
    },
    drop,
    async close() {
      closed = true
      const open = threads
      threads = []
      for (const task of queue.all()) if (queue.remove(task)) task.reject(searchClosed())
      await terminateAll(open)
    },
  }
}

const startThread = (
  limits: Limits,
  on: { onMessage(thread: RunningThread, message: FromReader): void; onEnd(thread: RunningThread, error: Error): void },
): RunningThread => {
  const flags = new SharedArrayBuffer(8)
  const worker = startWorker(
    'reader',
    { flags, limits },
    { resourceLimits: { maxYoungGenerationSizeMb: READER_YOUNG_MB } },
  )
  const thread: RunningThread = { worker, flags: new Int32Array(flags), state: 'starting', task: undefined }
  worker.on('message', (message: FromReader) => on.onMessage(thread, message))
  worker.on('error', error => on.onEnd(thread, error))
  worker.on('exit', () => on.onEnd(thread, new Error('a reading thread has ended')))
  worker.unref()
  return thread
}

/** Does not wait for threads that are stuck in the operating system, which end later. */
const terminateAll = (threads: readonly Thread[]) =>
  Promise.race([
    Promise.all(threads.map(({ worker }) => worker.terminate())),
    sleep(CLOSE_MS, undefined, { ref: false }),
  ])

/** Tasks that wait for a thread, and their order. `waitMs`: maximum wait. */
const createBacklog = (size: number, limits: Limits, waitMs: number) => {
  const queue = createFairQueue<Task>()
  const shares = createShares({ threads: size, most: limits.dearSearches, cheapMs: CHEAP_MS[0] })
  return {
    queue,
    shares,
    next(fits: (task: Task) => boolean): Task | undefined {
      const now = performance.now()
      const cheap = (task: Task) => fits(task) && shares.mayRun(task)
      const dear = (task: Task) => cheap(task) && (shares.noneDear() || now - task.since > DEAR_PATIENCE_MS)
      return (
        queue.take('first', { allows: fits }) ??
        (size > 1 ? queue.take('dear', { allows: dear }) : undefined) ??
        queue.take('cheap', { allows: cheap }) ??
        queue.take('dear', { allows: cheap })
      )
    },
    /** Number of waiting tasks that could run now on any thread. */
    ready: (): number => queue.all().filter(task => task.home?.() === undefined && shares.mayRun(task)).length,
    add(task: Task) {
      const giveUp = () => queue.remove(task) && task.reject(tooBusy())
      task.timers = task.home ? [] : [setTimeout(giveUp, waitMs)]
      queue.add(task)
    },
    /** Refuses a task beyond its account's limits of waiting tasks and their bytes. */
    checkAccount({ account, bytes }: ThreadTask) {
      const waiting = queue.all().filter(task => task.account === account)
      if (waiting.length >= limits.waitingSearches) throw overNow('waitingSearches', limits)
      const sum = waiting.reduce((sum, task) => sum + task.bytes, bytes)
      if (waiting.length > 0 && sum > limits.waitingBytes) throw overNow('waitingBytes', limits)
    },
  }
}

/** A query that has yielded often enough is dear. */
const noteYield = (task: Task, thread: Thread) => {
  task.tries++
  if (task.tries === CHEAP_MS.length) task.lane = 'dear'
  task.onYield?.(thread)
}

/** Tasks whose home thread runs a dear query may move to another one. */
const mayTake = (thread: RunningThread, task: Task): boolean => {
  const home = task.home?.() as RunningThread | undefined
  return home === undefined || home === thread || (!task.isBound && home.task?.lane === 'dear')
}

const createTask = (
  asked: ThreadTask,
  { resolve, reject, abandon }: Pick<Task, 'resolve' | 'reject'> & { abandon(task: Task): void },
): Task => {
  const { signal } = asked
  // Rejects first, then abandons: a stuck thread is given up even if its caller is gone.
  const abort = () => {
    task.reject(signal!.reason)
    abandon(task)
  }
  const settle = () => {
    clearTimers(task)
    signal?.removeEventListener('abort', abort)
  }
  const task: Task = {
    ...{ ...asked, since: 0, tries: 0, timers: [] },
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
  return task
}

const clearTimers = ({ timers }: Task) => {
  for (const timer of timers) clearTimeout(timer)
}

/** Narrows a reply to its expected type. */
export const expectReply = <T extends ThreadReply['message']['type']>(message: ThreadReply['message'], type: T) => {
  if (message.type !== type) throw new Error(`a reading thread answered ${message.type}`)
  return message as Extract<ThreadReply['message'], { type: T }>
}

const searchClosed = () => stop('search_closed', 'the search was abandoned')

const deadlinePassed = () =>
  retry('search_timeout_exception', 'the search passed its deadline: narrow it, or raise query-deadline')

const tooBusy = () =>
  retry('es_rejected_execution_exception', 'all reading threads are busy: try again, or raise readers')
