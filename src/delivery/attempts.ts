import { allowed, type Breaker, failed, failingSince, succeeded, type Turn } from '../lib/scheduling/circuit-breaker.ts'
import type { DeliveryAttempt, Settled } from './ledger/outcomes.ts'
import type { DueDelivery, Job, Queue } from './ledger/queue.ts'
import type { Counters } from './metrics.ts'
import { scheduleSpan } from './retry-schedule.ts'
import type { DestinationState, Scheduler } from './scheduler.ts'
import type { Sender } from './sender.ts'
import type { WorkerOptions } from './worker.ts'

interface AttemptsOptions
  extends Pick<WorkerOptions, 'store' | 'channels' | 'clock' | 'silences' | 'onOutcome' | 'failingSince'> {
  scheduler: Scheduler
  sender: Pick<Sender, 'attempt'>
  counted: Counters
  ask(inMs: number): void
  /** Wait before the store is tried again after a failure, in milliseconds. */
  againMs: number
  perDestination: number
  schedule: readonly number[]
  random?: (() => number) | undefined
}

/** Outcomes are collected this long, then written in one transaction. */
const TOGETHER_MS = 2
/** Small, to read answers between two batches. */
const START_AT_ONCE = 16

/** Deliveries of one destination in a row. */
const TURN = 5
const COMBINE_AT_ONCE = 100

/** Above this number, idle destinations are evicted. */
const MAX_KNOWN = 20_000

/** Claims due deliveries, sends them and writes the outcomes. */
export const createAttempts = (options: AttemptsOptions) => {
  const { store, scheduler, channels, sender, counted, clock, ask, againMs, perDestination, schedule, random } = options
  const under = new Set<Promise<void>>()
  const judge = createHealthJudge(options)
  let ended: { begun: RunningAttempt; job: Job; attempt: DeliveryAttempt }[] = []

  /** Schedules a destination for `dueAt` (epoch, ms), or later if its breaker is open. */
  const offer = (destination: DestinationState, dueAt: number) => {
    const at = clock.elapsed() + dueAt - clock.now()
    scheduler.offer(destination, Math.max(at, destination.breakers.first.openUntil))
  }

  /** Starts due deliveries; returns whether there may be more to start. */
  const start = (): boolean => {
    const [now, elapsed] = [clock.now(), clock.elapsed()]
    const started: RunningAttempt[] = []
    while (started.length < START_AT_ONCE) {
      const destination = scheduler.take(elapsed)
      if (!destination) break
      const { breakers, busy, running } = destination
      const room = Math.min(
        allowed(breakers.first, elapsed, perDestination) - running,
        scheduler.room(destination),
        TURN,
      )
      if (room <= 0) {
        // At its limit, the end of an attempt offers it again.
        if (breakers.first.openUntil > elapsed) scheduler.offer(destination, breakers.first.openUntil)
        continue
      }
      const next = createNextDue(store, destination, { now, elapsed }, room, perDestination)
      let taken = 0
      for (let picked = next(); picked; picked = taken < room ? next() : undefined) {
        started.push(prepare(destination, picked, { now, elapsed }))
        taken++
      }
      // If all due deliveries wait for running ones, their end offers the destination again.
      const nextAt = taken === room ? now : store.nextDue(destination, now)
      if (nextAt !== undefined) offer(destination, nextAt)
      else if (busy.size === 0 && scheduler.size() > MAX_KNOWN) scheduler.forget(destination)
      if (breakers.again.openUntil > elapsed)
        scheduler.offer(destination, Math.max(breakers.first.openUntil, breakers.again.openUntil))
    }
    if (started.length > 0) begin(started, now)
    return started.length >= START_AT_ONCE
  }

  const prepare = (destination: DestinationState, picked: NextDue, { now, elapsed }: ClockTimes): RunningAttempt => {
    const { due: first, turn, probe } = picked
    const { busy, sequences } = destination
    const combined =
      first.groupKey !== null
        ? groupedWith(first, store, destination, now)
        : channels.of({ type: first.channel }).combines
          ? combinedWith(first, store, destination, now)
          : [first]
    for (const { id, sequence } of combined) {
      busy.add(id)
      sequences.add(sequence)
    }
    destination.running++
    if (turn === 'again') destination.runningAgain++
    return { destination, due: combined, turn, probe, leave: scheduler.begin(destination, elapsed) }
  }

  const begin = (all: readonly RunningAttempt[], now: number) => {
    let jobs: (Job | undefined)[]
    try {
      const claimed = all.map(({ due }) => due)
      endSilenced(claimed.flat(), now)
      jobs = store.claim(claimed, now)
    } catch (error) {
      for (const begun of all) end(begun, now + againMs)
      throw error
    }
    for (const [at, begun] of all.entries()) {
      const job = jobs[at]
      if (job) {
        const done = send(begun, job).finally(() => under.delete(done))
        under.add(done)
      } else end(begun, now)
    }
  }

  /** Decided when a message would be sent, since the silence may be newer than its alert. */
  const endSilenced = (due: readonly DueDelivery[], now: number) => {
    const { silences } = options
    if (!silences?.refresh(now)) return
    const ids = due.map(({ id }) => id)
    for (const channel of store.silence(ids, now, silences.find)) counted.silenced.add({ channel })
  }

  const send = async (begun: RunningAttempt, job: Job) => {
    const at = clock.now()
    const startedAt = performance.now()
    const outcome = await sender.attempt(job)
    begun.leave()
    ended.push({ begun, job, attempt: { ids: job.ids, at, latencyMs: performance.now() - startedAt, outcome } })
    ask(TOGETHER_MS)
  }

  /** Ends an attempt once its outcome is stored, or if it was never made. */
  const end = ({ destination, due, turn, leave }: RunningAttempt, offerAt: number) => {
    leave()
    destination.running--
    if (turn === 'again') destination.runningAgain--
    for (const { id, sequence } of due) {
      destination.busy.delete(id)
      destination.sequences.delete(sequence)
    }
    offer(destination, offerAt)
  }

  const settle = () => {
    if (ended.length === 0) return
    const now = clock.now()
    const attempts = ended.map(it => it.attempt)
    const settled = store.settle(attempts, { now, schedule, random })
    const written = ended
    ended = []
    for (const one of settled) countSettled(one, counted, now)
    for (const { begun, job, attempt } of written) {
      counted.attempt.observe({ channel: job.action.type }, attempt.latencyMs / 1_000)
      judge(begun, job, attempt.outcome, now)
      options.onOutcome?.(job, attempt.outcome, now)
      end(begun, now)
    }
  }

  return {
    ...{ start, settle, offer },
    /** Resolves when all attempts have ended; their outcomes may still be unwritten. */
    ended: () => Promise.all(under),
  }
}

/** An attempt from before it is claimed until its outcome is committed. */
interface RunningAttempt {
  destination: DestinationState
  due: readonly DueDelivery[]
  turn: NextDue['turn']
  probe: NextDue['probe']
  /** Frees its slot; a second call has no effect. */
  leave(): void
}

/** Applies an outcome to the destination's health. A refused action says nothing about it. */
const createHealthJudge =
  ({
    store,
    clock,
    counted,
    schedule,
    failingSince: failingBefore,
  }: Pick<AttemptsOptions, 'store' | 'clock' | 'counted' | 'schedule' | 'failingSince'>) =>
  (
    { destination, turn, probe }: Pick<RunningAttempt, 'destination' | 'turn' | 'probe'>,
    job: Job,
    outcome: DeliveryAttempt['outcome'],
    now: number,
  ) => {
    const { breakers } = destination
    if (outcome.type === 'delivered' || outcome.type === 'gone') {
      succeeded(breakers)
      destination.health = 'well'
    } else if (outcome.type === 'retry') {
      const elapsed = clock.elapsed()
      failed(breakers, turn, elapsed, probe)
      destination.health = 'failing'
      const span = scheduleSpan(schedule)
      const failingMs = elapsed - (failingSince(breakers) ?? elapsed)
      if (failingMs < span) return
      // The receiver may have failed since before this start.
      const first = Math.min(now - failingMs, failingBefore?.(job) ?? Number.POSITIVE_INFINITY)
      const why = `dead: its receiver has accepted nothing since ${new Date(first).toISOString()}`
      const gone = store.expire(destination, now - span, now, why)
      if (gone > 0) counted.dead.add({ channel: job.action.type }, gone)
    }
  }

const combinedWith = (
  first: DueDelivery,
  store: Pick<Queue, 'combinable'>,
  { busy, sequences }: DestinationState,
  now: number,
) =>
  store
    .combinable(first, now, busy.size + COMBINE_AT_ONCE)
    .filter(({ id, sequence }) => !busy.has(id) && !sequences.has(sequence))
    .slice(0, COMBINE_AT_ONCE)

/** What was tried before goes again as it went, without others: its receiver may know it by that id. */
const groupedWith = (
  first: DueDelivery,
  store: Pick<Queue, 'groupable'>,
  { busy, sequences }: DestinationState,
  now: number,
) =>
  first.groupId === null && first.begunAt !== null
    ? [first]
    : store
        .groupable(first, now, busy.size + first.groupSize!)
        .filter(({ id, sequence }) => !busy.has(id) && !sequences.has(sequence))
        .slice(0, first.groupSize!)

const countSettled = ({ channel, type, to, first, receivedAt }: Settled, counted: Counters, now: number) => {
  if (to !== 'queued') counted[to].add({ channel })
  if (to === 'delivered' && first && (type === 'alert.pending' || type === 'alert.confirmed'))
    counted.lag.observe({ channel }, Math.max(0, now - receivedAt) / 1_000)
}

interface NextDue {
  due: DueDelivery
  turn: Turn
  /** The open breaker that this attempt probes, if any. */
  probe: Breaker | undefined
}

/** Times of `Clock`: `now` for the ledger; `elapsed`, immune to clock changes, for breakers. */
interface ClockTimes {
  now: number
  elapsed: number
}

/** While first tries wait, every fourth attempt is a retry. */
const AGAIN_IN = 4
/** Picks due deliveries one by one, first tries first. The caller marks each as busy at once. */
const createNextDue = (
  store: { due: Queue['due'] },
  destination: DestinationState,
  { now, elapsed }: ClockTimes,
  room: number,
  most: number,
) => {
  const { breakers, busy, sequences } = destination
  const limit = busy.size + room
  const waiting: Record<Turn, readonly DueDelivery[]> = {
    first: store.due(destination, 'first', now, limit),
    // A destination of unknown health has no failed deliveries.
    again: destination.health === 'unknown' ? [] : store.due(destination, 'again', now, limit),
  }
  const free = ({ id, sequence }: DueDelivery) => !busy.has(id) && !sequences.has(sequence)
  const again = () => {
    const mayRun = allowed(breakers.again, elapsed, most) - destination.runningAgain
    return mayRun > 0 ? waiting.again.find(free) : undefined
  }

  return (): NextDue | undefined => {
    const first = waiting.first.find(free)
    const other = first && (breakers.first.opened > 0 || destination.sinceAgain < AGAIN_IN - 1) ? undefined : again()
    const due = other ?? first
    if (!due) return undefined
    const turn = other ? 'again' : 'first'
    destination.sinceAgain = other ? 0 : destination.sinceAgain + 1
    const probe = [breakers.first, breakers[turn]].find(({ opened }) => opened > 0)
    return { due, turn, probe }
  }
}
