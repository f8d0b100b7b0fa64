import { checkDeadline } from '../../engine/query/search.ts'
import { isRecord } from '../../lib/arrays.ts'
import { messageOf, refuse, retry } from '../../lib/errors.ts'
import type { AskOptions } from '../query-client.ts'
import type { ClusterAnswer } from './cluster.ts'

export const UNAVAILABLE = 'cluster_unavailable'

/** Error of a search that the cluster cannot answer now. */
export const unavailable = (why: string, cause?: unknown) =>
  retry(UNAVAILABLE, `the cluster that holds the network's documents cannot answer now: ${why}`, {
    cause,
    retryAfterMs: SEARCH_RETRY_MS,
  })

const SEARCH_RETRY_MS = 5_000

/** Error code: the cluster does not support the request. */
export const LACKS_REQUEST = 'cluster_lacks_request'
/** Elasticsearch 7 parses an unknown path as that of a document. */
const NO_HANDLER = /no handler found for uri|request body is required/

/** Error of a search whose answer is not 200. */
export const searchFault = ({ status, text }: ClusterAnswer): Error => {
  const causes = causesIn(text)
  const reason = causes.at(-1)?.reason ?? text.slice(0, 300)
  if (status === 400 && NO_HANDLER.test(text))
    return refuse(LACKS_REQUEST, `The cluster has no such request: ${reason}`)
  const is = (...types: string[]) => causes.some(({ type }) => types.includes(type))
  if (is('circuit_breaking_exception')) return unavailable(`it is short of memory (${reason}). Narrow the search.`)
  if (status === 429 || is('rejected_execution_exception', 'opensearch_rejected_execution_exception'))
    return unavailable(`it has too much to do (${reason}).`)
  if (is('too_many_clauses', 'too_many_nested_clauses'))
    return refusedQuery(
      `it has too many clauses (${reason})`,
      'write values as one [terms] clause, or in several searches',
    )
  if (is('too_many_buckets_exception'))
    return refusedQuery(
      `it has too many buckets (${reason})`,
      'ask for longer intervals, a smaller size or fewer aggregations',
    )
  if (status === 401 || status === 403) return unavailable(`it refuses the user that it is asked by (${reason}).`)
  if (status >= 500 || status === 404) return unavailable(`${reason}.`)
  return refusedQuery(reason, 'write the query otherwise')
}

/** Error of a failed request to the cluster. */
const whileAsking = (error: unknown): Error =>
  (error as { code?: unknown }).code === 'cluster_unreachable' ? unavailable(messageOf(error), error) : (error as Error)

const refusedQuery = (why: string, remedy: string) =>
  refuse('illegal_argument_exception', `The cluster refuses this query: ${why}: ${remedy}.`)

interface Cause {
  type: string
  reason: string
}

/** From outermost to innermost. */
const causesIn = (text: string): Cause[] => {
  const causes: Cause[] = []
  const add = (error: unknown) => {
    if (!isRecord(error)) return
    if (typeof error.type === 'string' && typeof error.reason === 'string')
      causes.push({ type: error.type, reason: error.reason })
    for (const inner of [error.root_cause, error.failed_shards])
      if (Array.isArray(inner))
        for (const one of inner) add(isRecord(one) && 'reason' in one && isRecord(one.reason) ? one.reason : one)
    add(error.caused_by)
  }
  try {
    add((JSON.parse(text) as { error?: unknown }).error)
  } catch {
    // A proxy may answer with plain text.
  }
  return causes
}

const lateSearch = (cause: unknown) =>
  retry(
    'search_timeout_exception',
    'the cluster did not answer by the deadline of the search: see its state in /status, narrow the search, or raise query-deadline',
    { cause },
  )

/** Rejects at the deadline or on abort, even if `asking` ignores its signal. */
export const beforeDeadline = async <T>(
  asking: (signal: AbortSignal) => Promise<T>,
  { deadline, signal }: AskOptions,
): Promise<T> => {
  checkDeadline({ deadline })
  const ending = new AbortController()
  const end = () => ending.abort(signal?.reason)
  const timer = deadline === Number.POSITIVE_INFINITY ? undefined : setTimeout(end, deadline - performance.now())
  signal?.addEventListener('abort', end, { once: true })
  const ended = new Promise<never>((_, reject) => {
    ending.signal.addEventListener('abort', () => reject(ending.signal.reason), { once: true })
  })
  try {
    signal?.throwIfAborted()
    return await Promise.race([asking(ending.signal), ended])
  } catch (error) {
    signal?.throwIfAborted()
    // Timers may fire slightly early.
    if (ending.signal.aborted || performance.now() >= deadline) throw lateSearch(error)
    throw whileAsking(error)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  }
}
