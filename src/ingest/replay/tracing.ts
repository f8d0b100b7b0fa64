import { checkTraces } from '../../chain/check/check-traces.ts'
import { fromCallTracer, fromTraceBlock, toTraceError } from '../../chain/check/normal-traces.ts'
import { type Answer, type Call, isRevert, type RpcError, resultOf } from '../../chain/rpc/answers.ts'
import type { Endpoint } from '../../chain/rpc/endpoint.ts'
import { toQuantity } from '../../chain/rpc/headers.ts'
import { CALL_TRACER } from '../../chain/rpc/trace-methods.ts'
import type { RawBlock, RpcTrace } from '../../chain/wire.ts'
import { hasFailed } from '../../documents/traces.ts'
import { ChainsieveError } from '../../lib/errors.ts'
import type { Limits } from '../../limits/index.ts'

interface Asking {
  signal: AbortSignal
  limits: Limits
}

/** Adds the traces of a transaction to its block. Where the node has none: why, and where what is known of a failure comes from. */
export const addTraces = async (endpoint: Endpoint, raw: RawBlock, asking: Asking): Promise<string | undefined> => {
  const [{ hash }] = raw.block.transactions as [RawBlock['block']['transactions'][number]]
  const refusals: string[] = []
  for (const { method, params, read } of METHODS) {
    const [answer] = await endpoint.send([{ method, params: [hash, ...params] }], asking.signal)
    try {
      // Here the block has one transaction, whatever its place is.
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

interface Method {
  method: string
  params: readonly unknown[]
  read(raw: RawBlock, result: unknown, limits: Limits): RpcTrace[]
}

const METHODS: readonly Method[] = [
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

/** Asks what the transaction would return if it were the first one of its block; what it says is kept as the trace of the outer call. */
const callAgain = async (endpoint: Endpoint, raw: RawBlock, { signal, limits }: Asking): Promise<string> => {
  const before = Number(raw.block.number) - 1
  const [answer] = await endpoint.send([callOf(raw, before)], signal)
  const source = `eth_call on the state after block ${before}`
  const { error } = answer as Answer
  if (error === undefined)
    return `${source} does not fail: earlier transactions of block ${before + 1} may be the cause.`
  const data = revertDataIn(error)
  // The node may lack the method, or the state: that says nothing of the transaction.
  if (data === undefined && !isRevert(error)) return `${source} does not answer, either: ${error.message}.`
  const trace = outerCall(raw, data === undefined ? toTraceError(error.message) : 'Reverted', data)
  raw.traces = [trace]
  checkTraces(raw, limits)
  return `The reason comes from ${source}, without earlier transactions of block ${before + 1}.`
}

const callOf = ({ block }: RawBlock, before: number): Call => {
  const { from, to, gas, value, input } = block.transactions[0]!
  const call = { from, ...(to && { to }), gas, value, data: input }
  return { method: 'eth_call', params: [call, toQuantity(before)] }
}

/** The bytes that a contract returned, wherever the node puts them. */
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
