import { refuse, retry } from '../lib/errors.ts'
import { type Log, silent } from '../lib/log.ts'
import { type Clock, systemClock } from '../lib/retry.ts'
import type { Allowance } from '../limits/credits.ts'
import { DEFAULT_LIMITS, type Limits } from '../limits/index.ts'
import type { Metrics } from '../metrics/index.ts'
import { fetchParts, fetchRange } from './blocks/fetch-range.ts'
import { followChain, surveyNodes } from './blocks/follow-reorgs.ts'
import { createAnnouncer, createHeads } from './blocks/head-watcher.ts'
import { createBudget } from './budget/budget.ts'
import { createHeadBudget } from './budget/head-budget.ts'
import type { SpentFile } from './budget/spent-file.ts'
import { createScopedSource } from './logs/log-source.ts'
import { createStateReads } from './read-state.ts'
import { createMemory } from './rpc/answer-body.ts'
import {
  ANSWER_TOO_LARGE,
  type Answer,
  type Call,
  isMissingMethod,
  isRevert,
  type RpcError,
  resultOf,
  toHead,
} from './rpc/answers.ts'
import { createEndpoint, type Endpoint } from './rpc/endpoint.ts'
import { createRpcMetrics } from './rpc/node-health.ts'
import { createRpc, LACKS_METHOD, type Rpc } from './rpc/rpc.ts'
import { announces, NODE_PROTOCOLS, parseNodeUrl } from './rpc/transport.ts'
import type {
  BlockRef,
  ChainEvent,
  ChainSource,
  FinalityBlocks,
  FollowOptions,
  StateAnswer,
  StateQuestion,
} from './source.ts'
import { createTransactionSource } from './transactions/transaction-source.ts'

export interface RpcSourceOptions {
  /** Node URLs: http, https, ws, wss or ipc. They share the load; the first serves small loads. */
  urls: readonly string[]
  allowances?: readonly Allowance[]
  /** Persists spent credits across restarts. */
  spent?: SpentFile
  /** WebSocket that announces heads; default: the first capable one of `urls`, otherwise polls. */
  wsUrl?: string
  /** Required chain id; default: that of the first node to answer. */
  chainId?: number
  /** Request timeout. Default 20 s. */
  timeoutMs?: number
  /** Poll interval of the head; default: by the block time, between 100 ms and 2 s. */
  pollMs?: number
  /** Maximum calls per request, lowered if a node complains. Default 20. */
  batch?: number
  /** Maximum requests in flight per node, lowered if it is overloaded. Default 16. */
  concurrency?: number
  /** Whether logs blooms are compared; see `CheckOptions`. Default true. */
  bloom?: boolean
  /** Whether to fetch traces; `calls` and `all` differ only in later filtering. Default `off`. */
  traces?: 'off' | 'calls' | 'all'
  /** Whether logs of scopes are compared between two nodes; requires two. Default false. */
  verifyLogs?: boolean
  shrinks?: boolean
  limits?: Limits
  log?: Log
  metrics?: Metrics
  clock?: Clock
  random?: () => number
}

const HEAD_BUSY_MS = 100

/** A chain read from nodes by JSON-RPC. Methods retry until they succeed or abort. */
export const createRpcSource = (options: RpcSourceOptions): ChainSource & { close(): Promise<void> } => {
  const { urls, wsUrl, timeoutMs = 20_000, batch = 20, concurrency = 16, log = silent } = options
  const { limits = DEFAULT_LIMITS } = options
  const { clock = systemClock, random = Math.random } = options
  const traces = (options.traces ?? 'off') !== 'off'
  if (urls.length === 0) throw refuse('no_node_url', 'no node is named: give the URL of at least one')
  if (options.verifyLogs && urls.length < 2) {
    throw refuse(
      'no_second_node',
      'verify-logs compares the logs of two nodes, but one is named: give --rpc twice, or leave verify-logs out',
    )
  }
  const memory = createMemory(limits.nodeAnswers)
  const reaching = { timeoutMs, batch, concurrency, limits, memory, log, clock, random }
  const counters = options.metrics && createRpcMetrics(options.metrics, urls)
  const budgetOf = (url: string, i: number) => {
    parseNodeUrl(url, NODE_PROTOCOLS)
    return createBudget(options.allowances?.[i] ?? {}, { url, clock, spent: options.spent })
  }
  const endpoints = urls.map((url, i) =>
    createEndpoint(url, { ...reaching, budget: budgetOf(url, i), count: counters?.of(i) }),
  )
  const rpc = createRpc({
    endpoints,
    log,
    clock,
    random,
    ...(options.chainId !== undefined && { chainId: options.chainId }),
  })
  const headBudget = createHeadBudget(endpoints, clock, log)
  const headsUrl = wsUrl ?? urls.find(announces)
  const announcer =
    headsUrl === undefined ? undefined : createAnnouncer({ url: headsUrl, timeoutMs, log, clock, random })
  const chunk = Math.max(1, Math.floor(batch / (traces ? 3 : 2)))
  const ahead = () => concurrency * endpoints.filter(it => !it.health.isUnhealthy).length
  const fetching = { chunk, ahead, bloom: options.bloom ?? true, traces, limits, log }

  /** A busy head limits the prefetch of a back-fill: nodes serve both from one queue. */
  let headAt = Number.NEGATIVE_INFINITY
  const aheadOf = (taken: number) => () =>
    clock.elapsed() - headAt < HEAD_BUSY_MS ? taken + endpoints.length : ahead()

  async function* follow(follow: FollowOptions): AsyncGenerator<ChainEvent> {
    const controller = new AbortController()
    const signal = AbortSignal.any([follow.signal, controller.signal])
    // Development nodes do not announce a cut-back chain.
    const safetyPollMs = options.shrinks ? 1_000 : undefined
    const heads = createHeads({
      rpc,
      budget: headBudget,
      clock,
      safetyPollMs,
      // A separate URL usually belongs to the first node.
      announcing: announcer && (endpoints[urls.indexOf(headsUrl!)] ?? endpoints[0]),
      ...(options.pollMs !== undefined && { pollMs: options.pollMs }),
    })
    const announcing = announcer?.run(heads, signal)
    let tip = follow.tip?.number
    const surveying = surveyNodes({ rpc, clock, pollMs: options.pollMs, tip: () => tip, stored: follow.stored }, signal)
    try {
      const settings = {
        ...fetching,
        headers: follow.headers ?? false,
        transactions: follow.transactions ?? false,
        urgent: true,
        rpc,
        heads,
        clock,
        random,
        shrinks: options.shrinks ?? false,
      }
      for await (const event of followChain({ ...follow, signal }, settings)) {
        headAt = clock.elapsed()
        tip = event.type === 'block' ? Number(event.block.block.number) : event.to
        yield event
      }
    } finally {
      controller.abort()
      await Promise.all([announcing, surveying])
    }
  }

  const finding = { rpc, batch, concurrency, bloom: options.bloom ?? true, limits, log, clock, random }
  const scoped = createScopedSource({ ...finding, verify: options.verifyLogs ?? false })
  const transactions = createTransactionSource({ ...finding, traces })

  // The head needs most of these for its blocks; a stalled back-fill sends none.
  const askState = <T>(
    calls: Call[],
    read: (answer: Answer, method: string) => T,
    signal: AbortSignal,
    urgent = true,
  ): Promise<T[]> =>
    rpc.attempt(
      async endpoint => {
        const answers = await endpoint.sendSmall(calls, signal, urgent)
        return answers.map((answer, i) => read(answer, calls[i]!.method))
      },
      signal,
      { tries: CALL_TRIES * endpoints.length, urgent },
    )

  const stateAt = createStateReads({ ask: (calls, signal) => askState(calls, toReadAnswer, signal), clock })
  const pastStateAt = createStateReads({
    ask: (calls, signal) => askState(calls, toReadAnswer, signal, false),
    clock,
    // The blocks of one range may lie before and after the contract.
    missingMs: 0,
  })

  return {
    chainId: signal => rpc.chainId(signal),
    head: signal =>
      rpc.attempt(async endpoint => (await rpc.headOf(endpoint, signal)).number, signal, { urgent: true }),
    finality: signal => readFinality(rpc, signal),
    range: range => fetchRange(rpc, range, { ...fetching, urgent: range.urgent ?? false, ahead: aheadOf(1) }),
    parts: (range, taker) => fetchParts(rpc, range, { ...fetching, ahead: aheadOf(taker.threads) }, taker),
    follow,
    scoped,
    transactions,
    call: (calls, signal) =>
      askState(
        calls.map(call => ({ method: 'eth_call', params: [call, 'latest'] })),
        toCallResult,
        signal,
      ),
    state: (questions, signal) => askState(questions.map(toMessage), toHex, signal),
    stateAt,
    pastStateAt,
    tracing: () => (traces ? rpc.tracing() : { method: null, why: 'traces are turned off for this network' }),
    waitsForBudget() {
      const [all, ofHead] = [rpc.waitsForBudget(), headBudget.waits()]
      return ofHead?.kind === 'budget' ? ofHead : (all ?? ofHead)
    },
    highest: rpc.highest,
    endpoints: () => [
      ...endpoints.map(it => it.status()),
      ...(announcer && wsUrl !== undefined ? [announcer.status()] : []),
    ],
    close: async () => {
      rpc.close()
      await Promise.all(endpoints.map(it => it.close()))
    },
  }
}

/** A revert or an oversized answer is a result; a node failure is not. */
const isOfContract = (answer: Answer): answer is { error: RpcError } =>
  answer.error !== undefined && (answer.error.code === ANSWER_TOO_LARGE || isRevert(answer.error))

const toCallResult = (answer: Answer, method: string): string | null =>
  isOfContract(answer) ? null : toHex(answer, method)

const toReadAnswer = (answer: Answer, method: string): StateAnswer => {
  if (method !== 'eth_call' || !isOfContract(answer)) return { hex: toHex(answer, method) }
  return { error: answer.error.message.slice(0, MAX_REASON).toWellFormed() }
}
/** Characters; contracts choose their reasons. */
const MAX_REASON = 256

const toHex = (answer: Answer, method: string): string => {
  if (answer.error !== undefined && isMissingMethod(answer.error))
    throw retry(LACKS_METHOD, `${method}: ${answer.error.message} (${answer.error.code})`)
  const result = resultOf(answer, method)
  if (typeof result === 'string' && /^0x[0-9a-fA-F]*$/.test(result)) return result.toLowerCase()
  throw retry('node_bad_answer', `${method}: the answer is not hex text`)
}

const toMessage = (question: StateQuestion): Call =>
  'codeOf' in question
    ? { method: 'eth_getCode', params: [question.codeOf, 'latest'] }
    : { method: 'eth_getStorageAt', params: [question.storageOf, question.slot, 'latest'] }

/** A call that one node cannot run must not block its caller for ever. */
const CALL_TRIES = 3

/** The newest safe and finalized blocks; asks other nodes if the first lacks a tag. */
const readFinality = async (rpc: Rpc, signal: AbortSignal): Promise<FinalityBlocks> => {
  let best: FinalityBlocks = { safe: null, finalized: null }
  const asked = new Set<Endpoint>()
  const ask = async (endpoint: Endpoint): Promise<FinalityBlocks> => {
    const [safe, finalized] = (await endpoint.send(FINALITY_CALLS, signal)).map(toMark)
    best = { safe: best.safe ?? safe!, finalized: best.finalized ?? finalized! }
    asked.add(endpoint)
    const isWhole = best.safe !== null && best.finalized !== null
    if (isWhole || asked.size === rpc.endpoints.length) return best
    throw retry(LACKS_METHOD, 'it has no block that is tagged as safe and finalized')
  }
  return rpc.attempt(ask, signal, { tries: rpc.endpoints.length })
}

const FINALITY_CALLS: readonly Call[] = ['safe', 'finalized'].map(tag => ({
  method: 'eth_getBlockByNumber',
  params: [tag, false],
}))

const toMark = (answer: Answer): BlockRef | null => {
  if (answer.error !== undefined || answer.result === null) return null
  const { number, hash } = toHead(answer.result)
  return { number, hash }
}
