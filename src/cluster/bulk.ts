import { ChainsieveError, messageOf, stop } from '../lib/errors.ts'
import { type Clock, systemClock } from '../lib/retry.ts'
import { FILTER_PATH, readBulkAnswer, type Verdict } from './bulk/answer.ts'
import { createPace, type Pace } from './bulk/pace.ts'
import { createPacker, joined, type Packed } from './bulk/packed.ts'
import type { Cluster } from './cluster.ts'

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

export interface Bulk {
  /**
   * Takes a document, in whatever order it comes to the cluster. Resolves when there is room for the next: at once, or when others went.
   */
  put(line: BulkLine): Promise<void> | undefined
  /**
   * Resolves when the cluster has acknowledged all that was put before, however long that takes. Rejects, as `put` does from then on, with a
   * `stop` where the cluster refuses a document for good.
   */
  flush(): Promise<void>
  report(): BulkReport
  readonly pace: Pace
}

export interface BulkReport {
  documents: number
  bytes: number
  requests: number
  /** Documents that were sent again. */
  repeated: number
  /** Bytes of the next request. */
  size: number
  underWay: number
}

export interface BulkOptions {
  /** Told why the cluster takes no documents, each reason once, and null when it takes them again. */
  onTrouble?(why: string | null): void
  signal?: AbortSignal
  gzip?: boolean
  /** Most requests under way at once. */
  lanes?: number
  /** Bytes of the first request, and of the largest. */
  startBytes?: number
  mostBytes?: number
  /** Longest silence of a node. */
  timeoutMs?: number
  /** Bound of the first wait after a failure, and of the longest. */
  baseMs?: number
  capMs?: number
  random?: () => number
  clock?: Clock
  /** That of another one before, to go on with; by default one of its own. */
  pace?: Pace | undefined
}

/** What passes within so many tries is not told. */
const TOLD_AT = 3

interface Item extends Packed {
  index: string
  id: string
  /** Number of flushes before it. */
  group: number
  /** It was sent before. */
  isBack: boolean
}

/** Sends documents by bulk requests, several at once, for as long as it takes. */
export const createBulk = (cluster: Pick<Cluster, 'ask'>, options: BulkOptions = {}): Bulk => {
  const { onTrouble, signal, gzip = false, lanes = 3, timeoutMs = 60_000, clock = systemClock } = options
  const { startBytes = 5_000_000, mostBytes = 20_000_000, baseMs = 250, capMs = 30_000, random } = options
  const pack = createPacker()
  const { pace = createPace({ lanes, startBytes, mostBytes, baseMs, capMs, random }) } = options
  let queue: Item[] = []
  let queued = 0
  let flying = 0
  let underWay = 0
  /** Documents of each group that are not acknowledged yet. */
  const left = new Map<number, number>()
  let group = 0
  let isPaused = false
  let told: string | null = null
  let fault: unknown
  const counts = { documents: 0, bytes: 0, requests: 0, repeated: 0 }
  let change = Promise.withResolvers<void>()

  const until = async (done: () => boolean): Promise<void> => {
    while (!done()) {
      if (fault !== undefined) throw fault
      await change.promise
    }
    if (fault !== undefined) throw fault
  }
  const changed = () => {
    change.resolve()
    change = Promise.withResolvers()
  }
  const fail = (error: unknown) => {
    fault ??= error
    queue = []
    changed()
  }
  signal?.addEventListener('abort', () => fail(signal.reason), { once: true })
  if (signal?.aborted) fail(signal.reason)

  const take = (): Item[] => {
    let bytes = 0
    let count = 0
    const most = pace.size()
    while (count < queue.length && (count === 0 || bytes + sizeOf(queue[count]!) <= most))
      bytes += sizeOf(queue[count++]!)
    queued -= bytes
    return queue.splice(0, count)
  }

  /** What is waited for goes at once, other documents when there is a request of them. */
  const isDue = () => queue.length > 0 && (queued >= pace.size() || queue[0]!.group < group || queue[0]!.isBack)

  const pump = () => {
    while (fault === undefined && !isPaused && underWay < pace.lanes() && isDue()) void send(take())
  }

  const pause = async (ms: number) => {
    isPaused = true
    await clock.sleep(ms, signal).catch(() => {})
    isPaused = false
    pump()
  }

  const send = async (items: Item[]) => {
    const lines = joined(items)
    underWay++
    flying += lines.length
    counts.requests++
    const started = clock.now()
    const verdict = await ask(lines, items)
    underWay--
    flying -= lines.length
    if (fault === undefined) settle(items, lines.length, verdict, clock.now() - started)
    changed()
    pump()
  }

  const ask = async (lines: Buffer, items: readonly Item[]): Promise<Verdict> => {
    try {
      const answer = await cluster.ask({
        ...{ method: 'POST', path: '/_bulk', lines, gzip, signal, timeoutMs },
        query: { filter_path: FILTER_PATH, timeout: `${Math.ceil(timeoutMs / 2)}ms` },
        // The wait before the next request is ours.
        retries: 0,
      })
      return readBulkAnswer(answer, items.length, at => nameOf(items[at]!))
    } catch (error) {
      if (!(error instanceof ChainsieveError) || error.next !== 'retry') return { again: [], fault: error }
      return { again: items.map((_, at) => at), why: messageOf(error) }
    }
  }

  const settle = (items: Item[], bytes: number, { again, why, tooLarge, fault: final }: Verdict, ms: number) => {
    if (tooLarge && items.length === 1)
      return fail(
        stop(
          'cluster_refuses_document',
          `the cluster takes no request of ${bytes} bytes, which ${nameOf(items[0]!)} needs: raise http.max_content_length of its nodes, or the limit of the proxy before them`,
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

  const putBack = (items: Item[]) => {
    counts.repeated += items.length
    for (const item of items) {
      item.isBack = true
      queued += sizeOf(item)
    }
    if (items.length > 0) queue = [...items, ...queue]
  }

  const acknowledge = (items: readonly Item[]) => {
    counts.documents += items.length
    for (const item of items) {
      counts.bytes += sizeOf(item)
      const now = left.get(item.group)! - 1
      if (now === 0) left.delete(item.group)
      else left.set(item.group, now)
    }
  }

  const tell = (why: string | null) => {
    if (why === told) return
    told = why
    onTrouble?.(why)
  }

  const hasRoom = () => queued + flying <= (lanes + 1) * pace.size()
  return {
    put(line) {
      if (fault !== undefined) throw fault
      const { index, id, source, tail } = line
      const { piece, from, to } = pack(headOf(line), source, tail)
      const item = { piece, from, to, index, id, group, isBack: false }
      queue.push(item)
      queued += sizeOf(item)
      left.set(group, (left.get(group) ?? 0) + 1)
      pump()
      return hasRoom() ? undefined : until(hasRoom)
    },
    flush() {
      const last = group++
      pump()
      return until(() => [...left.keys()].every(one => one > last))
    },
    pace,
    report: () => ({ ...counts, size: pace.size(), underWay }),
  }
}

const headOf = ({ index, id, version }: BulkLine): string =>
  `{"index":{"_index":${JSON.stringify(index)},"_id":${JSON.stringify(id)},"version":${version},"version_type":"external_gte"}}\n`

const sizeOf = ({ from, to }: Packed): number => to - from
const nameOf = ({ index, id }: Item): string => `${id} of ${index}`
