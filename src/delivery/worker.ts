import { setMaxListeners } from 'node:events'
import type { StoredAlert } from '../alerts/alert.ts'
import type { Outbox } from '../alerts/outbox.ts'
import { messageOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { createMetrics, type Metrics } from '../lib/metrics.ts'
import { type Clock, systemClock } from '../lib/retry.ts'
import type { Action, StoredRule } from '../rules/rule.ts'
import { createAgenda, type Destination } from './agenda.ts'
import { allowed, failed, succeeded } from './breaker.ts'
import type { Message } from './channel.ts'
import { type ChannelOf, headOf } from './expand.ts'
import { readSource } from './payload.ts'
import { type Attempt, type Due, errorOf, type Job, type Settled } from './queue.ts'
import { SCHEDULE_MS, spanOf } from './schedule.ts'
import type { DeliveryStore } from './store.ts'

export interface WorkerOptions {
  store: DeliveryStore
  /** Outboxes by network, as of now; asked again every second. */
  outboxes(): ReadonlyMap<string, Pick<Outbox, 'identity' | 'after' | 'last' | 'version'>>
  /** A rule as it is now, paused or not. */
  rules(id: number): StoredRule | undefined
  channels: ChannelOf
  /** Signing secrets of an account, the newest first. */
  secrets(account: number): readonly string[]
  clock: Clock
  log: Log
  metrics?: Metrics
  /** Told what every attempt came to. */
  onOutcome?(job: Job, outcome: Attempt['outcome'], now: number): void
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
  /** Sends once to every action of a rule, as `alert.test`. */
  testFire(rule: StoredRule, alert: StoredAlert, signal: AbortSignal): Promise<TestResult[]>
  /** Waits a short while for what is under way, then breaks it off. */
  stop(): Promise<void>
}

export interface TestResult {
  /** Place in the rule's list of alerts. */
  action: number
  type: Action['type']
  /** Without its secrets. */
  target: string
  delivered: boolean
  status: number | null
  error: string | null
  latencyMs: number
}

const POLL_MS = 1_000
/** Outcomes of so short a while are written together. */
const TOGETHER_MS = 2
const STOP_MS = 2_000
const EXPAND_AT_ONCE = 500
/** Of one destination before the next has its turn. */
const TURN = 5
const COMBINE_AT_ONCE = 100
/** Destinations above this are forgotten as soon as nothing is queued for them. */
const MOST_KNOWN = 20_000
const DAY_MS = 24 * 3_600_000
const KEEP_MS = 30 * DAY_MS
/** Dead ones wait for redelivery: they are kept for so long at least. */
const KEEP_DEAD_MS = 90 * DAY_MS
const PRUNE_EVERY_MS = 3_600_000
const PRUNE_AT_ONCE = 500
const LAG_BOUNDS_MS = [10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 3_600_000]

/** Takes over what outboxes hold, and sends it: at least once, each destination by itself. */
export const createWorker = ({
  store,
  outboxes,
  rules,
  channels,
  secrets,
  clock,
  log,
  metrics = createMetrics(),
  onOutcome,
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
  const agenda = createAgenda({ total })
  const counted = countersOf(metrics)
  /** Ends attempts when the program stops. */
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  /** Networks whose outbox is to be looked at. */
  const dirty = new Set<string>()
  const versions = new Map<string, { outbox: unknown; version: number }>()
  /** Why a network's outbox cannot be taken over. */
  const troubled = new Map<string, string>()
  /** Outboxes that were looked at before. */
  const begun = new WeakSet<object>()
  const under = new Set<Promise<void>>()
  /** Attempts whose outcome is not written yet. */
  let ended: { flight: Flight; job: Job; attempt: Attempt }[] = []
  let storeVersion = store.version()
  let pollAt = 0
  let pruneAt = 0
  let stopping = false
  let stuck = false

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
        if (stuck) log.info('Went on delivering')
        stuck = false
      } catch (error) {
        if (!stuck) log.error('Could not go on delivering, tries again', { error })
        stuck = true
        ask(POLL_MS)
      }
    }
  }

  /** Returns whether there is more to do at once. */
  const turn = (): boolean => {
    settle()
    if (clock.now() >= pollAt) poll()
    const more = expand()
    start()
    return more
  }

  const poll = () => {
    const now = clock.now()
    pollAt = now + POLL_MS
    for (const [network, outbox] of outboxes()) {
      const known = versions.get(network)
      const version = readVersion(network, outbox)
      if (version === undefined || (known?.outbox === outbox && known.version === version)) continue
      versions.set(network, { outbox, version })
      dirty.add(network)
    }
    const version = store.version()
    if (version !== storeVersion) takeOver()
    storeVersion = version
    if (now >= pruneAt) {
      const pruned = store.prune(
        { settledBefore: now - keepMs, deadBefore: now - Math.max(keepMs, KEEP_DEAD_MS) },
        PRUNE_AT_ONCE,
      )
      if (pruned < PRUNE_AT_ONCE) pruneAt = now + PRUNE_EVERY_MS
    }
  }

  const readVersion = (network: string, outbox: Pick<Outbox, 'version'>): number | undefined => {
    try {
      return outbox.version()
    } catch (error) {
      complain('Could not read an outbox, tries again', network, error)
      return undefined
    }
  }

  /** Once for each reason: it is tried again every second. */
  const complain = (message: string, network: string, error: unknown) => {
    const why = messageOf(error)
    if (troubled.get(network) !== why) log.warn(message, { network, error })
    troubled.set(network, why)
  }

  /** What the file holds is taken in: at the start, and when another process has asked for redelivery. */
  const takeOver = () => {
    for (const { name, dueAt, tried } of store.destinations()) {
      const known = agenda.get(name)
      if (tried && known.health === 'unknown') known.health = 'failing'
      offer(known, dueAt)
    }
  }

  const expand = (): boolean => {
    let more = false
    for (const network of dirty) {
      dirty.delete(network)
      const outbox = outboxes().get(network)
      if (!outbox) continue
      try {
        if (expandSome(network, outbox)) {
          dirty.add(network)
          more = true
        }
        troubled.delete(network)
      } catch (error) {
        complain('Could not take over an outbox, tries again', network, error)
        versions.delete(network)
      }
      if (more) break
    }
    return more
  }

  /** Returns whether there may be more. */
  const expandSome = (network: string, outbox: Pick<Outbox, 'identity' | 'after' | 'last'>): boolean => {
    const origin = { network, identity: outbox.identity }
    // A store that was brought back from a backup, or lost its last commits with the power, uses numbers again.
    if (!begun.has(outbox) && store.rewind(origin, outbox.last()))
      log.warn('An outbox is older than what was taken over of it: goes on from its end', { network })
    begun.add(outbox)
    const entries = outbox.after(store.cursor(origin), EXPAND_AT_ONCE)
    if (entries.length === 0) return false
    const now = clock.now()
    const { due, dead, cancelled } = store.expand(origin, entries, rules, { channels, digestMs, now })
    for (const [name, at] of due) offer(agenda.get(name), at)
    for (const [channel, n] of dead) counted.dead.add({ channel }, n)
    for (const [channel, n] of cancelled) counted.cancelled.add({ channel }, n)
    return entries.length === EXPAND_AT_ONCE
  }

  const offer = (destination: Destination, at: number) =>
    agenda.offer(destination, Math.max(at, destination.breaker.restUntil))

  const start = () => {
    const now = clock.now()
    const flights: Flight[] = []
    for (let destination = agenda.take(now); destination; destination = agenda.take(now)) {
      const { name, breaker, health, busy, lines, running } = destination
      const room = Math.min(allowed(breaker, now, perDestination) - running, agenda.room(health), TURN)
      if (room <= 0) {
        // At its limit it is offered again when one of its attempts ends.
        if (breaker.restUntil > now) agenda.offer(destination, breaker.restUntil)
        continue
      }
      const limit = busy.size + room
      const found = store.due(name, now, limit)
      let taken = 0
      for (const due of found) {
        if (taken === room) break
        if (busy.has(due.id) || lines.has(due.line)) continue
        flights.push(prepare(destination, due, now))
        taken++
      }
      const next = found.length === limit ? now : store.nextDue(name, now)
      // Where all that is due waits for what is under way, it is offered again when that ends.
      if (next !== undefined && (next > now || taken > 0)) offer(destination, next)
      else if (busy.size === 0 && agenda.size() > MOST_KNOWN) agenda.forget(destination)
    }
    if (flights.length > 0) depart(flights, now)
  }

  const prepare = (destination: Destination, first: Due, now: number): Flight => {
    const { breaker, health, busy, lines } = destination
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
    return { destination, due: combined, probe: breaker.opened > 0, leave: agenda.begin(health, now) }
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
    const outcome = await attempt(job, controller.signal)
    flight.leave()
    ended.push({ flight, job, attempt: { ids: job.ids, at, latencyMs: performance.now() - begun, outcome } })
    ask(TOGETHER_MS)
  }

  const attempt = async (
    { account, action, messages }: Pick<Job, 'account' | 'action' | 'messages'>,
    signal: AbortSignal,
  ): Promise<Attempt['outcome']> => {
    try {
      const context = { secrets: secrets(account), signal, now: clock.now() }
      return await channels.of(action).send(action, messages, context)
    } catch (error) {
      if (signal.aborted) return { type: 'aborted' }
      log.error('An attempt failed by a fault of our own', { channel: action.type, error })
      return { type: 'retry', why: 'a fault of our own: the log tells more', status: null, head: '' }
    }
  }

  /** It is over, one way or another, and what follows is stored. */
  const land = ({ destination, due, leave }: Flight, offerAt: number) => {
    leave()
    destination.running--
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
      judge(flight, job, attempt.outcome, now)
      onOutcome?.(job, attempt.outcome, now)
      land(flight, now)
    }
  }

  const count = ({ channel, type, to, first, receivedAt }: Settled, now: number) => {
    if (to !== 'queued') counted[to].add({ channel })
    if (to === 'delivered' && first && type !== 'alert.retracted')
      counted.lag.observe({ channel }, Math.max(0, now - receivedAt))
  }

  /** What an outcome says of the destination. That an action can never succeed says nothing of it. */
  const judge = ({ destination, probe }: Flight, { action }: Job, outcome: Attempt['outcome'], now: number) => {
    const { breaker, name } = destination
    if (outcome.type === 'delivered' || outcome.type === 'gone') {
      succeeded(breaker)
      destination.health = 'well'
    } else if (outcome.type === 'retry') {
      failed(breaker, now, probe)
      destination.health = 'failing'
      const { failingSince } = breaker
      const span = spanOf(schedule)
      if (failingSince === undefined || now - failingSince < span) return
      const why = `given up: its receiver has not taken anything since ${new Date(failingSince).toISOString()}`
      const gone = store.expire(name, now - span, now, why)
      if (gone > 0) counted.dead.add({ channel: action.type }, gone)
    }
  }

  takeOver()
  ask(0)
  const loop = run()

  return {
    wake(network) {
      for (const name of network === undefined ? outboxes().keys() : [network]) dirty.add(name)
      ask(0)
    },

    reload() {
      takeOver()
      ask(0)
    },

    testFire: (rule, alert, signal) =>
      Promise.all(
        rule.input.config.alerts.map(async (action, place) => {
          const now = clock.now()
          const id = store.addTest(rule, alert, place, { channels, digestMs, now })
          const message: Message = {
            id: alert.id,
            type: 'alert.test',
            network: rule.network,
            timestamp: now,
            ...headOf(rule, alert),
            source: readSource(alert.source),
          }
          const begun = performance.now()
          const outcome = await attempt(
            { account: rule.account, action, messages: [message] },
            AbortSignal.any([signal, controller.signal]),
          )
          const latencyMs = Math.round(performance.now() - begun)
          store.settleTest(id, { ids: [id], at: now, latencyMs, outcome })
          return {
            action: place,
            type: action.type,
            target: channels.of(action).shown(action),
            delivered: outcome.type === 'delivered',
            status: 'status' in outcome ? outcome.status : null,
            error: errorOf(outcome),
            latencyMs,
          }
        }),
      ),

    async stop() {
      stopping = true
      rest.abort()
      await loop
      const patience = new AbortController()
      await Promise.race([Promise.all(under), systemClock.sleep(STOP_MS, patience.signal).catch(() => {})])
      patience.abort()
      controller.abort(new Error('the program stops'))
      await Promise.all(under)
      // What cannot be written now is sent once more at the next start.
      try {
        settle()
      } catch (error) {
        log.error('Could not record the last attempts', { error })
      }
    },
  }
}

/** An attempt from before it is claimed until its outcome is committed. */
interface Flight {
  destination: Destination
  due: readonly Due[]
  /** It is sent to see whether a destination that failed is back. */
  probe: boolean
  /** Gives its place back; again is no harm. */
  leave(): void
}

const countersOf = (metrics: Metrics) => ({
  delivered: metrics.counter('chainsieve_deliveries_delivered_total', 'Deliveries that were made.'),
  retried: metrics.counter('chainsieve_deliveries_retried_total', 'Attempts that failed and are made again.'),
  dead: metrics.counter('chainsieve_deliveries_dead_total', 'Deliveries that were given up and wait for redelivery.'),
  cancelled: metrics.counter(
    'chainsieve_deliveries_cancelled_total',
    'Deliveries that were no longer wanted: the alert was retracted, or came to another state.',
  ),
  lag: metrics.histogram(
    'chainsieve_delivery_lag_milliseconds',
    'Time from when a block was received to when its alert was delivered.',
    LAG_BOUNDS_MS,
  ),
})
