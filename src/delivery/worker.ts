import { setMaxListeners } from 'node:events'
import type { StoredAlert } from '../alerts/alert.ts'
import { messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { createMetrics, type Metrics } from '../lib/metrics.ts'
import { type Clock, systemClock } from '../lib/retry.ts'
import { DEFAULT_LIMITS, type Limits } from '../limits/index.ts'
import type { StoredRule } from '../rules/rule.ts'
import { createAgenda, type Destination } from './agenda.ts'
import { allowed, failed, failingSince, succeeded } from './breaker.ts'
import { createCounters } from './counters.ts'
import { createIntake, type Source } from './intake.ts'
import { createPicks, type Picked } from './picks.ts'
import type { Attempt, Due, Job, Settled } from './queue.ts'
import { SCHEDULE_MS, spanOf } from './schedule.ts'
import { createSender, type TestResult } from './sender.ts'
import type { DeliveryStore } from './store.ts'
import type { ChannelOf, Expansion } from './teller.ts'
import { createUpkeep, type Ended } from './upkeep.ts'

export interface WorkerOptions {
  store: DeliveryStore
  /** Outboxes by network, as of now; asked again every second. */
  outboxes(): ReadonlyMap<string, Source>
  /** A rule as it is now, paused or not. */
  rules(id: number): StoredRule | undefined
  /** Changes whenever a rule may have changed. */
  rulesVersion?(): number
  channels: ChannelOf
  /** Signing secrets of an account, the newest first. */
  secrets(account: number): readonly string[]
  clock: Clock
  log: Log
  metrics?: Metrics
  /** Told what every attempt came to. */
  onOutcome?(job: Job, outcome: Attempt['outcome'], now: number): void
  limits?: Limits
  options?: {
    /** Attempts at once to one destination; default 10. */
    perDestination?: number
    /** Attempts at once, those that take long aside; default 200. */
    total?: number
    /** Waits before each try, in milliseconds; default that of Standard Webhooks. */
    schedule?: readonly number[]
    /** How long what can be combined waits for more of it; default two minutes, 0: not at all. */
    digestMs?: number
    /** Delivered and cancelled ones are forgotten after it; default 30 days. */
    keepMs?: number
    random?: () => number
  }
}

export interface DeliveryWorker {
  /** There may be something new in a network's outbox, or in any. */
  wake(network?: string): void
  /** Looks at the whole queue: what is there was changed by this very connection, as by redelivery. */
  reload(): void
  /** Cancels what is queued for a rule that was deleted or paused; returns how many were cancelled since then. */
  cancel(rule: number, why: Ended, since: number): Promise<number>
  /** Sends once to every action of a rule, as `alert.test`. */
  testFire(rule: StoredRule, alert: StoredAlert, signal: AbortSignal): Promise<TestResult[]>
  /** Why it cannot go on for now; null where it does. */
  stuck(): string | null
  /** Waits a short while for what is under way, then breaks it off. */
  stop(): Promise<void>
}

const POLL_MS = 1_000
/** Outcomes of so short a while are written together. */
const TOGETHER_MS = 2
const STOP_MS = 2_000
/** Few enough for answers to be heard in between. */
const START_AT_ONCE = 16
/** Deliveries of one destination before the next one has its turn. */
const TURN = 5
const COMBINE_AT_ONCE = 100
/** Destinations above this are forgotten as soon as nothing is queued for them. */
const MAX_KNOWN = 20_000
const KEEP_MS = 30 * 24 * 3_600_000

/** Takes over what outboxes hold, and sends it: at least once, each destination by itself. */
export const createWorker = ({
  store,
  outboxes,
  rules,
  rulesVersion = () => 0,
  channels,
  secrets,
  clock,
  log,
  metrics = createMetrics(),
  onOutcome,
  limits = DEFAULT_LIMITS,
  options = {},
}: WorkerOptions): DeliveryWorker => {
  const {
    perDestination = 10,
    total = 200,
    schedule = SCHEDULE_MS,
    digestMs = 120_000,
    keepMs = KEEP_MS,
    random,
  } = options
  const agenda = createAgenda({ total, byAccount: limits.deliveriesByAccount })
  const counted = createCounters(metrics)
  /** Ends attempts when the program stops. */
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  const sender = createSender({ store, channels, secrets, signal: controller.signal, clock, log })
  const under = new Set<Promise<void>>()
  /** Attempts whose outcome is not written yet. */
  let ended: { flight: Flight; job: Job; attempt: Attempt }[] = []
  let storeVersion = store.version()
  let pollAt = 0
  const intake = createIntake({ store, outboxes, rules, channels, digestMs, limits, log })
  const upkeep = createUpkeep({
    store,
    rules,
    rulesVersion,
    keepMs,
    onCancelled: channel => counted.cancelled.add({ channel }),
  })
  let stopping = false
  let stuck: string | null = null

  // Turns: one after the other, each as soon as something asks for it.
  let turnAt = Number.POSITIVE_INFINITY
  let rest = new AbortController()
  const ask = (inMs: number) => {
    const at = clock.now() + inMs
    if (at >= turnAt) return
    turnAt = at
    rest.abort()
  }

  const run = async () => {
    while (!stopping) {
      const wait = turnAt - clock.now()
      if (wait > 0) {
        rest = new AbortController()
        await clock.sleep(wait, rest.signal).catch(() => {})
        if (clock.now() < turnAt) continue
      } else await new Promise(setImmediate)
      if (stopping) break
      turnAt = Number.POSITIVE_INFINITY
      try {
        const more = turn()
        ask(more ? 0 : Math.max(0, Math.min(agenda.nextAt(), pollAt) - clock.now()))
        if (stuck !== null) log.info('Delivers again')
        stuck = null
      } catch (error) {
        if (stuck === null) log.error('Failed to deliver, will retry', { error })
        stuck = messageOf(error)
        ask(POLL_MS)
      }
    }
  }

  /** Returns whether there is more to do at once. */
  const turn = (): boolean => {
    settle()
    if (clock.now() >= pollAt) poll()
    const cancelling = upkeep.cancel(clock.now())
    const { expansions, more } = intake.step(clock.now())
    for (const expansion of expansions) announce(expansion)
    // A delivery that is being cancelled is not started.
    return cancelling || start() || more
  }

  const poll = () => {
    const now = clock.now()
    pollAt = now + POLL_MS
    intake.look()
    const version = store.version()
    if (version !== storeVersion) takeOver()
    storeVersion = version
    upkeep.prune(now)
  }

  /** What the file holds is taken in: at the start, and when another process has asked for redelivery. */
  const takeOver = () => {
    upkeep.doubt()
    for (const { dueAt, tried, ...lane } of store.lanes()) {
      const known = agenda.get(lane)
      if (tried && known.health === 'unknown') known.health = 'failing'
      offer(known, dueAt)
    }
  }

  const announce = ({ due, dead, cancelled }: Expansion) => {
    for (const { at, ...lane } of due) offer(agenda.get(lane), at)
    for (const [channel, n] of dead) counted.dead.add({ channel }, n)
    for (const [channel, n] of cancelled) counted.cancelled.add({ channel }, n)
  }

  const offer = (destination: Destination, at: number) =>
    agenda.offer(destination, Math.max(at, destination.breakers.first.restUntil))

  /** Returns whether there may be more to start. */
  const start = (): boolean => {
    const now = clock.now()
    const flights: Flight[] = []
    while (flights.length < START_AT_ONCE) {
      const destination = agenda.take(now)
      if (!destination) break
      const { breakers, busy, running } = destination
      const room = Math.min(allowed(breakers.first, now, perDestination) - running, agenda.room(destination), TURN)
      if (room <= 0) {
        // At its limit it is offered again when one of its attempts ends.
        if (breakers.first.restUntil > now) agenda.offer(destination, breakers.first.restUntil)
        continue
      }
      const next = createPicks(store, destination, now, room, perDestination)
      let taken = 0
      for (let picked = next(); picked; picked = taken < room ? next() : undefined) {
        flights.push(prepare(destination, picked, now))
        taken++
      }
      // Where all that is due waits for what is under way, it is offered again when that ends.
      const nextAt = taken === room ? now : store.nextDue(destination, now)
      if (nextAt !== undefined) offer(destination, nextAt)
      else if (busy.size === 0 && agenda.size() > MAX_KNOWN) agenda.forget(destination)
      if (breakers.again.restUntil > now) offer(destination, breakers.again.restUntil)
    }
    if (flights.length > 0) depart(flights, now)
    return flights.length >= START_AT_ONCE
  }

  const prepare = (destination: Destination, { due: first, turn, probe }: Picked, now: number): Flight => {
    const { busy, lines } = destination
    const combined = channels.of({ type: first.channel }).combines
      ? store
          .combinable(first, now, busy.size + COMBINE_AT_ONCE)
          .filter(({ id, line }) => !busy.has(id) && !lines.has(line))
          .slice(0, COMBINE_AT_ONCE)
      : [first]
    for (const { id, line } of combined) {
      busy.add(id)
      lines.add(line)
    }
    destination.running++
    if (turn === 'again') destination.runningAgain++
    return { destination, due: combined, turn, probe, leave: agenda.begin(destination, now) }
  }

  const depart = (flights: readonly Flight[], now: number) => {
    let jobs: ReturnType<DeliveryStore['claim']>
    try {
      jobs = store.claim(
        flights.map(({ due }) => due),
        now,
      )
    } catch (error) {
      for (const flight of flights) land(flight, now + POLL_MS)
      throw error
    }
    for (const [at, flight] of flights.entries()) {
      const job = jobs[at]
      if (!job) {
        land(flight, now)
        continue
      }
      const done = fly(flight, job).finally(() => under.delete(done))
      under.add(done)
    }
  }

  const fly = async (flight: Flight, job: Job) => {
    const at = clock.now()
    const begun = performance.now()
    const outcome = await sender.attempt(job)
    flight.leave()
    ended.push({ flight, job, attempt: { ids: job.ids, at, latencyMs: performance.now() - begun, outcome } })
    ask(TOGETHER_MS)
  }

  /** It is over, one way or another, and what follows is stored. */
  const land = ({ destination, due, turn, leave }: Flight, offerAt: number) => {
    leave()
    destination.running--
    if (turn === 'again') destination.runningAgain--
    for (const { id, line } of due) {
      destination.busy.delete(id)
      destination.lines.delete(line)
    }
    offer(destination, offerAt)
  }

  const settle = () => {
    if (ended.length === 0) return
    const now = clock.now()
    const settled = store.settle(
      ended.map(it => it.attempt),
      { now, schedule, ...(random && { random }) },
    )
    const landed = ended
    ended = []
    for (const one of settled) count(one, now)
    for (const { flight, job, attempt } of landed) {
      counted.attempt.observe({ channel: job.action.type }, attempt.latencyMs / 1_000)
      judge(flight, job, attempt.outcome, now)
      onOutcome?.(job, attempt.outcome, now)
      land(flight, now)
    }
  }

  const count = ({ channel, type, to, first, receivedAt }: Settled, now: number) => {
    if (to !== 'queued') counted[to].add({ channel })
    if (to === 'delivered' && first && type !== 'alert.retracted')
      counted.lag.observe({ channel }, Math.max(0, now - receivedAt) / 1_000)
  }

  /** What an outcome says about the destination. An action that can never succeed says nothing about it. */
  const judge = ({ destination, turn, probe }: Flight, { action }: Job, outcome: Attempt['outcome'], now: number) => {
    const { breakers } = destination
    if (outcome.type === 'delivered' || outcome.type === 'gone') {
      succeeded(breakers)
      destination.health = 'well'
    } else if (outcome.type === 'retry') {
      failed(breakers, turn, now, probe)
      destination.health = 'failing'
      const since = failingSince(breakers)
      const span = spanOf(schedule)
      if (since === undefined || now - since < span) return
      const why = `dead: its receiver has accepted nothing since ${new Date(since).toISOString()}`
      const gone = store.expire(destination, now - span, now, why)
      if (gone > 0) counted.dead.add({ channel: action.type }, gone)
    }
  }

  takeOver()
  ask(0)
  const loop = run()

  return {
    wake(network) {
      intake.wake(network)
      ask(0)
    },

    reload() {
      // The poll checks it, at most once a second however often this is called.
      storeVersion = Number.NaN
    },

    cancel: (rule, why, since) => upkeep.cancelAll(rule, why, since, clock.now),

    testFire: sender.test,

    stuck: () => stuck,

    async stop() {
      stopping = true
      rest.abort()
      await loop
      const patience = new AbortController()
      await Promise.race([Promise.all(under), systemClock.sleep(STOP_MS, patience.signal).catch(() => {})])
      patience.abort()
      controller.abort(new Error('the program stops'))
      await Promise.all(under)
      // Outcomes that cannot be written now lead to a second delivery after the next start.
      try {
        settle()
      } catch (error) {
        log.error('Failed to record the last attempts', { error })
      }
    },
  }
}

/** An attempt from before it is claimed until its outcome is committed. */
interface Flight {
  destination: Destination
  due: readonly Due[]
  turn: Picked['turn']
  probe: Picked['probe']
  /** Gives its place back; a second call does no harm. */
  leave(): void
}
