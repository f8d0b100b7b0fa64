import { ChainsieveError, messageOf, stop } from '../../lib/errors.ts'
import { type Clock, systemClock } from '../../lib/retry.ts'
import type { Cluster } from '../connection/cluster.ts'
import { FILTER_PATH, readBulkAnswer, type Verdict } from './answer.ts'
import { type BulkPace, createBulkPace, type PaceOptions } from './pace.ts'
import { createPacker, joinPacked, type Packed } from './packed.ts'

/** A document on its way. */
export interface BulkLine {
  index: string
  id: string
  /** One that is there with a greater version stays. */
  version: number
  /** JSON on one line. It need not stay as it is when it was taken. */
  source: Uint8Array | string
  /** What stands in place of the bracket that ends it. */
  tail?: string
}

export type Bulk = ReturnType<typeof createBulk>

export interface BulkOptions extends PaceOptions {
  /** Told why the cluster takes no documents, each reason once, and null when it takes them again. */
  onTrouble?(why: string | null): void
  signal?: AbortSignal
  gzip?: boolean
  /** One that others used before; without it, a new one by these options. */
  pace?: BulkPace
  /** Longest silence of a node. */
  timeoutMs?: number
  clock?: Clock
}

/** What passes within so many tries is not told. */
const TOLD_AT = 3

interface QueuedLine extends Packed {
  index: string
  id: string
  /** Number of flushes before it. */
  group: number
  /** It was sent before. */
  isBack: boolean
}

/** Sends documents by bulk requests, several at once, for as long as it takes. */
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
    // No answer came in time.
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
    // What lies in one piece is sent without being copied.
    const fits = (item: QueuedLine) => bytes + lineSize(item) <= most && (item.piece === first.piece || first.isBack)
    while (count < queue.length && (count === 0 || fits(queue[count]!))) bytes += lineSize(queue[count++]!)
    queued -= bytes
    return queue.splice(0, count)
  }

  /** What is waited for goes at once, other documents when there is a request of them. */
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
    // Only the answer to all of a request tells that it was read to its end.
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
    /**
     * Takes a document, in whatever order it comes to the cluster. Resolves when there is room for the next: at once, or when others went.
     */
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
     * Resolves when the cluster has acknowledged all that was put before, however long that takes. Rejects, as `put` does from then on, with a
     * `stop` where the cluster refuses a document for good.
     */
    flush() {
      const last = groups.begin()
      pump()
      return until(() => groups.isDone(last))
    },
    report: () => ({ ...counts, size: pace.size(), underWay }),
  }
}

/** Calls with each value that differs from the one before. */
const onChange = (call: BulkOptions['onTrouble']) => {
  let last: string | null = null
  return (why: string | null) => {
    if (why !== last) call?.(why)
    last = why
  }
}

/** Asks for one request, and tells what became of each document in it. */
const createAsk =
  (cluster: Pick<Cluster, 'ask'>, { gzip = false, signal, timeoutMs = 60_000 }: BulkOptions) =>
  async (lines: Buffer, items: readonly QueuedLine[]): Promise<Verdict> => {
    try {
      const answer = await cluster.ask({
        ...{ method: 'POST', path: '/_bulk', lines, gzip, signal, timeoutMs },
        query: { filter_path: FILTER_PATH, timeout: `${Math.ceil(timeoutMs / 2)}ms` },
        // The wait before the next request is ours.
        retries: 0,
      })
      return readBulkAnswer(answer, items.length, at => lineName(items[at]!))
    } catch (error) {
      if (!(error instanceof ChainsieveError) || error.next !== 'retry') return { again: [], fault: error }
      return { again: items.map((_, at) => at), why: messageOf(error) }
    }
  }

/** Groups of documents between two flushes: how many of each are not acknowledged. */
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
    /** Begins another one; returns the one before. */
    begin: () => group++,
    /** Whether this group and all before it are acknowledged. */
    isDone: (upTo: number) => [...left.keys()].every(one => one > upTo),
  }
}

/** Those who wait for a change, until something fails for good. */
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

/** Of documents that follow each other, most go to one index. */
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
