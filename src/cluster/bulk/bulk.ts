import { ChainsieveError, messageOf, stop } from '../../lib/errors.ts'
import { type Clock, systemClock } from '../../lib/retry.ts'
import type { Cluster } from '../connection/cluster.ts'
import { FILTER_PATH, readBulkAnswer, type Verdict } from './answer.ts'
import { type BulkPace, createBulkPace, type PaceOptions } from './pace.ts'
import { createPacker, joinPacked, type Packed } from './packed.ts'

/** A document to send. */
export interface BulkLine {
  index: string
  id: string
  /** A stored document with a greater version wins. */
  version: number
  /** JSON on one line. The buffer may be reused afterwards. */
  source: Uint8Array | string
  /** Replaces the closing bracket of `source`. */
  tail?: string
}

export type Bulk = ReturnType<typeof createBulk>

export interface BulkOptions extends PaceOptions {
  /** Called with each new reason why the cluster takes no documents, and null on recovery. */
  onTrouble?(why: string | null): void
  signal?: AbortSignal
  gzip?: boolean
  /** A shared pace; by default a new one by these options. */
  pace?: BulkPace
  /** Timeout of silence of a node. */
  timeoutMs?: number
  clock?: Clock
}

/** Failed attempts before a problem is reported. */
const TOLD_AT = 3

interface QueuedLine extends Packed {
  index: string
  id: string
  /** Number of flushes before it. */
  group: number
  /** Whether it was sent before. */
  isBack: boolean
}

/** Sends documents by concurrent bulk requests, retried without limit. */
export const createBulk = (cluster: Pick<Cluster, 'ask'>, options: BulkOptions = {}) => {
  const { signal, clock = systemClock, pace = createBulkPace(options) } = options
  const { pack, isFull, release } = createPacker(pace.size)
  const ask = createAsk(cluster, options)
  const tell = onChange(options.onTrouble)
  const headOf = createLineHeads()
  let queue: QueuedLine[] = []
  let queued = 0
  let flying = 0
  let underWay = 0
  const groups = createGroups()
  const waiters = createWaiters()
  const { until, changed } = waiters
  let isPaused = false
  const counts = { documents: 0, bytes: 0, requests: 0, repeated: 0 }

  const fail = (error: unknown) => {
    queue = []
    waiters.fail(error)
  }
  const aborted = () => {
    // Requests under way got no answer in time.
    if (underWay > 0) pace.refused()
    fail(signal!.reason)
  }
  signal?.addEventListener('abort', aborted, { once: true })
  if (signal?.aborted) fail(signal.reason)

  const take = (): QueuedLine[] => {
    let bytes = 0
    let count = 0
    const most = pace.size()
    const first = queue[0]!
    // Lines in one memory piece are sent without copying.
    const fits = (item: QueuedLine) => bytes + lineSize(item) <= most && (item.piece === first.piece || first.isBack)
    while (count < queue.length && (count === 0 || fits(queue[count]!))) bytes += lineSize(queue[count++]!)
    queued -= bytes
    return queue.splice(0, count)
  }

  /** Flushed and retried lines are due at once, others once they fill a request. */
  const isDue = () => {
    const first = queue[0]
    return (
      first !== undefined && (queued >= pace.size() || isFull(first) || first.group < groups.current() || first.isBack)
    )
  }

  const pump = () => {
    while (!waiters.hasFailed() && !isPaused && underWay < pace.lanes() && isDue()) void send(take())
  }

  const pause = async (ms: number) => {
    isPaused = true
    await clock.sleep(ms, signal).catch(() => {})
    isPaused = false
    pump()
  }

  const send = async (items: QueuedLine[]) => {
    const lines = joinPacked(items)
    underWay++
    flying += lines.length
    counts.requests++
    const started = clock.elapsed()
    const verdict = await ask(lines, items)
    underWay--
    flying -= lines.length
    // Only a complete answer proves that the request was read to its end.
    if (verdict.why !== undefined) for (const { piece } of items) piece.mayBeRead = true
    if (!waiters.hasFailed()) settle(items, lines.length, verdict, clock.elapsed() - started)
    changed()
    pump()
  }

  const settle = (items: QueuedLine[], bytes: number, { again, why, tooLarge, fault: final }: Verdict, ms: number) => {
    if (tooLarge && items.length === 1)
      return fail(
        stop(
          'cluster_refuses_document',
          `the cluster takes no request of ${bytes} bytes, which ${lineName(items[0]!)} needs: raise http.max_content_length of its nodes, or the limit of the proxy before them`,
        ),
      )
    if (final !== undefined) return fail(final)
    if (again.length === 0) acknowledge(items)
    else {
      const back = new Set(again.map(at => items[at]!))
      putBack([...back])
      acknowledge(items.filter(item => !back.has(item)))
    }
    if (tooLarge) return pace.tooLarge(bytes)
    if (why === undefined) {
      pace.taken(bytes, ms)
      return tell(null)
    }
    void pause(pace.refused())
    if (pace.failures() >= TOLD_AT) tell(why)
  }

  const putBack = (items: QueuedLine[]) => {
    counts.repeated += items.length
    for (const item of items) {
      item.isBack = true
      queued += lineSize(item)
    }
    if (items.length > 0) queue = [...items, ...queue]
  }

  const acknowledge = (items: readonly QueuedLine[]) => {
    counts.documents += items.length
    for (const item of items) {
      counts.bytes += lineSize(item)
      groups.leave(item.group)
    }
    release(items)
  }

  const hasRoom = () => queued + flying <= (pace.most + 1) * pace.size()
  return {
    /** Queues a document, without order. Resolves, or returns, once there is room for more. */
    put(line: BulkLine) {
      waiters.throwIfFailed()
      const { index, id, source, tail } = line
      const { piece, from, to } = pack(headOf(line), source, tail)
      const item = { piece, from, to, index, id, group: groups.join(), isBack: false }
      queue.push(item)
      queued += lineSize(item)
      pump()
      return hasRoom() ? undefined : until(hasRoom)
    },
    /**
     * Resolves when all earlier documents are acknowledged, however long that takes. Rejects with a
     * `stop`, as does `put` afterwards, if the cluster refuses a document for good.
     */
    flush() {
      const last = groups.begin()
      pump()
      return until(() => groups.isDone(last))
    },
    report: () => ({ ...counts, size: pace.size(), underWay }),
  }
}

/** Calls only with values that differ from the previous one. */
const onChange = (call: BulkOptions['onTrouble']) => {
  let last: string | null = null
  return (why: string | null) => {
    if (why !== last) call?.(why)
    last = why
  }
}

/** Sends one bulk request and returns the result of each document. */
const createAsk =
  (cluster: Pick<Cluster, 'ask'>, { gzip = false, signal, timeoutMs = 60_000 }: BulkOptions) =>
  async (lines: Buffer, items: readonly QueuedLine[]): Promise<Verdict> => {
    try {
      const answer = await cluster.ask({
        ...{ method: 'POST', path: '/_bulk', lines, gzip, signal, timeoutMs },
        query: { filter_path: FILTER_PATH, timeout: `${Math.ceil(timeoutMs / 2)}ms` },
        // Waiting between requests is done here.
        retries: 0,
      })
      return readBulkAnswer(answer, items.length, at => lineName(items[at]!))
    } catch (error) {
      if (!(error instanceof ChainsieveError) || error.next !== 'retry') return { again: [], fault: error }
      return { again: items.map((_, at) => at), why: messageOf(error) }
    }
  }

/** Unacknowledged documents by group, i.e. between two flushes. */
const createGroups = () => {
  const left = new Map<number, number>()
  let group = 0
  return {
    current: () => group,
    join() {
      left.set(group, (left.get(group) ?? 0) + 1)
      return group
    },
    leave(one: number) {
      const now = left.get(one)! - 1
      if (now === 0) left.delete(one)
      else left.set(one, now)
    },
    /** Begins the next group; returns the previous one. */
    begin: () => group++,
    /** Whether this group and all earlier ones are acknowledged. */
    isDone: (upTo: number) => [...left.keys()].every(one => one > upTo),
  }
}

/** Promises that wait for a change, until a permanent failure. */
const createWaiters = () => {
  let fault: unknown
  let change = Promise.withResolvers<void>()
  const throwIfFailed = () => {
    if (fault !== undefined) throw fault
  }
  const changed = () => {
    change.resolve()
    change = Promise.withResolvers()
  }
  return {
    throwIfFailed,
    changed,
    hasFailed: () => fault !== undefined,
    fail(error: unknown) {
      fault ??= error
      changed()
    },
    async until(isDone: () => boolean) {
      while (!isDone()) {
        throwIfFailed()
        await change.promise
      }
      throwIfFailed()
    },
  }
}

/** Header lines, cached by index: consecutive documents mostly share one. */
const createLineHeads = () => {
  const openings = new Map<string, string>()
  const openingOf = (index: string): string => {
    const opening = `{"index":{"_index":${JSON.stringify(index)},"version_type":"external_gte","version":`
    openings.set(index, opening)
    return opening
  }
  return ({ index, id, version }: BulkLine): string =>
    `${openings.get(index) ?? openingOf(index)}${version},"_id":${JSON.stringify(id)}}}\n`
}

const lineSize = ({ from, to }: Packed): number => to - from
const lineName = ({ index, id }: QueuedLine): string => `${id} of ${index}`
