import { Pool } from 'undici'
import { bytesOf } from '../lib/bytes.ts'
import { ChainsieveError, messageOf, retry } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { backoff, type Clock, parseRetryAfter, withTimeout } from '../lib/retry.ts'
import { secretUrl } from '../lib/secret.ts'
import { type Limits, overLimit } from '../limits/index.ts'
import { type BodyOptions, readBody, TOO_LARGE, takeText } from './answer-body.ts'
import {
  ANSWER_TOO_LARGE,
  type Answer,
  type Call,
  errorIn,
  excerpt,
  parseBody,
  RATE_LIMIT_CODES,
  type RpcError,
  statusError,
  toAnswer,
  toAnswers,
} from './answers.ts'
import type { Budget } from './budget.ts'
import { authorization, createHider, parseNodeUrl } from './node-url.ts'
import type { RequestCounter } from './rpc-metrics.ts'
import type { EndpointStatus } from './source.ts'
import type { TraceMethod } from './tracing.ts'
import { createWindow, type Outcome } from './window.ts'

export interface EndpointOptions {
  /** Longest time for one HTTP request and its answer. */
  timeoutMs: number
  /** Most calls in one HTTP request. */
  batch: number
  /** Most HTTP requests in flight. */
  concurrency: number
  limits: Limits
  /** Pays for the bytes of all answers under way, of other nodes too. */
  budget: Budget
  /** Told of each request. */
  count?: RequestCounter | undefined
  log: Log
  clock: Clock
  random: () => number
}

/** What is known of a node's traces; see `createTracer`. */
export interface TraceState {
  /** Null where it has none, undefined while that is not known. */
  method: TraceMethod | null | undefined
  /** What it said to the methods that it does not have. */
  why: string
  /** Whether it was asked since it was last connected to. */
  asked: boolean
}

/** One node by its address: sends calls, learns what the node can bear, and keeps its health. */
export interface Endpoint {
  /** The address without its secrets. */
  readonly name: string
  /** Before this time (epoch, ms) the node should be left alone. */
  readonly restUntil: number
  /** Before this time another node is preferred: this one gave a wrong or an old answer. */
  readonly doubtedUntil: number
  /** Mean size of an answer to one call, in bytes. */
  readonly bytesPerCall: number
  /** The chain that the node answers for, once it was asked. */
  chainId: number | undefined
  /** Methods that the node does not have. */
  readonly lacks: Set<string>
  /** How the node gives traces. */
  readonly traces: TraceState
  /**
   * Answers in the order of the calls. Sends them in as many requests as the node wants, splitting further where it
   * complains. Throws `retry` with a code `node_…` where there is no answer to be had now. Urgent calls, those for the head of the chain,
   * overtake a back-fill's that wait for a place.
   */
  send(calls: readonly Call[], signal: AbortSignal, urgent?: boolean): Promise<Answer[]>
  /**
   * The same, but an answer to all of the calls goes unread to `take`, which may read it elsewhere. It gives back the bytes where it
   * can make nothing of them: then they are read here.
   */
  sendUnread<T extends object>(
    calls: readonly Call[],
    signal: AbortSignal,
    take: Take<T>,
  ): Promise<Answer[] | { taken: T }>
  /**
   * Answers to calls that go in one request, or that they are too large. An error that is `heard` is an answer, to the first call, whatever
   * code and HTTP status it comes with: it tells nothing about how the node is.
   */
  sendOnce(calls: readonly Call[], signal: AbortSignal, options: OnceOptions): Promise<Answer[] | 'too large'>
  /** Most calls in one request at the moment. */
  readonly batch: number
  /** The same for calls whose answers are small: one that is not has the error `ANSWER_TOO_LARGE`, and tells nothing about the others. */
  sendSmall(calls: readonly Call[], signal: AbortSignal): Promise<Answer[]>
  /** Marks the beginning of a piece of work; `well` and `failed` take the mark back, so that one outage counts once. */
  mark(): number
  well(mark: number): void
  failed(mark: number, error: ChainsieveError): void
  status(): EndpointStatus
  close(): Promise<void>
}

export interface OnceOptions {
  heard(error: RpcError): boolean
  urgent?: boolean
}

/** Takes the body of an HTTP answer, or gives its bytes back. */
export type Take<T> = (body: Buffer) => Promise<T | Uint8Array>

export const createEndpoint = (text: string, options: EndpointOptions): Endpoint => {
  const { timeoutMs, concurrency, limits, budget, count, log, clock, random } = options
  const url = parseNodeUrl(text, ['http:', 'https:'])
  const name = secretUrl(text).toString()
  const hide = createHider(url)
  const pool = new Pool(url.origin, {
    connections: concurrency,
    connectTimeout: timeoutMs,
  })
  const path = url.pathname + url.search
  const local = LOOPBACK.test(url.hostname)
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    // Compressing costs a local node more than the loopback gains.
    ...(!local && { 'accept-encoding': 'gzip' }),
    ...authorization(url),
  }
  const window = createWindow({ start: Math.min(4, concurrency), max: concurrency })

  let batch = options.batch
  let requests = 0
  let errors = 0
  let lastError: string | null = null
  let lastErrorAt: string | null = null
  let epoch = 0
  let failures = 0
  let failingSince = 0
  let loggedAt = 0
  let restUntil = 0
  let doubtedUntil = 0
  let bytesPerCall = 0

  const note = (message: string) => {
    errors++
    lastError = message
    lastErrorAt = new Date(clock.now()).toISOString()
  }

  /** One HTTP request. `too large` where the node wants fewer calls at once. */
  const post = async <T extends object = never>(
    calls: readonly Call[],
    signal: AbortSignal,
    urgent: boolean,
    { most = limits.nodeAnswer, take, heard }: PostOptions<T> = {},
  ): Promise<Answer[] | 'too large' | { taken: T }> => {
    const messages = calls.map(({ method, params }, i) => ({ jsonrpc: '2.0', id: i + 1, method, params }))
    let leave: ((outcome: Outcome) => void) | undefined = await window.enter(signal, urgent)
    const share = budget.open()
    let outcome: Outcome = 'overload'
    let takeFault: { error: unknown } | undefined
    requests++
    const began = performance.now()
    let answered: number | undefined
    try {
      const { status, retryAfterMs, bytes } = await withTimeout(
        timeoutMs,
        signal,
        () => retry('node_timeout', `no answer within ${timeoutMs} ms`),
        inner => request(JSON.stringify(calls.length === 1 ? messages[0] : messages), { most, share, signal: inner }),
      )
      answered = performance.now()
      let body: string
      if (take && status === 200) {
        const size = bytes.length
        leave('ok')
        leave = undefined
        const taken = await take(bytes).catch((error: unknown) => {
          takeFault = { error }
          throw error
        })
        if (!(taken instanceof Uint8Array)) {
          noteSize(size, calls)
          outcome = 'ok'
          return { taken }
        }
        // Its outcome still tells something about the node's load.
        leave = await window.enter(signal, urgent)
        body = takeText(bytesOf(taken))
      } else body = takeText(bytes)
      if (!heard) noteSize(body.length, calls)
      outcome = status < 500 && status !== 429 ? 'neutral' : 'overload'
      const parsed = parseBody(body)
      const fault = heard && errorIn(parsed)
      if (fault && heard(fault)) {
        outcome = 'ok'
        return [{ error: { ...fault, message: hide(fault.message) } }]
      }
      if (status === 413) return 'too large'
      // Some nodes answer a batch that they refuse with HTTP 400; worse states say nothing about its size.
      const answers = status < 300 || status === 400 ? toAnswers(parsed, calls.length) : undefined
      if (answers === 'too large') return answers
      if (status >= 300) {
        const said = toAnswer(Array.isArray(parsed) ? parsed[0] : parsed)?.error?.message ?? excerpt(body)
        throw statusError(status, said === undefined ? '' : hide(said), retryAfterMs)
      }
      if (answers === undefined) {
        throw retry(
          'node_bad_answer',
          `HTTP ${status} with a body that is not a JSON-RPC answer: ${hide(excerpt(body) ?? 'empty')}`,
        )
      }
      for (const answer of answers) {
        if (answer.error === undefined) continue
        answer.error.message = hide(answer.error.message)
        if (RATE_LIMIT_CODES.has(answer.error.code)) {
          outcome = 'overload'
          throw retry('node_rate_limited', `asks to slow down (${answer.error.code}: ${answer.error.message})`, {
            ...(retryAfterMs !== undefined && { retryAfterMs }),
          })
        }
      }
      outcome = 'ok'
      return answers
    } catch (error) {
      if (signal.aborted) {
        outcome = 'neutral'
        throw error
      }
      if ((error as { code?: unknown }).code === TOO_LARGE) {
        outcome = 'neutral'
        return 'too large'
      }
      if (error instanceof ChainsieveError || takeFault?.error === error) throw error
      throw retry('node_unreachable', hide(describeNetwork(error)), { cause: error })
    } finally {
      share.close()
      leave?.(outcome)
      if (!signal.aborted) count?.(calls.length, ((answered ?? performance.now()) - began) / 1_000, outcome === 'ok')
    }
  }

  const noteSize = (bytes: number, { length }: readonly Call[]) => {
    bytesPerCall = bytesPerCall === 0 ? bytes / length : bytesPerCall * 0.9 + (bytes / length) * 0.1
  }

  const request = async (message: string, reading: Omit<BodyOptions, 'packed'>) => {
    const response = await pool.request({ path, method: 'POST', headers, body: message, signal: reading.signal })
    const packed = response.headers['content-encoding'] === 'gzip'
    return {
      status: response.statusCode,
      retryAfterMs: parseRetryAfter(response.headers['retry-after'], clock.now()),
      bytes: await readBody(response.body, { ...reading, packed }),
    }
  }

  const send = async (calls: readonly Call[], signal: AbortSignal, urgent = false): Promise<Answer[]> =>
    (await sendAll(calls, signal, urgent)) as Answer[]

  const sendAll = async <T extends object = never>(
    calls: readonly Call[],
    signal: AbortSignal,
    urgent: boolean,
    take?: Take<T>,
  ): Promise<Answer[] | { taken: T }> => {
    if (calls.length === 0) return []
    const size = Math.max(1, Math.floor(batch))
    if (calls.length > size) {
      const parts: Promise<Answer[]>[] = []
      for (let i = 0; i < calls.length; i += size) parts.push(send(calls.slice(i, i + size), signal, urgent))
      return (await Promise.all(parts)).flat()
    }
    const answers = await post(calls, signal, urgent, { take })
    if (answers !== 'too large') {
      // A limit may have come from exceptionally large blocks: it is tried again, slowly.
      if (batch < options.batch) batch = Math.min(options.batch, batch + 1 / 64)
      return answers
    }
    if (calls.length === 1) {
      throw retry(
        'node_answer_too_large',
        overLimit('nodeAnswer', limits, `The answer to a single ${calls[0]!.method}, if the node sends it at all,`)
          .message,
      )
    }
    const smaller = Math.floor(calls.length / 2)
    if (smaller < batch) {
      batch = smaller
      note(`a batch of ${calls.length} calls was too large, sends ${smaller}`)
      log.info('Made the batches to a node smaller', { endpoint: name, calls: smaller })
    }
    return send(calls, signal, urgent)
  }

  const sendSmall = async (calls: readonly Call[], signal: AbortSignal): Promise<Answer[]> => {
    if (calls.length === 0) return []
    const size = Math.max(1, Math.floor(batch))
    const answers =
      calls.length > size
        ? 'too large'
        : ((await post(calls, signal, false, { most: calls.length * (limits.callAnswer + ENVELOPE_BYTES) })) as
            | Answer[]
            | 'too large')
    if (answers !== 'too large') return answers
    if (calls.length === 1) {
      const { message } = overLimit('callAnswer', limits, `The answer to ${calls[0]!.method}`)
      return [{ error: { code: ANSWER_TOO_LARGE, message } }]
    }
    // Not with smaller batches from now on: a contract chooses what it answers.
    const half = Math.min(size, Math.ceil(calls.length / 2))
    return [...(await sendSmall(calls.slice(0, half), signal)), ...(await sendSmall(calls.slice(half), signal))]
  }

  return {
    name,
    get restUntil() {
      return restUntil
    },
    get doubtedUntil() {
      return doubtedUntil
    },
    get bytesPerCall() {
      return bytesPerCall
    },
    chainId: undefined,
    lacks: new Set(),
    traces: { method: undefined, why: '', asked: false },
    send,
    sendUnread: (calls, signal, take) => sendAll(calls, signal, false, take),
    get batch() {
      return Math.max(1, Math.floor(batch))
    },
    sendOnce: async (calls, signal, { heard, urgent = false }) =>
      (await post(calls, signal, urgent, { heard })) as Answer[] | 'too large',
    sendSmall,
    mark: () => epoch,
    well(mark) {
      if (mark !== epoch || failures === 0) return
      log.info('The node answers again', {
        endpoint: name,
        seconds: Math.round((clock.now() - failingSince) / 1000),
      })
      failures = 0
      loggedAt = 0
    },
    failed(mark, error) {
      note(error.message)
      const now = clock.now()
      if (now - loggedAt >= LOG_EVERY_MS) {
        log.warn('The node gives no usable answer, will retry', { endpoint: name, error: error.message })
        loggedAt = now
      }
      if (mark !== epoch) return
      epoch++
      if (failures++ === 0) failingSince = now
      if (!error.code.startsWith('node_')) {
        // A wrong answer about one block says little about the next one: only a node that does not answer is left alone.
        doubtedUntil = now + DOUBT_MS
        return
      }
      if (error.code === 'node_unreachable') this.chainId = undefined
      restUntil = now + (error.retryAfterMs ?? 0) + backoff(failures, { random })
    },
    status: () => ({
      url: name,
      lastError,
      lastErrorAt,
      requests,
      errors,
      ...(failures > 0 && { failingSince: new Date(failingSince).toISOString() }),
    }),
    close: () => pool.destroy(),
  }
}

interface PostOptions<T extends object> {
  most?: number
  take?: Take<T> | undefined
  heard?: OnceOptions['heard']
}

/** The most telling line of a failed connection. */
export const describeNetwork = (error: unknown): string => {
  const inner = error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error
  const code = (inner as NodeJS.ErrnoException).code
  const message = messageOf(inner) || 'no connection'
  return code === undefined || message.includes(code) ? message : `${message} (${code})`
}

/** What an answer has around its result. */
const ENVELOPE_BYTES = 1000
const DOUBT_MS = 10_000
const LOG_EVERY_MS = 60_000
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/
