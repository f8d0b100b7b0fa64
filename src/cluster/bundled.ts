import { CLOSE, CLOSE_LIST, COMMA } from '../engine/show/pieces.ts'
import type { Cluster, ClusterAnswer, ClusterRequest, ClusterSearch } from './cluster.ts'
import { endOfValue } from './hits/scan.ts'
import { createQuick, type Quick, shapeOf } from './quick.ts'

/** Exchanges with quick searches that are under way before further ones wait to go together. */
const AT_ONCE = 2
/** Searches that go together. */
const MOST = 16
/** No search waits longer for others. */
const WAIT_MS = 3
/** In bytes: longer ones are few. */
const LONGEST = 16_384
/** A cluster that refused several together is asked again after so long whether it takes them. */
const PAUSE_MS = 60_000

export interface BundlingOptions {
  atOnce?: number
  waitMs?: number
  /** Which searches may go together. */
  quick?: Quick
}

/** A search that waits to go with others. */
interface Member {
  request: ClusterRequest & { body: string }
  shape: string
  settle(answer: ClusterAnswer | undefined, error?: unknown): void
  /** Told when nobody waits for it any more. */
  left: () => void
}

/**
 * A cluster that is asked several quick searches in one exchange where many come at the same time: the exchange takes more time of processors
 * than such a search does. Each is answered, refused and given up as if it were asked alone. Searches that take long, or of which it is not
 * known, go alone: others would wait for them.
 */
export const bundling = (
  cluster: Cluster,
  { atOnce = AT_ONCE, waitMs = WAIT_MS, quick = createQuick() }: BundlingOptions = {},
): Cluster => {
  let underWay = 0
  let waiting: Member[] = []
  let timer: NodeJS.Timeout | undefined
  let pausedUntil = Number.NEGATIVE_INFINITY

  const saw = (shape: string, { status, bytes }: ClusterAnswer) => {
    if (status >= 300 || !bytes) return
    const took = TOOK.exec(bytes.toString('latin1', 0, HEAD))
    if (took) quick.saw(shape, Number(took[1]), bytes.length)
  }
  const askAlone = async (request: ClusterRequest, shape: string): Promise<ClusterAnswer> => {
    const answer = await cluster.ask(request)
    saw(shape, answer)
    return answer
  }
  /** What waits goes when an exchange has ended. */
  const counted = async <T>(exchange: () => Promise<T>): Promise<T> => {
    underWay++
    try {
      return await exchange()
    } finally {
      underWay--
      sendWaiting()
    }
  }

  const wait = (request: Member['request'], shape: string): Promise<ClusterAnswer> =>
    new Promise((resolve, reject) => {
      const { signal } = request
      const leave = () => {
        waiting = waiting.filter(one => one !== member)
        reject(signal!.reason)
        member.left()
      }
      const member: Member = {
        ...{ request, shape, left: () => {} },
        settle(answer, error) {
          signal?.removeEventListener('abort', leave)
          if (answer) resolve(answer)
          else reject(error)
        },
      }
      signal?.addEventListener('abort', leave, { once: true })
      waiting.push(member)
      if (waiting.length >= MOST) sendWaiting()
      else timer ??= setTimeout(sendWaiting, waitMs)
    })

  const sendWaiting = () => {
    clearTimeout(timer)
    timer = undefined
    if (waiting.length === 0) return
    const members = waiting
    waiting = []
    void counted(() => (members.length === 1 ? sendEach(members) : sendTogether(members)))
  }

  const sendEach = (members: readonly Member[]): Promise<unknown> =>
    Promise.all(
      members.map(({ request, shape, settle }) =>
        askAlone(request, shape).then(settle, error => settle(undefined, error)),
      ),
    )

  const sendTogether = async (members: readonly Member[]): Promise<void> => {
    const ending = new AbortController()
    const gone = new Set<Member>()
    for (const member of members)
      member.left = () => {
        if (gone.add(member).size === members.length) ending.abort(member.request.signal!.reason)
      }
    const searches = members.map(({ request }) => searchOf(request))
    try {
      const all = await cluster.ask({ method: 'POST', path: '/_msearch', searches, raw: true, signal: ending.signal })
      if (all.bytes) {
        for (const [i, answer] of answersIn(all.bytes, members.length).entries()) {
          const { settle, shape } = members[i]!
          settle(answer)
          saw(shape, answer)
        }
      } else if (all.status === 429 || all.status >= 500) {
        for (const { settle } of members) settle(all)
      } else {
        // One of them, or several in one request at all: each is told what it is refused for.
        pausedUntil = performance.now() + PAUSE_MS
        await sendEach(members.filter(member => !gone.has(member)))
      }
    } catch (error) {
      for (const { settle } of members) settle(undefined, error)
    }
  }

  return {
    ask(request) {
      if (!isPlainSearch(request) || performance.now() < pausedUntil) return cluster.ask(request)
      request.signal?.throwIfAborted()
      const shape = shapeOf(request.path, request.body)
      if (!quick.is(shape)) return askAlone(request, shape)
      return underWay < atOnce ? counted(() => askAlone(request, shape)) : wait(request, shape)
    },
    close() {
      clearTimeout(timer)
      return cluster.close()
    },
  }
}

const isPlainSearch = (request: ClusterRequest): request is Member['request'] => {
  const { method, path, body, raw, timeoutMs, retries } = request
  if (method !== 'POST' || raw !== true || typeof body !== 'string' || body.length > LONGEST) return false
  return timeoutMs === undefined && retries === undefined && PATH.test(path)
}

const PATH = /^\/([^_/][^/]*)\/_search$/

const searchOf = ({ path, query, body }: Member['request']): ClusterSearch => ({
  head: { index: PATH.exec(path)![1]!, ...query },
  body,
})

/** Where an answer tells how long it took. */
const TOOK = /^\{"took":(\d+)/
const HEAD = 30

/** What each of several searches would have been answered alone. */
export const answersIn = (bytes: Buffer, count: number): ClusterAnswer[] => {
  const first = bytes.indexOf(FIRST) + FIRST.length
  if (first < FIRST.length)
    throw new Error(`the cluster sent what is not an answer to searches: ${bytes.toString('utf8', 0, 100)}`)
  const all = boundsByText(bytes, first, count) ?? boundsByReading(bytes, first)
  if (all.length !== count) throw new Error(`the cluster answered ${all.length} searches of ${count}`)
  return all.map(([from, to]) => {
    const status = Number(bytes.toString('latin1', to - STATUS_DIGITS - 1, to - 1))
    return status < 300
      ? { status, text: '', bytes: bytes.subarray(from, to) }
      : { status, text: bytes.toString('utf8', from, to) }
  })
}

type Bounds = readonly [from: number, to: number]

/**
 * Each answer ends with its status. What looks like such an end may stand in a document, too; undefined where there are more of them than
 * answers.
 */
const boundsByText = (bytes: Buffer, first: number, count: number): Bounds[] | undefined => {
  const all: Bounds[] = []
  let from = first
  for (let at = bytes.indexOf(STATUS, from); at >= 0; at = bytes.indexOf(STATUS, at + 1)) {
    const end = at + STATUS.length + STATUS_DIGITS
    if (bytes[end] !== CLOSE) continue
    const behind = bytes[end + 1]
    if (behind !== COMMA && behind !== CLOSE_LIST) continue
    all.push([from, end + 1])
    from = end + 2
  }
  return all.length === count && bytes[from - 1] === CLOSE_LIST ? all : undefined
}

const boundsByReading = (bytes: Buffer, first: number): Bounds[] => {
  const all: Bounds[] = []
  for (let from = first; ; ) {
    const to = endOfValue(bytes, from)
    all.push([from, to])
    if (bytes[to] !== COMMA) return all
    from = to + 1
  }
}

const FIRST = '"responses":['
const STATUS = ',"status":'
const STATUS_DIGITS = 3
