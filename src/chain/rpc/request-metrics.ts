import { hostsOf } from '../../lib/hosts.ts'
import type { Metrics } from '../../lib/metrics.ts'

/** Told of each request: how many calls were in it, how long its answer took, and whether that was of use. */
export type RequestCounter = (calls: number, seconds: number, ok: boolean) => void

const BOUNDS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20]

export type RpcMetrics = ReturnType<typeof createRpcMetrics>

/** Metrics of requests to nodes. A node is named by its host: the rest of its address may hold a key. */
export const createRpcMetrics = (metrics: Metrics, urls: readonly string[]) => {
  const requests = metrics.counter('chainsieve_rpc_requests_total', 'HTTP requests to a node, by outcome.')
  const calls = metrics.counter('chainsieve_rpc_calls_total', 'JSON-RPC calls in requests to a node.')
  const latency = metrics.histogram(
    'chainsieve_rpc_request_duration_seconds',
    'Time from a request to a node to its answer or failure.',
    BOUNDS_S,
  )
  const hosts = hostsOf(urls)
  return {
    /** `node`: its place among the addresses. */
    of(node: number): RequestCounter {
      const endpoint = hosts[node]!
      const observe = latency.of({ endpoint })
      for (const outcome of ['ok', 'error']) requests.add({ endpoint, outcome }, 0)
      return (count, seconds, ok) => {
        requests.add({ endpoint, outcome: ok ? 'ok' : 'error' })
        calls.add({ endpoint }, count)
        observe(seconds)
      }
    },
  }
}
