import type { Clock } from '../lib/retry.ts'
import { allowed, failed, failingSince, succeeded } from '../lib/scheduling/breaker.ts'
import type { Agenda, Destination } from './agenda.ts'
import type { Counters } from './counters.ts'
import { createPicks, type Picked, type Time } from './picks.ts'
import type { Attempt, Due, Job, Settled } from './queue.ts'
import { spanOf } from './schedule.ts'
import type { Sender } from './sender.ts'
import type { DeliveryStore } from './store.ts'
import type { ChannelOf } from './teller.ts'

/** Attempts: what is due is claimed, sent, and what came of it is written. */
export interface Flights {
  /** Starts some of what is due; returns whether there may be more to start. */
  start(): boolean
  /** Writes the outcomes of attempts that ended. */
  settle(): void
  /** Looks at a destination when something is due there (epoch, ms), or when it may be tried again. */
  offer(destination: Destination, dueAt: number): void
  /** Resolves when all attempts have ended, whose outcomes may be still to be written. */
  ended(): Promise<unknown>
}

export interface FlightsOptions {
  store: DeliveryStore
  agenda: Agenda
  channels: ChannelOf
  sender: Pick<Sender, 'attempt'>
  counted: Counters
  clock: Clock
  /** Asks for a turn after so many milliseconds. */
  ask(inMs: number): void
  /** How long after a failure of the store it is tried again. */
  againMs: number
  perDestination: number
  schedule: readonly number[]
  random?: (() => number) | undefined
  /** Told what every attempt came to. */
  onOutcome?: ((job: Job, outcome: Attempt['outcome'], now: number) => void) | undefined
  failingSince?: ((job: Job) => number | undefined) | undefined
}

/** Outcomes of so short a while are written together. */
const TOGETHER_MS = 2
/** Few enough for answers to be heard in between. */
const START_AT_ONCE = 16
/** Deliveries of one destination before the next one has its turn. */
const TURN = 5
const COMBINE_AT_ONCE = 100
/** Destinations above this are forgotten as soon as nothing is queued for them. */
const MAX_KNOWN = 20_000

export const createFlights = (options: FlightsOptions): Flights => {
  const { store, agenda, channels, sender, counted, clock, ask, againMs, perDestination, schedule, random } = options
  const { onOutcome } = options
  const under = new Set<Promise<void>>()
  /** Attempts whose outcome is not written yet. */
  let ended: { flight: Flight; job: Job; attempt: Attempt }[] = []

  const offer = (destination: Destination, dueAt: number) => {
    const at = clock.elapsed() + dueAt - clock.now()
    agenda.offer(destination, Math.max(at, destination.breakers.first.restUntil))
  }

  const start = (): boolean => {
    const time: Time = { now: clock.now(), elapsed: clock.elapsed() }
    const { now, elapsed } = time
    const flights: Flight[] = []
    while (flights.length < START_AT_ONCE) {
      const destination = agenda.take(elapsed)
      if (!destination) break
      const { breakers, busy, running } = destination
      const room = Math.min(allowed(breakers.first, elapsed, perDestination) - running, agenda.room(destination), TURN)
      if (room <= 0) {
        // At its limit it is offered again when one of its attempts ends.
        if (breakers.first.restUntil > elapsed) agenda.offer(destination, breakers.first.restUntil)
        continue
      }
      const next = createPicks(store, destination, time, room, perDestination)
      let taken = 0
      for (let picked = next(); picked; picked = taken < room ? next() : undefined) {
        flights.push(prepare(destination, picked, time))
        taken++
      }
      // Where all that is due waits for what is under way, it is offered again when that ends.
      const nextAt = taken === room ? now : store.nextDue(destination, now)
      if (nextAt !== undefined) offer(destination, nextAt)
      else if (busy.size === 0 && agenda.size() > MAX_KNOWN) agenda.forget(destination)
      if (breakers.again.restUntil > elapsed)
        agenda.offer(destination, Math.max(breakers.first.restUntil, breakers.again.restUntil))
    }
    if (flights.length > 0) depart(flights, now)
    return flights.length >= START_AT_ONCE
  }

  const prepare = (destination: Destination, { due: first, turn, probe }: Picked, { now, elapsed }: Time): Flight => {
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
    return { destination, due: combined, turn, probe, leave: agenda.begin(destination, elapsed) }
  }

  const depart = (flights: readonly Flight[], now: number) => {
    let jobs: ReturnType<DeliveryStore['claim']>
    try {
      jobs = store.claim(
        flights.map(({ due }) => due),
        now,
      )
    } catch (error) {
      for (const flight of flights) land(flight, now + againMs)
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
  const judge = ({ destination, turn, probe }: Flight, job: Job, outcome: Attempt['outcome'], now: number) => {
    const { breakers } = destination
    if (outcome.type === 'delivered' || outcome.type === 'gone') {
      succeeded(breakers)
      destination.health = 'well'
    } else if (outcome.type === 'retry') {
      const elapsed = clock.elapsed()
      failed(breakers, turn, elapsed, probe)
      destination.health = 'failing'
      const since = failingSince(breakers)
      const span = spanOf(schedule)
      if (since === undefined || elapsed - since < span) return
      // What died before this start has waited for longer.
      const first = Math.min(now - (elapsed - since), options.failingSince?.(job) ?? Number.POSITIVE_INFINITY)
      const why = `dead: its receiver has accepted nothing since ${new Date(first).toISOString()}`
      const gone = store.expire(destination, now - span, now, why)
      if (gone > 0) counted.dead.add({ channel: job.action.type }, gone)
    }
  }

  return { start, settle, offer, ended: () => Promise.all(under) }
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
