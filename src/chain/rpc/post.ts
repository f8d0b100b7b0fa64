import { rawBytesOf } from '../../lib/bytes.ts'
import { ChainsieveError, retry } from '../../lib/errors.ts'
import { withTimeout } from '../../lib/retry.ts'
import type { RequestOutcome, RequestWindow } from '../../lib/scheduling/concurrency-window.ts'
import type { LearntPace } from '../../lib/scheduling/rate-limiter.ts'
import { type Limits, overLimit } from '../../limits/index.ts'
import { TOO_LARGE, takeText } from './answer-body.ts'
import {
  ANSWER_TOO_LARGE,
  type Answer,
  type Call,
  excerpt,
  firstError,
  parseBody,
  RATE_LIMIT_CODES,
  type RpcError,
  statusError,
  toAnswer,
  toAnswers,
} from './answers.ts'
import type { EndpointOptions } from './endpoint.ts'
import type { Health, ResponseTimes } from './node-health.ts'
import { describeNetwork, type Transport } from './transport.ts'

interface PostContext extends Pick<EndpointOptions, 'timeoutMs' | 'limits' | 'memory' | 'budget' | 'count'> {
  transport: Pick<Transport, 'post'>
  window: RequestWindow
  learnt: LearntPace | undefined
  health: Pick<Health, 'backoffUntil'>
  now(): number
  responseTimes: Pick<ResponseTimes, 'add'>
  hide(text: string): string
  chainId(): number | undefined
}

export const createPost = (context: PostContext) => {
  const {
    timeoutMs,
    limits,
    memory,
    budget,
    count,
    transport,
    window,
    learnt,
    health,
    now,
    responseTimes,
    hide,
    chainId,
  } = context
  let requests = 0
  let bytesPerCall = 0

  const noteSize = (bytes: number, { length }: readonly Call[]) => {
    bytesPerCall = bytesPerCall === 0 ? bytes / length : bytesPerCall * 0.9 + (bytes / length) * 0.1
  }

  const post = async <T extends object = never>(
    calls: readonly Call[],
    signal: AbortSignal,
    urgent: boolean,
    { most = limits.nodeAnswer, take, heard, beside = false }: PostOptions<T> = {},
  ): Promise<Answer[] | 'too large' | { taken: T }> => {
    const messages = calls.map(({ method, params }, i) => ({ jsonrpc: '2.0', id: i + 1, method, params }))
    const cost = budget?.costOf(calls, chainId()) ?? FREE
    let leave: ((outcome: RequestOutcome) => void) | undefined = await window.enter(
      signal,
      urgent,
      learnt ? calls.length : cost.perSecond,
    )
    const cuts = learnt?.cuts ?? 0
    // Skips a node that failed or asked for a pause while this waited; another one is used.
    if (health.backoffUntil > now()) {
      leave('neutral')
      throw leftAlone()
    }
    // Other calls may have used the budget while this waited.
    if (budget && !budget.affords(cost.credits, urgent)) {
      leave('neutral')
      throw budgetUsed(cost.credits)
    }
    const forHead = urgent && !beside
    budget?.charge(cost.credits, forHead)
    const hold = memory.open()
    let outcome: RequestOutcome = 'overload'
    let takeFault: { error: unknown } | undefined
    requests++
    const began = performance.now()
    let answered: number | undefined
    try {
      const { status, retryAfterMs, bytes } = await withTimeout(
        timeoutMs,
        signal,
        () => retry('node_timeout', `no answer within ${timeoutMs} ms`),
        inner =>
          transport.post(JSON.stringify(calls.length === 1 ? messages[0] : messages), { most, hold, signal: inner }),
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
        leave = await window.enter(signal, urgent)
        body = takeText(rawBytesOf(taken))
      } else body = takeText(bytes)
      if (!heard) noteSize(body.length, calls)
      outcome = status < 500 && status !== 429 ? 'neutral' : 'overload'
      const parsed = parseBody(body)
      const fault = heard && firstError(parsed)
      if (fault && heard(fault)) {
        outcome = 'ok'
        return [{ error: { ...fault, message: hide(fault.message) } }]
      }
      const answers = answersIn({ status, retryAfterMs, body, parsed }, calls.length, hide)
      if (answers === 'too large') return answers
      const limited = answers.find(({ error }) => error !== undefined && RATE_LIMIT_CODES.has(error.code))?.error
      if (limited) {
        outcome = 'overload'
        throw retry('node_rate_limited', `asks to slow down (${limited.code}: ${limited.message})`, {
          ...(retryAfterMs !== undefined && { retryAfterMs }),
        })
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
      if (error instanceof ChainsieveError && error.code === 'node_rate_limited') {
        // Providers do not charge for it.
        budget?.charge(-cost.credits, forHead)
        learnt?.refused(calls.length, cuts)
        window.turnAway(leftAlone())
      }
      if (error instanceof ChainsieveError || takeFault?.error === error) throw error
      throw retry('node_unreachable', hide(describeNetwork(error)), { cause: error })
    } finally {
      hold.close()
      leave?.(outcome)
      if (!signal.aborted) {
        const ms = (answered ?? performance.now()) - began
        count?.(calls.length, ms / 1_000, outcome === 'ok')
        // A refused connection says nothing about response times.
        if (answered !== undefined || ms >= timeoutMs) responseTimes.add(ms, urgent)
      }
    }
  }

  return {
    post,
    requests: () => requests,
    bytesPerCall: () => bytesPerCall,
  }
}

interface Response {
  status: number
  retryAfterMs: number | undefined
  body: string
  parsed: unknown
}

/** Answers of a response without secrets; `too large` if the node wants fewer calls. */
const answersIn = (
  { status, retryAfterMs, body, parsed }: Response,
  calls: number,
  hide: (text: string) => string,
): Answer[] | 'too large' => {
  if (status === 413) return 'too large'
  // Some nodes refuse a batch with HTTP 400; other errors say nothing about its size.
  const answers = status < 300 || status === 400 ? toAnswers(parsed, calls) : undefined
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
  for (const { error } of answers) if (error !== undefined) error.message = hide(error.message)
  return answers
}

export const BUDGET_USED = 'node_budget_used'

/** Not a failure of the node, which states when to retry. */
export const LEFT_ALONE = 'node_left_alone'

const leftAlone = () => retry(LEFT_ALONE, 'is left alone for a while')

export const budgetUsed = (credits: number) =>
  retry(BUDGET_USED, `the budget of the node does not have the ${credits} credits of this request`)

const FREE = { perSecond: 0, credits: 0 }

export type Take<T> = (body: Buffer) => Promise<T | Uint8Array>
interface PostOptions<T> {
  most?: number
  take?: Take<T> | undefined
  /** Whether it serves something other than blocks of the head. */
  beside?: boolean
  heard?: OnceOptions['heard']
}

export interface OnceOptions {
  heard(error: RpcError): boolean
  urgent?: boolean
}

interface BatchesOptions {
  post<T extends object = never>(
    calls: readonly Call[],
    signal: AbortSignal,
    urgent: boolean,
    options?: PostOptions<T>,
  ): Promise<Answer[] | 'too large' | { taken: T }>
  most(calls: readonly Call[]): number | undefined
  batch: number
  limits: Limits
  onSmaller(calls: number, from: number): void
}

export const createBatches = ({ post, most, limits, onSmaller, ...options }: BatchesOptions) => {
  let batch = options.batch

  const sizeFor = (calls: readonly Call[]): number => Math.max(1, Math.floor(Math.min(batch, most(calls) ?? batch)))

  const send = async <T extends object = never>(
    calls: readonly Call[],
    signal: AbortSignal,
    urgent: boolean,
    take?: Take<T>,
  ): Promise<Answer[] | { taken: T }> => {
    if (calls.length === 0) return []
    const size = sizeFor(calls)
    if (calls.length > size) {
      const parts: Promise<Answer[]>[] = []
      for (let i = 0; i < calls.length; i += size) parts.push(sendRead(calls.slice(i, i + size), signal, urgent))
      return (await Promise.all(parts)).flat()
    }
    const answers = await post(calls, signal, urgent, { take })
    if (answers !== 'too large') {
      // A limit may come from exceptionally large blocks: the batch size recovers slowly.
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
      onSmaller(smaller, calls.length)
    }
    return sendRead(calls, signal, urgent)
  }

  const sendRead = async (calls: readonly Call[], signal: AbortSignal, urgent: boolean): Promise<Answer[]> =>
    (await send(calls, signal, urgent)) as Answer[]

  const sendSmall = async (calls: readonly Call[], signal: AbortSignal, urgent = true): Promise<Answer[]> => {
    if (calls.length === 0) return []
    const size = sizeFor(calls)
    if (calls.length > size) {
      const parts = Array.from({ length: Math.ceil(calls.length / size) }, (_, i) =>
        sendSmall(calls.slice(i * size, (i + 1) * size), signal, urgent),
      )
      return (await Promise.all(parts)).flat()
    }
    const most = calls.length * (limits.callAnswer + ENVELOPE_BYTES)
    const answers = (await post(calls, signal, urgent, { beside: true, most })) as Answer[] | 'too large'
    if (answers !== 'too large') return answers
    if (calls.length === 1) {
      const { message } = overLimit('callAnswer', limits, `The answer to ${calls[0]!.method}`)
      return [{ error: { code: ANSWER_TOO_LARGE, message } }]
    }
    // The batch size stays: a contract determines the size of its answer.
    const half = Math.ceil(calls.length / 2)
    const parts = [calls.slice(0, half), calls.slice(half)]
    return [...(await sendSmall(parts[0]!, signal, urgent)), ...(await sendSmall(parts[1]!, signal, urgent))]
  }

  return { send, sendSmall, sizeFor }
}

const ENVELOPE_BYTES = 1000
