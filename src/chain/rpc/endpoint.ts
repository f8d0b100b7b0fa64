import { bytesOf } from '../../lib/bytes.ts'
import { ChainsieveError, retry } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { type Clock, withTimeout } from '../../lib/retry.ts'
import { createLoad, type Load } from '../../lib/scheduling/load.ts'
import { createLearntPace, LEARNT_PARTS } from '../../lib/scheduling/rate.ts'
import { createWindow, type Outcome } from '../../lib/scheduling/window.ts'
import { secretUrl } from '../../lib/secret.ts'
import type { Limits } from '../../limits/index.ts'
import type { Budget } from '../budget/budget.ts'
import type { BlockRef, EndpointStatus } from '../source.ts'
import { TOO_LARGE, takeText } from './answer-body.ts'
import type { Memory } from './answer-memory.ts'
import {
  type Answer,
  type Call,
  errorIn,
  excerpt,
  parseBody,
  RATE_LIMIT_CODES,
  statusError,
  toAnswer,
  toAnswers,
} from './answers.ts'
import { createBatches, type OnceOptions, type PostOptions, type Take } from './batches.ts'
import type { Head } from './headers.ts'
import { createHealth, type Health } from './health.ts'
import { createHider, NODE_PROTOCOLS, parseNodeUrl } from './node-url.ts'
import type { RequestCounter } from './request-metrics.ts'
import { createResponseTimes } from './response-times.ts'
import type { TraceMethod } from './trace-methods.ts'
import { createTransport, describeNetwork } from './transport.ts'

export interface EndpointOptions {
  /** Longest time for one HTTP request and its answer. */
  timeoutMs: number
  /** Most calls in one HTTP request. */
  batch: number
  /** Most HTTP requests in flight. */
  concurrency: number
  limits: Limits
  /** Pays for the bytes of all answers under way, of other nodes too. */
  memory: Memory
  /** What the node may be asked for; undefined where that is not limited. */
  budget?: Budget | undefined
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
  readonly health: Health
  /** What is under way for the head, and for all else. */
  readonly loads: Readonly<Record<'urgent' | 'others', Load>>
  readonly budget: Budget | undefined
  /** Mean size of an answer to one call, in bytes. */
  readonly bytesPerCall: number
  /** The chain that the node answers for, once it was asked. */
  chainId: number | undefined
  /** When it was asked for that; minus infinity where it is to be asked. */
  chainIdAt: number
  /** The chain that it is a node of, where that is another one. */
  otherChain: number | undefined
  /** The newest block that it last told, and when. */
  head: (Head & { at: number }) | undefined
  /** A block of it that is not ours, by what was seen so many times without a break, since when; undefined while it has ours. */
  branch: (BlockRef & { since: number; times: number }) | undefined
  /** Methods that the node does not have. */
  readonly lacks: Set<string>
  /** How the node gives traces. */
  readonly traces: TraceState
  /**
   * Answers in the order of the calls. Sends them in as many requests as the node wants, splitting further where it
   * complains. Throws `retry` with a code `node_…` where there is no answer to be had now, and with `BUDGET_USED` where the budget does not
   * have it. Urgent calls, those for the head of the chain, overtake a back-fill's that wait for a place.
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
  status(): EndpointStatus
  close(): Promise<void>
}

export const createEndpoint = (text: string, options: EndpointOptions): Endpoint => {
  const { timeoutMs, concurrency, limits, memory, budget, count, log, clock, random } = options
  const url = parseNodeUrl(text, NODE_PROTOCOLS)
  const name = secretUrl(text).toString()
  const hide = createHider(url)
  const transport = createTransport(url, { connections: concurrency + 1, timeoutMs, clock })
  const learnt = budget?.pace ? undefined : createLearntPace(clock.elapsed)
  const pace = budget?.pace ?? learnt
  const window = createWindow({ start: Math.min(4, concurrency), max: concurrency, pace, clock })
  const loads = { urgent: createLoad(clock.elapsed), others: createLoad(clock.elapsed) }
  const onUnreachable = () => {
    endpoint.chainId = undefined
  }
  const health = createHealth({ name, log, clock, random, onUnreachable })

  const responseTimes = createResponseTimes({ name, log, clock })

  let requests = 0
  let bytesPerCall = 0

  /** Throws where the budget does not have it, so that nothing of what belongs together is asked for. */
  const checkBudget = (calls: readonly Call[], urgent: boolean) => {
    const { credits } = budget?.costOf(calls, endpoint.chainId) ?? { credits: 0 }
    if (budget && !budget.affords(credits, urgent)) throw budgetUsed(credits)
  }

  /** One HTTP request. `too large` where the node wants fewer calls at once. */
  const post = async <T extends object = never>(
    calls: readonly Call[],
    signal: AbortSignal,
    urgent: boolean,
    { most = limits.nodeAnswer, take, heard, beside = false }: PostOptions<T> = {},
  ): Promise<Answer[] | 'too large' | { taken: T }> => {
    const messages = calls.map(({ method, params }, i) => ({ jsonrpc: '2.0', id: i + 1, method, params }))
    const cost = budget?.costOf(calls, endpoint.chainId) ?? FREE
    let leave: ((outcome: Outcome) => void) | undefined = await window.enter(
      signal,
      urgent,
      learnt ? calls.length : cost.perSecond,
    )
    const cuts = learnt?.cuts ?? 0
    // What waited for its place goes to another node where this one has failed meanwhile, or asked to be left alone.
    if (health.restUntil > clock.elapsed()) {
      leave('neutral')
      throw leftAlone()
    }
    // Others may have spent it while this waited.
    if (budget && !budget.affords(cost.credits, urgent)) {
      leave('neutral')
      throw budgetUsed(cost.credits)
    }
    const forHead = urgent && !beside
    budget?.charge(cost.credits, forHead)
    const hold = memory.open()
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
      if (error instanceof ChainsieveError && error.code === 'node_rate_limited') {
        // Providers charge nothing for it.
        budget?.charge(-cost.credits, forHead)
        learnt?.refused(calls.length, cuts)
        // It would be too many calls at once, and later.
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
        // A refused connection says nothing of how fast answers are.
        if (answered !== undefined || ms >= timeoutMs) responseTimes.add(ms, urgent)
      }
    }
  }

  const noteSize = (bytes: number, { length }: readonly Call[]) => {
    bytesPerCall = bytesPerCall === 0 ? bytes / length : bytesPerCall * 0.9 + (bytes / length) * 0.1
  }

  const batches = createBatches({
    post,
    most: calls => (learnt ? learnt.most / LEARNT_PARTS : budget?.mostCalls(calls, endpoint.chainId)),
    ...{ batch: options.batch, limits },
    onSmaller(calls, from) {
      health.note(`a batch of ${from} calls was too large, sends ${calls}`)
      log.info('Made the batches to a node smaller', { endpoint: name, calls })
    },
  })

  const endpoint: Endpoint = {
    ...{ name, health, loads, budget },
    get bytesPerCall() {
      return bytesPerCall
    },
    chainId: undefined,
    chainIdAt: Number.NEGATIVE_INFINITY,
    otherChain: undefined,
    head: undefined,
    branch: undefined,
    lacks: new Set(),
    traces: { method: undefined, why: '', asked: false },
    async send(calls, signal, urgent = false) {
      checkBudget(calls, urgent)
      return (await batches.send(calls, signal, urgent)) as Answer[]
    },
    sendOnce: async (calls, signal, { heard, urgent = false }) =>
      (await post(calls, signal, urgent, { heard })) as Answer[] | 'too large',
    async sendUnread(calls, signal, take) {
      checkBudget(calls, false)
      return batches.send(calls, signal, false, take)
    },
    get batch() {
      return batches.sizeFor(OF_A_BLOCK)
    },
    sendSmall: batches.sendSmall,
    status: () => ({
      url: name,
      ...health.status(),
      requests,
      ...(endpoint.otherChain !== undefined && { otherChain: endpoint.otherChain }),
      ...(endpoint.head && { head: endpoint.head.number }),
      ...branchOf(endpoint.branch),
      ...responseTimes.status(),
      ...(budget && { budget: budget.status() }),
    }),
    async close() {
      window.close()
      budget?.close()
      await transport.close()
    },
  }
  return endpoint
}

/** Code of the error of an endpoint whose budget does not have what a request costs. */
export const BUDGET_USED = 'node_budget_used'

/** The same of one that is to be left alone now. Neither is a failure of the node, and it can tell when to ask again. */
export const LEFT_ALONE = 'node_left_alone'

const leftAlone = () => retry(LEFT_ALONE, 'is left alone for a while')

const budgetUsed = (credits: number) =>
  retry(BUDGET_USED, `the budget of the node does not have the ${credits} credits of this request`)

/** Seen once, it may be a reorganisation that is under way. */
const branchOf = (branch: Endpoint['branch']): Pick<EndpointStatus, 'otherBranch'> => {
  if (!branch || branch.times < 2) return {}
  const { number, hash, since } = branch
  return { otherBranch: { number, hash, since: new Date(since).toISOString() } }
}

const FREE = { perSecond: 0, credits: 0 }
/** What most requests ask for. */
const OF_A_BLOCK: readonly Call[] = ['eth_getBlockByNumber', 'eth_getBlockReceipts'].map(method => ({
  method,
  params: [],
}))
