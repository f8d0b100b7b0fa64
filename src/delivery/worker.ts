import { setMaxListeners } from 'node:events'
import { messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { createMetrics, type Metrics } from '../lib/metrics.ts'
import { type Clock, createStepWatch, systemClock } from '../lib/retry.ts'
import { DEFAULT_LIMITS, type Limits } from '../limits/index.ts'
import type { StoredRule } from '../rules/rule.ts'
import { createAttempts } from './attempts.ts'
import type { ChannelOf } from './channels/channel.ts'
import type { Expansion } from './ledger/alert-deliveries.ts'
import type { Attempt } from './ledger/outcomes.ts'
import type { Job } from './ledger/queue.ts'
import type { DeliveryStore } from './ledger/store.ts'
import { createMaintenance, type Ended } from './maintenance.ts'
import { createCounters } from './metrics.ts'
import { createOutboxPoller, type OutboxSource } from './outbox-poller.ts'
import { SCHEDULE_MS } from './retry-schedule.ts'
import { createScheduler } from './scheduler.ts'
import { createSender } from './sender.ts'

export interface WorkerOptions {
  store: DeliveryStore
  /** Outboxes by network, as of now; asked again every second. */
  outboxes(): ReadonlyMap<string, OutboxSource>
  /** A rule as it is now, paused or not. */
  rules(id: number): StoredRule | undefined
  /** Changes whenever a rule may have changed. */
  rulesVersion?(): number
  ageClock?(now: number): number
  channels: ChannelOf
  /** Signing secrets of an account, the newest first. */
  secrets(account: number): readonly string[]
  clock: Clock
  log: Log
  metrics?: Metrics
  /** Told what every attempt came to. */
  onOutcome?(job: Job, outcome: Attempt['outcome'], now: number): void
  /** Since when nothing was delivered to a receiver, also before this start; undefined where that is not known. */
  failingSince?(job: Job): number | undefined
  limits?: Limits
  options?: {
    /** Attempts at once to one destination; default 10. */
    perDestination?: number
    /** Attempts at once, those that take long aside; default 200. */
    total?: number
    /** Waits before each try, in milliseconds; default that of Standard Webhooks. */
    schedule?: readonly number[]
    /** How long a message that can be combined waits for others; default two minutes, 0: not at all. */
    digestMs?: number
    /** Delivered and cancelled ones are forgotten after it; default 30 days. */
    keepMs?: number
    random?: () => number
  }
}

export type DeliveryWorker = ReturnType<typeof createWorker>

const POLL_MS = 1_000
const STOP_PATIENCE_MS = 2_000
const KEEP_MS = 30 * 24 * 3_600_000

/** Takes over what outboxes hold, and sends it: at least once, each destination by itself. */
export const createWorker = ({
  store,
  outboxes,
  rules,
  rulesVersion = () => 0,
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
  const { perDestination = 10, total = 200, schedule = SCHEDULE_MS, digestMs = 120_000, keepMs = KEEP_MS } = options
  const scheduler = createScheduler({ total, byAccount: limits.deliveriesByAccount })
  const counted = createCounters(metrics)
  /** Ends attempts when the program stops. */
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  const sender = createSender({ store, channels, secrets, signal: controller.signal, clock, log })
  let storeVersion = store.version()
  let pollAt = 0
  const stepOf = createStepWatch(clock)
  /** The clock was set back by so much, which the ledger does not know yet: also while nothing ran. */
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
    ...(onOutcome && { onOutcome }),
    ...(failingSince && { failingSince }),
    againMs: POLL_MS,
  })

  /** Returns whether there is more to do at once. */
  const turn = (): boolean => {
    keepWaits()
    attempts.settle()
    if (clock.elapsed() >= pollAt) poll()
    const cancelling = maintenance.cancel(clock.now())
    const { expansions, more } = poller.step(clock.now())
    for (const expansion of expansions) announce(expansion)
    // A delivery that is being cancelled is not started.
    return cancelling || attempts.start() || more
  }

  /** The ledger has times of the clock: where it was set back, they would come too late. */
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

  /** Schedules everything queued in the file: at the start, and when another process has asked for redelivery. */
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
    /** There may be something new in a network's outbox, or in any. */
    wake(network?: string) {
      poller.wake(network)
      turns.ask(0)
    },

    /** Looks at the whole queue: what is there was changed by this very connection, as by redelivery. */
    reload() {
      // The poll checks it, at most once a second however often this is called.
      storeVersion = Number.NaN
    },

    /** Cancels what is queued for a rule that was deleted or paused; returns how many were cancelled since then. */
    cancel: (rule: number, why: Ended, since: number) => maintenance.cancelAll(rule, why, since, clock.now),

    /** Sends once to every action of a rule, as `alert.test`. */
    testFire: sender.test,

    /** Why it cannot go on for now; null where it does. */
    stuck: turns.stuck,

    /** Waits a short while for what is under way, then breaks it off. */
    async stop() {
      await turns.stop()
      const patience = new AbortController()
      await Promise.race([attempts.ended(), systemClock.sleep(STOP_PATIENCE_MS, patience.signal).catch(() => {})])
      patience.abort()
      controller.abort(new Error('the program stops'))
      await attempts.ended()
      // Outcomes that cannot be written now lead to a second delivery after the next start.
      try {
        attempts.settle()
      } catch (error) {
        log.error('Failed to record the last attempts', { error })
      }
    },
  }
}

interface TurnsOptions extends Pick<WorkerOptions, 'clock' | 'log'> {
  /** Does some of the work; returns whether there is more to do at once. */
  turn(): boolean
  /** The time (as of `clock.elapsed`) of the next turn if nothing asks for one before. */
  idleUntil(): number
}

/** Turns, one after the other, each as soon as something asks for it. A turn that fails is repeated. */
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
    /** Asks for a turn after so many milliseconds. */
    ask,
    start() {
      ask(0)
      loop = run()
    },
    /** Why the last turn failed; null where it did not. */
    stuck: () => stuck,
    async stop() {
      stopping = true
      rest.abort()
      await loop
    },
  }
}
