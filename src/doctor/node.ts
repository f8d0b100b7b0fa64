import { type MessageEvent, WebSocket } from 'undici'
import { type Budget, type BudgetStatus, createBudget } from '../chain/budget/budget.ts'
import { openSpent } from '../chain/budget/spent-file.ts'
import { createMemory } from '../chain/rpc/answer-body.ts'
import { type Answer, type Call, isMissingMethod } from '../chain/rpc/answers.ts'
import { createEndpoint, type Endpoint } from '../chain/rpc/endpoint.ts'
import { BUDGET_USED } from '../chain/rpc/post.ts'
import { isMissingTraces } from '../chain/rpc/trace-methods.ts'
import { authorization, createHider, parseNodeUrl } from '../chain/rpc/transport.ts'
import type { Config, NetworkConfig } from '../config/index.ts'
import { allowancesOf } from '../config/kinds.ts'
import { createBlocks } from '../engine/blocks.ts'
import { spentStem, storedNetworks, storeFile } from '../engine/files.ts'
import { readStore } from '../engine/open.ts'
import type { ChainsieveError } from '../lib/errors.ts'
import { silent } from '../lib/log.ts'
import { formatSeconds } from '../lib/progress.ts'
import { systemClock } from '../lib/retry.ts'
import type { Secret } from '../lib/secret.ts'
import { type Finding, findingsAbout } from './finding.ts'
import type { ObservedTimes } from './machine.ts'

/** The nodes of each network: identity, head, and abilities. */
export async function* checkNodes(config: Config, watch: ObservedTimes, signal: AbortSignal): AsyncGenerator<Finding> {
  const { networks } = config
  if (networks.every(({ rpc }) => rpc.length === 0))
    yield findingsAbout('node', 'nodes').warn(
      'none is configured: what is stored is served, and no block is added',
      'Name a network and its node: --network T/B/N --rpc URL',
    )
  for (const network of networks) {
    const chains: { node: string; id: number }[] = []
    const stored = storedChain(config.data, network.network)
    if (stored !== undefined) chains.push({ node: 'what is stored', id: stored })
    const spent = openSpent(spentStem(config.data, network.network), silent)
    const allowances = allowancesOf(network)
    for (const [i, rpc] of network.rpc.entries()) {
      const budget = createBudget(allowances[i]!, { url: rpc.reveal(), clock: systemClock, spent })
      yield* checkNode({ config, network, watch, signal, chains, budget }, rpc.reveal())
    }
    if (network.ws) yield await checkWebSocket(network.ws, patienceOf(network))
  }
}

interface NodeCheck {
  config: Config
  network: NetworkConfig
  watch: ObservedTimes
  signal: AbortSignal
  /** Known chains of the network, and the source of each. */
  chains: { node: string; id: number }[]
  /** Shared with a running server. */
  budget: Budget | undefined
}

const patienceOf = ({ requestTimeout }: NetworkConfig): number => Math.min(requestTimeout, NODE_CHECK_TIMEOUT_MS)

async function* checkNode(asked: NodeCheck, url: string): AsyncGenerator<Finding> {
  const { config, network, signal, budget } = asked
  const { rpcBatch: batch, rpcConcurrency: concurrency } = network
  const endpoint = createEndpoint(url, {
    timeoutMs: patienceOf(network),
    ...{ batch, concurrency, limits: config.limits, memory: createMemory(config.limits.nodeAnswers) },
    ...{ budget, log: silent, clock: systemClock, random: Math.random },
  })
  const subject = `${network.network} at ${endpoint.name}`
  const { fail } = findingsAbout('node', subject)
  try {
    const head = await greet(asked, endpoint)
    yield* head.findings
    if (head.number === undefined) return
    yield await abilities(asked, endpoint, subject, head.number)
    yield await speed(endpoint, subject, concurrency, signal)
    const left = leftOf(subject, budget?.status())
    if (left) yield left
  } catch (error) {
    signal.throwIfAborted()
    const used = usedUp(subject, error as ChainsieveError, budget?.status())
    if (used) return yield used
    if ((error as ChainsieveError).next !== 'retry') throw error
    yield fail(
      (error as Error).message,
      'Check the URL, its key, and whether the node runs and can be reached from here.',
    )
  } finally {
    await endpoint.close()
  }
}

/** Chain and head. */
const greet = async (
  { network, watch, chains, signal }: NodeCheck,
  endpoint: Endpoint,
): Promise<{ number?: number; findings: Finding[] }> => {
  const { ok, warn, fail } = findingsAbout('node', `${network.network} at ${endpoint.name}`)
  const [chain, block, syncing] = (await endpoint.send(
    [
      { method: 'eth_chainId', params: [] },
      { method: 'eth_getBlockByNumber', params: ['latest', false] },
      { method: 'eth_syncing', params: [] },
    ],
    signal,
  )) as [Answer, Answer, Answer]
  const at = Date.now()
  const id = blockNumberIn(resultIn(chain))
  const { number: height, timestamp } = (resultIn(block) ?? {}) as { number?: unknown; timestamp?: unknown }
  const [number, time] = [blockNumberIn(height), blockNumberIn(timestamp)]
  if (id === undefined || number === undefined || time === undefined)
    return {
      findings: [
        fail(
          `does not report its chain and its newest block${whyOf([chain, block])}`,
          'Check that the URL is that of a JSON-RPC endpoint of an EVM node.',
        ),
      ],
    }
  const other = chains.find(it => it.id !== id)
  if (other)
    return {
      findings: [
        fail(
          `is of chain ${id}, but ${other.node} is of chain ${other.id}`,
          'Remove its URL, or give it a network of its own.',
        ),
      ],
    }
  chains.push({ node: endpoint.name, id })
  watch.heads.push({ node: endpoint.name, time, at })

  const age = Math.max(0, Math.round(at / 1_000 - time))
  const findings = [ok(`chain ${id}, newest block ${number}, ${formatSeconds(age)} old`)]
  const stale = network.staleAfter === undefined ? STALE_S : network.staleAfter / 1_000
  if (stale > 0 && age > stale)
    findings.push(
      warn(
        `its newest block is ${formatSeconds(age)} old`,
        'Wait until the node has caught up, or use another. Where a chain makes blocks only now and then, set --stale-after.',
      ),
    )
  const progress = resultIn(syncing)
  if (typeof progress === 'object' && progress !== null)
    findings.push(warn('it is still syncing', 'Wait until it is done: until then blocks come late.'))
  return { number, findings }
}

/** Optional abilities of a node, each with what needs it. */
const abilities = async (
  { network, signal }: NodeCheck,
  endpoint: Endpoint,
  subject: string,
  head: number,
): Promise<Finding> => {
  const { ok, warn, fail } = findingsAbout('node', subject)
  const old = firstStoredByNode(network, head)
  const ask = async (call: Call): Promise<Answer> => (await endpoint.send([call], signal))[0]!
  const receipts = await ask({ method: 'eth_getBlockReceipts', params: [hex(head)] })
  const oldBlock = await ask({ method: 'eth_getBlockByNumber', params: [hex(old), false] })
  const oldState = await ask({ method: 'eth_getBalance', params: [`0x${'00'.repeat(20)}`, hex(old)] })
  const trace = await ask({ method: 'trace_block', params: [hex(head)] })
  const debug = await ask({
    method: 'debug_traceBlockByNumber',
    params: [hex(head), { tracer: 'callTracer', timeout: '5s' }],
  })
  const traces = [
    ...(canCall('trace_block', trace) ? ['trace_block'] : []),
    ...(canCall('debug_traceBlockByNumber', debug) ? ['debug_traceBlockByNumber'] : []),
  ]
  const whole = receipts.error === undefined || !isMissingMethod(receipts.error)
  const archive = oldState.error === undefined
  const text = [
    whole ? 'receipts of whole blocks' : 'receipts one by one',
    traces.length > 0 ? `traces (${traces.join(', ')})` : 'no traces',
    archive ? `states back to block ${old}` : 'recent states only',
  ].join(', ')

  if (oldBlock.error !== undefined || oldBlock.result === null)
    return fail(
      `${text}; it does not have block ${old}${whyOf([oldBlock])}`,
      'Use a node with the whole history, or begin later with --from.',
    )
  if (network.traces !== 'off' && traces.length === 0)
    return fail(
      `${text}; but --traces ${network.traces} is set`,
      'Use a node with trace_block (Erigon, Nethermind, Reth) or the debug namespace (geth --http.api eth,debug), or set --traces off.',
    )
  if (network.traces !== 'off' && !archive)
    return warn(
      `${text}; but --traces ${network.traces} needs states of all blocks`,
      'Use an archive node, or begin later with --from.',
    )
  if (!whole) return warn(text, 'Use a node with eth_getBlockReceipts: without it, indexing takes many times as long.')
  return ok(text)
}

/** The oldest block that is to be indexed. */
const firstStoredByNode = ({ from }: NetworkConfig, head: number): number => {
  if (from === undefined) return Math.min(1, head)
  return 'block' in from ? Math.min(from.block, head) : Math.max(0, head - from.latest)
}

const canCall = (method: 'trace_block' | 'debug_traceBlockByNumber', { error }: Answer): boolean =>
  error === undefined || !isMissingTraces(method, error)

/** Measures latency, and tests as many concurrent requests as indexing will send. */
const speed = async (
  endpoint: Endpoint,
  subject: string,
  concurrency: number,
  signal: AbortSignal,
): Promise<Finding> => {
  const { ok, warn } = findingsAbout('node', subject)
  const call = { method: 'eth_blockNumber', params: [] }
  const times: number[] = []
  for (let i = 0; i < SAMPLES; i++) {
    const started = performance.now()
    await endpoint.send([call], signal)
    times.push(performance.now() - started)
  }
  const ms = times.sort((a, b) => a - b)[SAMPLES >> 1]!
  // No more than what a rate lets through at once.
  const burst = Math.min(BURST, endpoint.budget?.mostCalls([call], endpoint.chainId) ?? BURST)
  const began = performance.now()
  const answers = await Promise.allSettled(Array.from({ length: burst }, () => endpoint.send([call], signal)))
  const failed = answers.filter(it => it.status === 'rejected')
  const refused = failed.find(({ reason }) => reason.code === BUDGET_USED)
  if (refused) throw refused.reason
  const rate = Math.round(burst / ((performance.now() - began) / 1_000))
  if (failed.length > 0)
    return warn(
      `refused ${failed.length} of ${burst} requests at once: ${failed[0]!.reason.message}`,
      `Lower --rpc-concurrency (now ${concurrency}), or use a plan with a higher rate. Until then, indexing slows down by itself.`,
    )
  const text = `answers within ${ms.toFixed(1)} ms, ${rate} requests/s`
  return ms > SLOW_ANSWER_MS ? warn(text, 'Use a node nearer by: the head arrives as much later.') : ok(text)
}

/** Chain id of a stored network; undefined if nothing is stored. */
const storedChain = (data: string, network: string): number | undefined => {
  if (!storedNetworks(data).includes(network)) return undefined
  try {
    return readStore(storeFile(data, network), db => createBlocks(db).chainId())
  } catch {
    // The check of stores reports errors.
    return undefined
  }
}

const resultIn = (answer: Answer): unknown => (answer.error === undefined ? answer.result : undefined)

const blockNumberIn = (value: unknown): number | undefined => {
  const number = typeof value === 'number' || (typeof value === 'string' && value !== '') ? Number(value) : Number.NaN
  return Number.isSafeInteger(number) ? number : undefined
}

const whyOf = (answers: readonly Answer[]): string => {
  const error = answers.find(it => it.error !== undefined)?.error
  return error === undefined ? '' : `: ${error.message.slice(0, 200)} (${error.code})`
}

const hex = (number: number): string => `0x${number.toString(16)}`

const NODE_CHECK_TIMEOUT_MS = 10_000
const STALE_S = 600
const SAMPLES = 5
const BURST = 40
const SLOW_ANSWER_MS = 500

/** Whether the node announces new blocks there. */
const checkWebSocket = async (address: Secret, timeoutMs: number): Promise<Finding> => {
  const { ok, warn } = findingsAbout('node', `WebSocket at ${address}`)
  const why = await subscribeToHeads(address.reveal(), timeoutMs)
  return why === undefined
    ? ok('takes a subscription to new blocks')
    : warn(why, 'Check --ws. Until it works, the head is polled, and blocks come a little later.')
}

/** Why it failed; undefined if it worked. */
const subscribeToHeads = (text: string, timeoutMs: number): Promise<string | undefined> =>
  new Promise(resolve => {
    const url = parseNodeUrl(text, ['ws:', 'wss:'])
    const hide = createHider(url)
    const socket = new WebSocket(bare(url), { headers: authorization(url) })
    const settle = (why?: string) => {
      clearTimeout(timer)
      socket.close()
      resolve(why)
    }
    const timer = setTimeout(() => settle(`does not answer within ${timeoutMs / 1_000} s`), timeoutMs)
    socket.onopen = () =>
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] }))
    socket.onmessage = ({ data }: MessageEvent) => settle(refusalIn(String(data), hide))
    socket.onerror = () => settle('cannot be connected to')
    socket.onclose = () => settle('closed the connection')
  })

/** Credentials go in a header. */
const bare = (url: URL): string => {
  const copy = new URL(url)
  copy.username = ''
  copy.password = ''
  return copy.href
}

const refusalIn = (text: string, hide: (text: string) => string): string | undefined => {
  try {
    const { result, error } = JSON.parse(text) as { result?: unknown; error?: { message?: unknown } }
    if (typeof result === 'string') return undefined
    return `refuses a subscription to new blocks: ${hide(String(error?.message ?? 'no reason'))}`
  } catch {
    return 'answers what is not JSON'
  }
}

/** Rest of a node's budget; undefined without a daily or monthly limit. */
const leftOf = (subject: string, status: BudgetStatus | undefined): Finding | undefined =>
  status && (status.day || status.month) ? findingsAbout('node', subject).ok(budgetText(status)) : undefined

/** The finding for an error caused by an exhausted budget; undefined for other errors. */
const usedUp = (subject: string, error: ChainsieveError, status: BudgetStatus | undefined): Finding | undefined => {
  if (error.code !== BUDGET_USED || !status) return undefined
  return findingsAbout('node', subject).warn(
    `its budget is used up, but for what is kept for the head, so it is not looked at: ${budgetText(status)}`,
    'Wait until then, or raise --rpc-daily and --rpc-month.',
  )
}

const budgetText = ({ costs, day, month }: BudgetStatus): string => {
  const unit = costs === 'calls' ? 'calls' : 'credits'
  const parts = [
    { period: day, when: 'today' },
    { period: month, when: 'this month' },
  ].flatMap(({ period, when }) =>
    period ? [`${period.left} of ${period.limit} ${unit} left ${when} (until ${period.endsAt.slice(0, 16)}Z)`] : [],
  )
  return parts.join(', ')
}
