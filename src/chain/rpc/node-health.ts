import type { ChainsieveError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { backoff, type Clock } from '../../lib/retry.ts'
import { hostsOf } from '../../lib/secret.ts'
import type { Metrics } from '../../metrics/index.ts'
import type { EndpointStatus } from '../source.ts'
import { OTHER_CHAIN } from './answers.ts'

export type Health = ReturnType<typeof createHealth>

/**
 * Health of a node, as a circuit breaker has it. After a failure to answer it is unhealthy until a
 * probe succeeds, and gets no call during its backoff. After a wrong answer it is degraded for some
 * seconds: others are preferred.
 */
export const createHealth = (options: {
  name: string
  log: Log
  clock: Clock
  random: () => number
  /** Called if the node is unreachable: the URL may lead to another node afterwards. */
  onUnreachable(): void
}) => {
  const { name, log, clock, random, onUnreachable } = options
  let errors = 0
  let lastError: string | null = null
  let lastErrorAt: string | null = null
  let epoch = 0
  let failures = 0
  let failingSince = 0
  let loggedAt = Number.NEGATIVE_INFINITY
  let logged: string | undefined
  let backoffUntil = 0
  let degradedUntil = 0
  let isUnhealthy = false

  const note = (message: string) => {
    errors++
    lastError = message
    lastErrorAt = new Date(clock.now()).toISOString()
  }

  return {
    get backoffUntil(): number {
      return backoffUntil
    },
    get degradedUntil(): number {
      return degradedUntil
    },
    get isUnhealthy(): boolean {
      return isUnhealthy
    },
    note,
    /** Marks the start of work; `well` and `failed` take it, which counts one outage only once. */
    mark: (): number => epoch,
    well(mark: number) {
      if (mark !== epoch || failures === 0) return
      if (logged !== undefined)
        log.info('The node answers again', {
          endpoint: name,
          seconds: Math.round((clock.elapsed() - failingSince) / 1000),
        })
      failures = 0
      logged = undefined
      isUnhealthy = false
    },
    failed(mark: number, error: ChainsieveError) {
      note(error.message)
      const now = clock.elapsed()
      // A wrong chain needs the operator and was logged once.
      if (now - loggedAt >= LOG_EVERY_MS && !(error.code === OTHER_CHAIN && logged === OTHER_CHAIN)) {
        logged = error.code
        log.warn('The node gives no usable answer, will retry', { endpoint: name, error: error.message })
        loggedAt = now
      }
      if (mark !== epoch) return
      epoch++
      if (failures++ === 0) failingSince = now
      if (!error.code.startsWith('node_')) {
        // A wrong answer about one block says little about others: only unresponsive nodes back off.
        degradedUntil = now + DEGRADED_MS
        return
      }
      isUnhealthy = true
      if (error.code === 'node_unreachable') onUnreachable()
      backoffUntil = now + (error.retryAfterMs ?? 0) + backoff(failures, { random })
    },
    status: (): Omit<EndpointStatus, 'url' | 'requests'> => ({
      lastError,
      lastErrorAt,
      errors,
      ...(failures > 0 && { failingSince: new Date(clock.now() - (clock.elapsed() - failingSince)).toISOString() }),
    }),
  }
}

const DEGRADED_MS = 10_000
const LOG_EVERY_MS = 60_000

export type ResponseTimes = ReturnType<typeof createResponseTimes>

export const createResponseTimes = ({ name, log, clock }: { name: string; log: Log; clock: Clock }) => {
  let answers: { at: number; ms: number; urgent: boolean }[] = []
  let isSlow = false

  const forget = () => {
    const since = clock.elapsed() - RECENT_MS
    answers = answers.slice(-MAX_ANSWERS).filter(({ at }) => at >= since)
  }
  const sorted = (urgentOnly: boolean): number[] =>
    answers
      .filter(({ urgent }) => urgent || !urgentOnly)
      .map(({ ms }) => ms)
      .sort((a, b) => a - b)

  return {
    /** `urgent`: for the head. Only these mark a slow node: alerts do not wait for back-fills. */
    add(ms: number, urgent: boolean) {
      answers.push({ at: clock.elapsed(), ms, urgent })
      forget()
      if (!urgent) return
      const times = sorted(true)
      if (times.length < MIN_ANSWERS) return
      const median = quantileOf(times, 0.5)
      const fields = { endpoint: name, medianMs: median, p95Ms: quantileOf(times, 0.95) }
      if (!isSlow && median > SLOW_MS) {
        isSlow = true
        log.warn('The node answers slowly: blocks and alerts come late', fields)
      } else if (isSlow && median < SLOW_MS / 2) {
        isSlow = false
        log.info('The node answers fast again', fields)
      }
    },
    status(): Pick<EndpointStatus, 'responseMs' | 'slow'> {
      forget()
      const times = sorted(false)
      if (times.length === 0) return {}
      return {
        responseMs: { median: quantileOf(times, 0.5), p95: quantileOf(times, 0.95) },
        ...(isSlow && { slow: true }),
      }
    },
  }
}

const quantileOf = (sorted: readonly number[], part: number): number =>
  Math.round(sorted[Math.ceil(part * sorted.length) - 1]!)

const MAX_ANSWERS = 20
const RECENT_MS = 300_000
const MIN_ANSWERS = 3
const SLOW_MS = 2_000

export type RequestCounter = (calls: number, seconds: number, ok: boolean) => void

const LATENCY_BOUNDS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20]

/** Metrics of requests to nodes, labelled by host: the rest of the URL may contain a key. */
export const createRpcMetrics = (metrics: Metrics, urls: readonly string[]) => {
  const requests = metrics.counter('chainsieve_rpc_requests_total')
  const calls = metrics.counter('chainsieve_rpc_calls_total')
  const latency = metrics.histogram('chainsieve_rpc_request_duration_seconds', LATENCY_BOUNDS_S)
  const hosts = hostsOf(urls)
  return {
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
