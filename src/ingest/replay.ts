import { createBudget } from '../chain/budget/budget.ts'
import { openSpent } from '../chain/budget/spent-file.ts'
import { checkBlock, inconsistent } from '../chain/check/check-block.ts'
import { checkTraces } from '../chain/check/check-traces.ts'
import { fromCallTracer, fromTraceBlock, toTraceError } from '../chain/check/normal-traces.ts'
import { createMemory } from '../chain/rpc/answer-body.ts'
import { type Answer, type Call, isRevert, type RpcError, resultOf } from '../chain/rpc/answers.ts'
import { createEndpoint, type Endpoint } from '../chain/rpc/endpoint.ts'
import { BUDGET_USED } from '../chain/rpc/post.ts'
import { createRpc } from '../chain/rpc/rpc.ts'
import { CALL_TRACER } from '../chain/rpc/trace-methods.ts'
import {
  type RawBlock,
  type RpcBlock,
  type RpcReceipt,
  type RpcTrace,
  type RpcTransaction,
  toQuantity,
} from '../chain/wire.ts'
import { createDecoding } from '../decode/decoding.ts'
import type { Document } from '../documents/document.ts'
import { asBigint } from '../documents/show.ts'
import { hasFailed } from '../documents/traces.ts'
import { spentStem } from '../engine/files.ts'
import { createBlockDocuments } from '../engine/show/block-documents.ts'
import { ChainsieveError, refuse, retry } from '../lib/errors.ts'
import { type Log, silent } from '../lib/log.ts'
import { systemClock } from '../lib/retry.ts'
import type { Allowance } from '../limits/credits.ts'
import type { Limits } from '../limits/index.ts'
import type { StoredAbi } from './decoding/abi-files.ts'
import { openSignatures } from './decoding/open-decoding.ts'
import { createDocumentDecoder } from './decoding/prepare.ts'

interface TransactionReplayOptions {
  urls: readonly string[]
  allowances: readonly Allowance[]
  data: string
  network: string
  log: Log
  hash: string
  own: readonly StoredAbi[]
  codes: boolean
  timeoutMs: number | undefined
  limits: Limits
  signal: AbortSignal
}

interface Replayed {
  txs: ReplayedSource[]
  calls: ReplayedSource[]
  traces: ReplayedSource[]
  events: ReplayedSource[]
  logs: ReplayedSource[]
  untraced: string | undefined
  codes: ReadonlyMap<string, string>
}

type ReplayedSource = Record<string, unknown>

export const replayTransaction = async (options: TransactionReplayOptions): Promise<Replayed> => {
  const { urls, allowances, hash, own, limits, signal, timeoutMs = 60_000 } = options
  const memory = createMemory(limits.nodeAnswers)
  const reaching = { timeoutMs, batch: 20, concurrency: 4, limits, memory, log: silent, clock: systemClock }
  const spent = openSpent(spentStem(options.data, options.network), options.log)
  const endpoints = urls.map((url, i) => {
    const budget = createBudget(allowances[i] ?? {}, { url, clock: systemClock, spent })
    return createEndpoint(url, { ...reaching, budget, random: Math.random })
  })
  try {
    const rpc = createRpc({ endpoints, log: silent, clock: systemClock, random: Math.random })
    const work = async (endpoint: Endpoint) => {
      const raw = await readTransaction(endpoint, hash, { signal, limits })
      const untraced = await addTraces(endpoint, raw, { signal, limits })
      const sources = decodeSources(raw, own)
      const codes = options.codes ? await codesOf(endpoint, raw, sources, signal) : new Map<string, string>()
      return { ...sources, untraced, codes }
    }
    return await rpc.attempt(work, signal, { tries: endpoints.length, waits: false })
  } catch (error) {
    if (!(error instanceof ChainsieveError) || error.next !== 'retry') throw error
    if (error.code === BUDGET_USED) throw error
    const names = endpoints.map(({ name }) => name).join(', ')
    throw retry(error.code, `${names}: ${error.message}. Is the node running there? --rpc names another one.`, {
      cause: error,
    })
  } finally {
    await Promise.all(endpoints.map(endpoint => endpoint.close()))
  }
}

/** Loaded lazily, since reading them takes longest. */
let signatures: ReturnType<typeof openSignatures> | undefined

const decodeSources = (raw: RawBlock, own: readonly StoredAbi[]) => {
  signatures ??= openSignatures()
  const { registry, functions, errors } = signatures
  const decoding = createDecoding(registry, functions, errors, own)
  const decoded = createDocumentDecoder({ decoding: () => decoding, traces: 'all' })(raw)
  const unknown = { contracts: [], tokens: [], decimals: () => undefined }
  const documents = createBlockDocuments({ ...decoded, ...unknown }, asBigint)
  const sourcesOf = (all: readonly unknown[], build: (index: number) => Document): ReplayedSource[] =>
    all.map((_, index) => build(index)._source)
  return {
    txs: [documents.tx(0)._source],
    calls: sourcesOf(decoded.calls, documents.call),
    traces: sourcesOf(decoded.traces, documents.trace),
    logs: sourcesOf(decoded.logs, documents.log),
    events: decoded.logs.flatMap((_, index): ReplayedSource[] => {
      const event = documents.event(index)
      return event ? [event._source] : []
    }),
  }
}

/** Codes as of the transaction's block, or current ones if the node has no old states. */
const codesOf = async (
  endpoint: Endpoint,
  { block }: RawBlock,
  { txs, traces, logs }: Pick<Replayed, 'txs' | 'traces' | 'logs'>,
  signal: AbortSignal,
): Promise<Map<string, string>> => {
  const asked = [
    ...txs.map(({ to }) => to),
    ...traces.map(({ action }) => (action as ReplayedSource).to),
    ...logs.map(({ address }) => address),
  ]
  const addresses = [...new Set(asked)].filter(it => typeof it === 'string')
  const codes = new Map<string, string>()
  for (const at of [block.number, 'latest']) {
    const missing = addresses.filter(address => !codes.has(address))
    if (missing.length === 0) break
    const calls = missing.map(address => ({ method: 'eth_getCode', params: [address, at] }))
    const answers = await endpoint.sendSmall(calls, signal)
    for (const [i, { error, ...answer }] of answers.entries())
      if (error === undefined && 'result' in answer && typeof answer.result === 'string')
        codes.set(missing[i]!, answer.result)
  }
  return codes
}

const readTransaction = async (
  endpoint: Endpoint,
  hash: string,
  { signal, limits }: { signal: AbortSignal; limits: Limits },
): Promise<RawBlock> => {
  const ask = async (method: string, ...params: unknown[]) => {
    const [answer] = await endpoint.send([{ method, params }], signal)
    return resultOf(answer!, method)
  }
  const tx = (await ask('eth_getTransactionByHash', hash)) as RpcTransaction | null
  if (tx === null)
    throw refuse(
      'unknown_transaction',
      `${endpoint.name} does not have the transaction ${hash}: check the hash, and name its node with --rpc.`,
    )
  if (typeof tx.blockHash !== 'string')
    throw refuse('pending_transaction', `The transaction ${hash} is not in a block yet: try again when it is.`)
  const block = (await ask('eth_getBlockByHash', tx.blockHash, false)) as RpcBlock | null
  const receipt = (await ask('eth_getTransactionReceipt', hash)) as RpcReceipt | null
  if (block === null || receipt === null || !Array.isArray(block.transactions))
    throw retry('block_missing', `${endpoint.name} does not have block ${tx.blockHash} of the transaction any more`)
  if (tx.hash !== hash) throw inconsistent(`${endpoint.name} answers for ${hash} with the transaction ${tx.hash}`)
  const excerpt = { ...block, transactions: [tx], transactionCount: Math.max(2, block.transactions.length) }
  const raw: RawBlock = { block: excerpt, receipts: [receipt] }
  checkBlock(raw, { excerpts: true, bloom: false, limits })
  return raw
}

interface ReplayLimits {
  signal: AbortSignal
  limits: Limits
}

/** Adds the traces of a transaction, or returns why there are none, with details of a failure. */
const addTraces = async (endpoint: Endpoint, raw: RawBlock, asking: ReplayLimits): Promise<string | undefined> => {
  const [{ hash }] = raw.block.transactions as [RawBlock['block']['transactions'][number]]
  const refusals: string[] = []
  for (const { method, params, read } of TRACE_METHODS) {
    const [answer] = await endpoint.send([{ method, params: [hash, ...params] }], asking.signal)
    try {
      // The block has one transaction here, at any position.
      const transactionPosition = Number(raw.block.transactions[0]!.transactionIndex)
      const traces = read(raw, resultOf(answer!, method), asking.limits).map(it => ({ ...it, transactionPosition }))
      checkTraces({ ...raw, traces: traces as RpcTrace[] }, asking.limits)
      raw.traces = traces as RpcTrace[]
      return undefined
    } catch (error) {
      if (!(error instanceof ChainsieveError)) throw error
      refusals.push(answer!.error === undefined ? `${method}: ${error.message}` : error.message)
    }
  }
  const without = `The node gives no traces, so inner calls are not known (${refusals.join('; ')}).`
  return hasFailed(raw.receipts[0]!) ? `${without} ${await callAgain(endpoint, raw, asking)}` : without
}

interface TraceReader {
  method: string
  params: readonly unknown[]
  read(raw: RawBlock, result: unknown, limits: Limits): RpcTrace[]
}

const TRACE_METHODS: readonly TraceReader[] = [
  {
    method: 'debug_traceTransaction',
    params: [CALL_TRACER],
    read: (raw, result, limits) => {
      const txHash = raw.block.transactions[0]!.hash
      return fromCallTracer(raw, [{ txHash, result }], { limits })
    },
  },
  { method: 'trace_transaction', params: [], read: ({ block }, result) => fromTraceBlock(block, result) },
]

/** Calls again as the first of its block; the answer becomes the outer trace. */
const callAgain = async (endpoint: Endpoint, raw: RawBlock, { signal, limits }: ReplayLimits): Promise<string> => {
  const before = Number(raw.block.number) - 1
  const [answer] = await endpoint.send([repeatedCall(raw, before)], signal)
  const source = `eth_call on the state after block ${before}`
  const { error } = answer as Answer
  if (error === undefined)
    return `${source} does not fail: earlier transactions of block ${before + 1} may be the cause.`
  const data = revertDataIn(error)
  // The node may lack the method or the state, which does not concern the transaction.
  if (data === undefined && !isRevert(error)) return `${source} does not answer, either: ${error.message}.`
  const trace = outerCall(raw, data === undefined ? toTraceError(error.message) : 'Reverted', data)
  raw.traces = [trace]
  checkTraces(raw, limits)
  return `The reason comes from ${source}, without earlier transactions of block ${before + 1}.`
}

const repeatedCall = ({ block }: RawBlock, before: number): Call => {
  const { from, to, gas, value, input } = block.transactions[0]!
  const call = { from, ...(to && { to }), gas, value, data: input }
  return { method: 'eth_call', params: [call, toQuantity(before)] }
}

const revertDataIn = ({ data }: Pick<RpcError, 'data'>): string | undefined => {
  for (let at: unknown = data, depth = 0; depth < 4; depth++) {
    // Parity: "Reverted 0x…".
    if (typeof at === 'string') return /(?:^|\s)(0x(?:[\da-f]{2})*)$/i.exec(at)?.[1]?.toLowerCase()
    if (typeof at !== 'object' || at === null) return undefined
    const { data: inner, originalError } = at as Record<string, unknown>
    at = inner ?? originalError
  }
  return undefined
}

const outerCall = ({ block, receipts }: RawBlock, error: string, data: string | undefined): RpcTrace => {
  const { hash, from, to, gas, value, input, transactionIndex } = block.transactions[0]!
  const gasUsed = receipts[0]!.gasUsed as string
  const place = {
    blockHash: block.hash,
    blockNumber: Number(block.number),
    transactionHash: hash,
    transactionPosition: Number(transactionIndex),
    subtraces: 0,
    traceAddress: [],
    error,
  }
  if (!to) {
    const result = data === undefined ? null : { code: data, gasUsed }
    return { ...place, type: 'create', action: { from, gas, init: input, value }, result }
  }
  const result = data === undefined ? null : { output: data, gasUsed }
  return { ...place, type: 'call', action: { callType: 'call', from, to, gas, input, value }, result }
}
