import type { Log } from '../../lib/log.ts'
import type { Clock } from '../../lib/retry.ts'
import { createWindow } from '../../lib/scheduling/concurrency-window.ts'
import { createWorkLoad, type Load } from '../../lib/scheduling/load.ts'
import { createLearntPace, LEARNT_PARTS } from '../../lib/scheduling/rate-limiter.ts'
import { secretUrl } from '../../lib/secret.ts'
import type { Limits } from '../../limits/index.ts'
import type { Budget } from '../budget/budget.ts'
import type { BlockRef, EndpointStatus } from '../source.ts'
import type { Memory } from './answer-body.ts'
import type { Answer, Call, Head } from './answers.ts'
import { createHealth, createResponseTimes, type Health, type RequestCounter } from './node-health.ts'
import { budgetUsed, createBatches, createPost, type OnceOptions, type Take } from './post.ts'
import type { TraceMethod } from './trace-methods.ts'
import { createHider, createTransport, NODE_PROTOCOLS, parseNodeUrl } from './transport.ts'

export interface EndpointOptions {
  timeoutMs: number
  batch: number
  concurrency: number
  limits: Limits
  memory: Memory
  budget?: Budget | undefined
  count?: RequestCounter | undefined
  log: Log
  clock: Clock
  random: () => number
}

interface TraceState {
  /** Null if it has none, undefined while unknown. */
  method: TraceMethod | null | undefined
  why: string
  /** Whether it was probed since the last connect. */
  asked: boolean
}

export interface Endpoint {
  /** URL without secrets. */
  readonly name: string
  readonly health: Health
  readonly loads: Readonly<Record<'urgent' | 'others', Load>>
  readonly budget: Budget | undefined
  readonly bytesPerCall: number
  chainId: number | undefined
  chainIdAt: number
  otherChain: number | undefined
  head: (Head & { at: number }) | undefined
  /** A block off our branch, with first time and count; undefined while it is on our branch. */
  branch: (BlockRef & { since: number; times: number }) | undefined
  readonly lacks: Set<string>
  readonly traces: TraceState
  /** Answers in call order. Throws `retry` with a code `node_…`, or with `BUDGET_USED`. */
  send(calls: readonly Call[], signal: AbortSignal, urgent?: boolean): Promise<Answer[]>
  /** Like `send`, but passes the raw answer to `take`, which returns it if it cannot parse it. */
  sendUnread<T extends object>(
    calls: readonly Call[],
    signal: AbortSignal,
    take: Take<T>,
  ): Promise<Answer[] | { taken: T }>
  /** Sends one request. An error that is `heard` counts as an answer. */
  sendOnce(calls: readonly Call[], signal: AbortSignal, options: OnceOptions): Promise<Answer[] | 'too large'>
  readonly batch: number
  /** For small answers: an oversized one gets the error `ANSWER_TOO_LARGE`, others none. `urgent`: default true. */
  sendSmall(calls: readonly Call[], signal: AbortSignal, urgent?: boolean): Promise<Answer[]>
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
  const loads = { urgent: createWorkLoad(clock.elapsed), others: createWorkLoad(clock.elapsed) }
  const onUnreachable = () => {
    endpoint.chainId = undefined
  }
  const health = createHealth({ name, log, clock, random, onUnreachable })

  const responseTimes = createResponseTimes({ name, log, clock })

  const { post, requests, bytesPerCall } = createPost({
    ...{ timeoutMs, limits, memory, budget, count, transport, window, learnt, health, responseTimes, hide },
    now: clock.elapsed,
    chainId: () => endpoint.chainId,
  })

  /** Throws if the budget does not cover all calls: related calls are sent together. */
  const checkBudget = (calls: readonly Call[], urgent: boolean) => {
    const { credits } = budget?.costOf(calls, endpoint.chainId) ?? { credits: 0 }
    if (budget && !budget.affords(credits, urgent)) throw budgetUsed(credits)
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
      return bytesPerCall()
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
      requests: requests(),
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

const branchOf = (branch: Endpoint['branch']): Pick<EndpointStatus, 'otherBranch'> => {
  if (!branch || branch.times < 2) return {}
  const { number, hash, since } = branch
  return { otherBranch: { number, hash, since: new Date(since).toISOString() } }
}

const OF_A_BLOCK: readonly Call[] = ['eth_getBlockByNumber', 'eth_getBlockReceipts'].map(method => ({
  method,
  params: [],
}))
