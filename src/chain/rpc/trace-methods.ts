import type { Log } from '../../lib/log.ts'
import type { Clock } from '../../lib/retry.ts'
import type { Tracing } from '../source.ts'
import { type Call, isMissingBlock, isMissingMethod, probeMethod, type RpcError, resultOf } from './answers.ts'
import type { Endpoint } from './endpoint.ts'

export type TraceMethod = 'trace_block' | 'debug_traceBlockByNumber'

export type Tracer = ReturnType<typeof createTracer>

/** Waits for traces, unless all nodes that answer within `GRACE_MS` lack them. */
export const createTracer = (options: { endpoints: readonly Endpoint[]; clock: Clock; log: Log }) => {
  const { endpoints, clock, log } = options
  const asking = new Map<Endpoint, Promise<void>>()
  let since: number | undefined
  let isWarned = false

  const status = (): Tracing | undefined => {
    const method = endpoints.find(it => it.traces.method)?.traces.method
    if (method) return { method }
    const lacking = endpoints.filter(it => it.traces.method === null)
    const isLate = since !== undefined && clock.elapsed() - since > GRACE_MS
    if (lacking.length === 0 || (lacking.length < endpoints.length && !isLate)) return undefined
    return { method: null, why: lacking.map(it => `${it.name} has no traces (${it.traces.why})`).join('; ') }
  }

  const probe = async (endpoint: Endpoint, signal: AbortSignal) => {
    const before = endpoint.traces.method
    const refusals: string[] = []
    let found: TraceMethod | null = null
    for (const method of METHODS) {
      const refusal = await refusalOf(endpoint, method, signal)
      if (refusal === undefined) {
        found = method
        break
      }
      refusals.push(`${method}: ${refusal}`)
    }
    Object.assign(endpoint.traces, { method: found, why: refusals.join(', '), asked: true })
    if (found !== null && found !== before)
      log.info('Reads traces from the node', { endpoint: endpoint.name, method: found })
    const now = status()
    if (now?.method !== null) isWarned = false
    else if (!isWarned) {
      isWarned = true
      log.warn('Continues without traces: no node has them', { why: now.why, remedy: TRACES_REMEDY })
    }
  }

  return {
    async ask(endpoint: Endpoint, signal: AbortSignal) {
      while (!endpoint.traces.asked) {
        const others = asking.get(endpoint)
        // The other probe may fail for its own reasons, e.g. an abort: then this one probes.
        if (others !== undefined) await others.catch(() => {})
        else {
          const own = probe(endpoint, signal).finally(() => asking.delete(endpoint))
          asking.set(endpoint, own)
          await own
        }
        signal.throwIfAborted()
      }
    },
    /** False for a node without traces while another one has them, or may have them. */
    suits(endpoint: Endpoint): boolean {
      since ??= clock.elapsed()
      return endpoint.traces.method !== null || status()?.method === null
    },
    status,
  }
}

export const traceCall = (method: TraceMethod, at: number | 'latest'): Call => {
  const block = at === 'latest' ? at : `0x${at.toString(16)}`
  return { method, params: method === 'trace_block' ? [block] : [block, CALL_TRACER] }
}

export const traceResultOf = (endpoint: Endpoint, answer: Parameters<typeof resultOf>[0], number: number): unknown => {
  const { error } = answer
  const { method } = endpoint.traces
  // A node may restart with fewer methods.
  if (error !== undefined && method && isMissingTraces(method, error)) endpoint.traces.asked = false
  const hint = error !== undefined && isMissingBlock(error) ? HINT : ''
  return resultOf(answer, `traces of block ${number}${hint}`, number)
}

const refusalOf = (endpoint: Endpoint, method: TraceMethod, signal: AbortSignal): Promise<string | undefined> =>
  probeMethod(endpoint, signal, true, async send => {
    let { error } = await send(traceCall(method, 0))
    // Gateways report pruned blocks this way for any method.
    if (error && isMissingBlock(error) && !isMissingTraces(method, error))
      ({ error } = await send(traceCall(method, 'latest')))
    return error && isMissingTraces(method, error) ? error : undefined
  })

/** Whether an error means that the node lacks the method, not that a call failed. */
export const isMissingTraces = (method: TraceMethod, error: RpcError): boolean =>
  isMissingMethod(error) ||
  (error.message.includes(method) &&
    /not (available|supported|enabled|allowed|permitted)|unsupported|disabled|upgrade/i.test(error.message))

const METHODS: readonly TraceMethod[] = ['trace_block', 'debug_traceBlockByNumber']
/** Geth aborts a transaction after five seconds by default. */
export const CALL_TRACER = {
  tracer: 'callTracer',
  timeout: '20s',
  tracerConfig: { onlyTopCall: false, withLog: false },
}

const HINT = ' (the node seems not to keep states of that age: use an archive node, begin later, or turn traces off)'

const GRACE_MS = 60_000
const TRACES_REMEDY =
  'use a node with trace_block (Erigon, Nethermind, Reth, anvil) or with the debug namespace enabled (geth --http.api eth,debug), or turn traces off for this network'
