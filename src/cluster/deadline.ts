import { check } from '../engine/query/options.ts'
import { retry } from '../lib/errors.ts'
import type { AskOptions } from './asker.ts'
import { whileAsking } from './faults.ts'

const late = (cause: unknown) =>
  retry(
    'search_timeout_exception',
    'the cluster did not answer by the deadline of the search: see its state in /status, narrow the search, or raise query-deadline',
    { cause },
  )

/** Gives up what is not done by the deadline, or what nobody waits for any more. `asking` is told to end by a signal, and need not. */
export const beforeDeadline = async <T>(
  asking: (signal: AbortSignal) => Promise<T>,
  { deadline, signal }: AskOptions,
): Promise<T> => {
  check({ deadline })
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
    // A timer may ring a little early.
    if (ending.signal.aborted || performance.now() >= deadline) throw late(error)
    throw whileAsking(error)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  }
}
