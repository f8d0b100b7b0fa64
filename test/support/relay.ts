import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface RelayError {
  code: number
  message: string
}

export interface RelayCall {
  id: number
  method: string
  params: unknown[]
}

/** A proxy on loopback before a real node. All settings may be changed while it runs. */
export interface Relay {
  url: string
  target: string
  counts: Record<string, number>
  /** HTTP requests that were refused for the rate. */
  refused: number
  /** Methods that it does not have, by how their names begin. */
  without: readonly string[]
  /** Blocks below this one, their receipts, logs and traces are answered with `pruned`: an error, or null as the result. */
  prunedBelow: number
  pruned: RelayError | null
  /** Methods that are answered for pruned blocks, too. */
  keeps: readonly string[]
  /** Calls in any second; requests beyond are refused by HTTP 429, or by an error of JSON-RPC where `rateError` is one. */
  callsPerSecond: number
  rateError: RelayError | undefined
  retryAfter: string | undefined
  /** Looks at each result before it is sent, and may change or replace it. */
  lie(call: RelayCall, result: unknown): unknown
}

/** Passes requests on to a node and counts the calls in them. It has no methods whose names begin with one of `without`. */
export const startRelay = async (
  t: { after(fn: () => void): void },
  target: string,
  without: readonly string[] = [],
): Promise<Relay> => {
  const relay: Relay = {
    ...{ url: '', target, counts: {}, refused: 0, without },
    ...{ prunedBelow: 0, pruned: { code: 4444, message: 'pruned history unavailable' }, keeps: [] },
    ...{ callsPerSecond: Number.POSITIVE_INFINITY, rateError: undefined, retryAfter: undefined },
    lie: (_, result) => result,
  }
  /** When the calls of the last second came. */
  let passed: number[] = []
  const mayPass = (calls: number): boolean => {
    const now = performance.now()
    passed = passed.filter(at => now - at < 1_000)
    if (passed.length + calls > relay.callsPerSecond) return false
    for (let i = 0; i < calls; i++) passed.push(now)
    return true
  }
  const ownAnswer = ({ id, method, params }: RelayCall) => {
    if (relay.without.some(name => method.startsWith(name)))
      return { jsonrpc: '2.0', id, error: { code: -32601, message: `the method ${method} does not exist` } }
    if (!(blockOf(method, params) < relay.prunedBelow) || relay.keeps.includes(method)) return undefined
    return { jsonrpc: '2.0', id, ...(relay.pruned ? { error: relay.pruned } : { result: null }) }
  }
  const pass = async (calls: RelayCall[]): Promise<unknown[]> => {
    const own = calls.map(ownAnswer)
    const asked = calls.filter((_, i) => own[i] === undefined)
    if (asked.length === 0) return own
    const answer = await fetch(relay.target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(asked),
    })
    const answers = (await answer.json()) as { id: number; result?: unknown }[]
    return calls.map((call, i) => {
      if (own[i] !== undefined) return own[i]
      const given = answers.find(({ id }) => id === call.id)
      return given?.result === undefined ? given : { ...given, result: relay.lie(call, given.result) }
    })
  }

  const server = createServer(async (request, response) => {
    try {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = JSON.parse(Buffer.concat(chunks).toString())
      const calls = [body].flat() as RelayCall[]
      for (const { method } of calls) relay.counts[method] = (relay.counts[method] ?? 0) + 1
      if (!mayPass(calls.length)) {
        relay.refused++
        if (relay.retryAfter !== undefined) response.setHeader('retry-after', relay.retryAfter)
        const error = relay.rateError ?? { code: 429, message: 'Too Many Requests' }
        response.statusCode = relay.rateError ? 200 : 429
        const refusals = calls.map(({ id }) => ({ jsonrpc: '2.0', id, error }))
        return response.end(JSON.stringify(Array.isArray(body) ? refusals : refusals[0]))
      }
      const answers = await pass(calls)
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]))
    } catch {
      // The node is down: as if nothing was here.
      response.destroy()
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  relay.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return relay
}

/** The block that a call is about; NaN where it names none by its number. */
const blockOf = (method: string, [first]: unknown[]): number => {
  if (method === 'eth_getLogs') return Number((first as { fromBlock?: string }).fromBlock)
  return /^(eth_getBlockByNumber|eth_getBlockReceipts|trace_block|debug_traceBlockByNumber)$/.test(method)
    ? Number(first)
    : Number.NaN
}
