import type { ChainsieveError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { backoff, type Clock } from '../../lib/retry.ts'
import type { EndpointStatus } from '../source.ts'
import { OTHER_CHAIN } from './answers.ts'

export type Health = ReturnType<typeof createHealth>

/** Whether an endpoint gives usable answers. */
export const createHealth = (options: {
  name: string
  log: Log
  clock: Clock
  random: () => number
  /** Told that the node could not be reached: another one may be there when it can. */
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
  let restUntil = 0
  let doubtedUntil = 0
  let isSuspect = false

  const note = (message: string) => {
    errors++
    lastError = message
    lastErrorAt = new Date(clock.now()).toISOString()
  }

  return {
    /** Before this time (as of `clock.elapsed`) the node should be left alone. */
    get restUntil(): number {
      return restUntil
    },
    /** Before this time another node is preferred: this one gave a wrong or an old answer. */
    get doubtedUntil(): number {
      return doubtedUntil
    },
    /** Whether it has not answered since it was last left alone. */
    get isSuspect(): boolean {
      return isSuspect
    },
    /** Counts a fault that is no failure. */
    note,
    /** Marks the beginning of a piece of work; `well` and `failed` take the mark back, so that one outage counts once. */
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
      isSuspect = false
    },
    failed(mark: number, error: ChainsieveError) {
      note(error.message)
      const now = clock.elapsed()
      // That of another chain needs the operator, who has been told.
      if (now - loggedAt >= LOG_EVERY_MS && !(error.code === OTHER_CHAIN && logged === OTHER_CHAIN)) {
        logged = error.code
        log.warn('The node gives no usable answer, will retry', { endpoint: name, error: error.message })
        loggedAt = now
      }
      if (mark !== epoch) return
      epoch++
      if (failures++ === 0) failingSince = now
      if (!error.code.startsWith('node_')) {
        // A wrong answer about one block says little about the next one: only a node that does not answer is left alone.
        doubtedUntil = now + DOUBT_MS
        return
      }
      isSuspect = true
      if (error.code === 'node_unreachable') onUnreachable()
      restUntil = now + (error.retryAfterMs ?? 0) + backoff(failures, { random })
    },
    status: (): Omit<EndpointStatus, 'url' | 'requests'> => ({
      lastError,
      lastErrorAt,
      errors,
      ...(failures > 0 && { failingSince: new Date(clock.now() - (clock.elapsed() - failingSince)).toISOString() }),
    }),
  }
}

const DOUBT_MS = 10_000
const LOG_EVERY_MS = 60_000
