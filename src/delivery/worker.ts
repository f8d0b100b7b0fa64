import { setMaxListeners } from 'node:events'
import { messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { type Clock, createStepWatch, systemClock } from '../lib/retry.ts'
import { DEFAULT_LIMITS, type Limits } from '../limits/index.ts'
import { createMetrics, type Metrics } from '../metrics/index.ts'
import type { StoredRule } from '../rules/rule.ts'
import { createAttempts } from './attempts.ts'
import { type ChannelOf, DIGEST_MS } from './channels/channel.ts'
import type { Expansion } from './ledger/new-deliveries.ts'
import type { DeliveryAttempt } from './ledger/outcomes.ts'
import type { Job } from './ledger/queue.ts'
import type { DeliveryStore } from './ledger/store.ts'
import { createMaintenance, type Ended } from './maintenance.ts'
import { createCounters } from './metrics.ts'
import { createOutboxPoller, type OutboxSource } from './outbox-poller.ts'
import { SCHEDULE_MS } from './retry-schedule.ts'
import { createScheduler } from './scheduler.ts'
import { createSender } from './sender.ts'
import type { SilenceFinder } from './silences.ts'

export interface WorkerOptions {
  store: DeliveryStore
  /** Current outboxes by network; polled every second. */
  outboxes(): ReadonlyMap<string, OutboxSource>
  /** The current rule, paused or not. */
  rules(id: number): StoredRule | undefined
  rulesVersion?(): number
  silences?: SilenceFinder
  ageClock?(now: number): number
  channels: ChannelOf
  /** Signing secrets of an account, newest first. */
  secrets(account: number): readonly string[]
  clock: Clock
  log: Log
  metrics?: Metrics
  onOutcome?(job: Job, outcome: DeliveryAttempt['outcome'], now: number): void
  /** Since when a receiver fails, including before this start; undefined if unknown. */
  failingSince?(job: Job): number | undefined
  limits?: Limits
  options?: {
    /** Concurrent attempts to one destination; default 10. */
    perDestination?: number
    /** Concurrent attempts without slow ones; default 200. */
    total?: number
    /** Waits before each try in milliseconds; default `SCHEDULE_MS`. */
    schedule?: readonly number[]
    /** Time in ms during which combinable messages are collected; default two minutes, 0: none. */
    digestMs?: number
    /** Retention of settled deliveries; default 30 days. */
    keepMs?: number
    random?: () => number
  }
}

export type DeliveryWorker = ReturnType<typeof createWorker>

const POLL_MS = 1_000
const STOP_PATIENCE_MS = 2_000
const KEEP_MS = 30 * 24 * 3_600_000

/** Delivers outbox entries at least once (duplicates have one id), each destination by itself. */
export const createWorker = ({
  store,
  outboxes,
  rules,
  rulesVersion = () => 0,
  silences,
  ageClock = now => now,
  channels,
  secrets,
  clock,
  log,
  metrics = createMetrics(),
  onOutcome,
  failingSince,
  limits = DEFAULT_LIMITS,
  options = {},
}: WorkerOptions) => {
  const { perDestination = 10, total = 200, schedule = SCHEDULE_MS, digestMs = DIGEST_MS, keepMs = KEEP_MS } = options
  const scheduler = createScheduler({ total, byAccount: limits.deliveriesByAccount })
  const counted = createCounters(metrics)
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  const sender = createSender({ store, channels, secrets, signal: controller.signal, clock, log })
  let storeVersion = store.version()
  let pollAt = 0
  const stepOf = createStepWatch(clock)
  /** Milliseconds that the clock was set back, unknown to the ledger so far. */
  let back = Math.max(0, (store.lastQueued() ?? 0) - clock.now())
  const poller = createOutboxPoller({ store, outboxes, rules, channels, digestMs, limits, log })
  const maintenance = createMaintenance({
    ...{ store, rules, rulesVersion, keepMs, ageClock, log },
    onCancelled: channel => counted.cancelled.add({ channel }),
  })
  const turns = createTurns({
    ...{ clock, log },
    turn: () => turn(),
    idleUntil: () => Math.min(scheduler.nextAt(), pollAt),
  })
  const attempts = createAttempts({
    ...{
      store,
      scheduler,
      channels,
      sender,
      counted,
      clock,
      ask: turns.ask,
      perDestination,
      schedule,
      random: options.random,
    },
    ...(silences && { silences }),
    ...(onOutcome && { onOutcome }),
    ...(failingSince && { failingSince }),
    againMs: POLL_MS,
  })

  const turn = (): boolean => {
    keepWaits()
    attempts.settle()
    if (clock.elapsed() >= pollAt) poll()
    const cancelling = maintenance.cancel(clock.now())
    const { expansions, more } = poller.step(clock.now())
    for (const expansion of expansions) announce(expansion)
    // Cancelling goes before starting.
    return cancelling || attempts.start() || more
  }

  /** After the clock was set back, due times in the ledger would be too late. */
  const keepWaits = () => {
    back -= Math.min(0, stepOf())
    if (back === 0) return
    store.setBack(back, clock.now())
    back = 0
    takeOver()
  }

  const poll = () => {
    pollAt = clock.elapsed() + POLL_MS
    poller.look()
    const version = store.version()
    if (version !== storeVersion) takeOver()
    storeVersion = version
    maintenance.prune(clock.now(), clock.elapsed())
  }

  /** Schedules all queued deliveries: at the start, and after another process requeued some. */
  const takeOver = () => {
    maintenance.doubt()
    for (const { dueAt, tried, ...lane } of store.lanes()) {
      const known = scheduler.get(lane)
      if (tried && known.health === 'unknown') known.health = 'failing'
      attempts.offer(known, dueAt)
    }
  }

  const announce = ({ due, dead, cancelled }: Expansion) => {
    for (const { at, ...lane } of due) attempts.offer(scheduler.get(lane), at)
    for (const [channel, n] of dead) counted.dead.add({ channel }, n)
    for (const [channel, n] of cancelled) counted.cancelled.add({ channel }, n)
  }

  takeOver()
  turns.start()

  return {
    /** Checks a network's outbox, or all, in the next turn. */
    wake(network?: string) {
      poller.wake(network)
      turns.ask(0)
    },

    /** Rereads the queue after a change by this connection, which the version does not show. */
    reload() {
      // The next poll sees a difference.
      storeVersion = Number.NaN
    },

    /** Cancels deliveries of a deleted or paused rule; returns how many were since then. */
    cancel: (rule: number, why: Ended, since: number) => maintenance.cancelAll(rule, why, since, clock.now),

    /** Sends `alert.test` to every action of a rule. */
    testFire: sender.test,

    /** Why deliveries stopped; null if they go on. */
    stuck: turns.stuck,

    /** Waits shortly for running attempts, then aborts them. */
    async stop() {
      await turns.stop()
      const patience = new AbortController()
      await Promise.race([attempts.ended(), systemClock.sleep(STOP_PATIENCE_MS, patience.signal).catch(() => {})])
      patience.abort()
      controller.abort(new Error('the program stops'))
      await attempts.ended()
      // An unwritten outcome leads to a second delivery after the next start.
      try {
        attempts.settle()
      } catch (error) {
        log.error('Failed to record the last attempts', { error })
      }
    },
  }
}

interface TurnsOptions extends Pick<WorkerOptions, 'clock' | 'log'> {
  /** Does some work; returns whether there is more to do at once. */
  turn(): boolean
  /** Time (`clock.elapsed`) of the next turn if none is requested before. */
  idleUntil(): number
}

/** Runs turns one after the other on request. A failed turn is repeated. */
const createTurns = ({ clock, log, turn, idleUntil }: TurnsOptions) => {
  let turnAt = Number.POSITIVE_INFINITY
  let rest = new AbortController()
  let stopping = false
  let stuck: string | null = null
  let loop: Promise<void> | undefined

  const ask = (inMs: number) => {
    const at = clock.elapsed() + inMs
    if (at >= turnAt) return
    turnAt = at
    rest.abort()
  }

  const run = async () => {
    while (!stopping) {
      const wait = turnAt - clock.elapsed()
      if (wait > 0) {
        rest = new AbortController()
        await clock.sleep(wait, rest.signal).catch(() => {})
        if (clock.elapsed() < turnAt) continue
      } else await new Promise(setImmediate)
      if (stopping) break
      turnAt = Number.POSITIVE_INFINITY
      try {
        ask(turn() ? 0 : Math.max(0, idleUntil() - clock.elapsed()))
        if (stuck !== null) log.info('Delivers again')
        stuck = null
      } catch (error) {
        if (stuck === null) log.error('Failed to deliver, will retry', { error })
        stuck = messageOf(error)
        ask(POLL_MS)
      }
    }
  }

  return {
    ask,
    start() {
      ask(0)
      loop = run()
    },
    /** Error of the last turn; null if it succeeded. */
    stuck: () => stuck,
    async stop() {
      stopping = true
      rest.abort()
      await loop
    },
  }
}
