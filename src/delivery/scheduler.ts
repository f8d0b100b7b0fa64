import { type Breakers, createBreakers } from '../lib/scheduling/breaker.ts'
import { createFairQueue, createHeap, type Queued } from '../lib/scheduling/queues.ts'

/** The state of a destination after its last attempt. */
export const HEALTHS = ['well', 'unknown', 'failing'] as const
export type DestinationHealth = (typeof HEALTHS)[number]

/** A destination of one account: a fault of one account holds up no other. */
export interface Lane {
  account: number
  destination: string
}

export interface DestinationState extends Lane {
  readonly breakers: Breakers
  health: DestinationHealth
  /** Deliveries that are under way, or whose outcome is not committed yet. */
  readonly busy: Set<number>
  /** Their sequences: other deliveries of the same one wait. */
  readonly sequences: Set<string>
  /** Attempts under way. */
  running: number
  /** Attempts under way of deliveries that have failed before. */
  runningAgain: number
  /** First tries since the last retry. */
  sinceAgain: number
  /** Time of its next turn, as of `clock.elapsed`, as all times here; infinite if nothing is known to be due. */
  turnAt: number
  /** Has its turn now. */
  ready: boolean
}

export interface SchedulerOptions {
  /** Attempts at once, of those that began a short while ago. */
  total: number
  /** The same of one account; by default `total`. */
  byAccount?: number
  /** Longer attempts are counted separately, so that hanging receivers take no places. */
  slowMs?: number
}

interface TimedAttempt {
  at: number
  health: DestinationHealth
  state: 'young' | 'slow' | 'ended'
}

interface AccountAttempts {
  places: Concurrency
  /** The oldest first. */
  running: TimedAttempt[]
}

export type Scheduler = ReturnType<typeof createScheduler>

/**
 * Chooses the next destination with something due. Those known to work go before those never tried, and these before those that failed
 * last; among equals the accounts take turns, and none has more than its share of the places.
 */
export const createScheduler = ({ total, byAccount = total, slowMs = 1_000 }: SchedulerOptions) => {
  const destinations = new Map<string, DestinationState>()
  const timers = createHeap<{ at: number; destination: DestinationState }>()
  const all = createConcurrency(total)
  const accounts = new Map<number, AccountAttempts>()
  const ready = createFairQueue<Queued<DestinationHealth> & { destination: DestinationState }>()
  let fromBack = false

  const accountOf = (id: number): AccountAttempts => {
    let found = accounts.get(id)
    if (!found) {
      found = { places: createConcurrency(byAccount), running: [] }
      accounts.set(id, found)
    }
    return found
  }

  const roomOf = ({ places }: AccountAttempts, health: DestinationHealth) =>
    Math.min(all.room(health), places.room(health))

  const setSlowApart = ({ places, running }: AccountAttempts, now: number) => {
    let at = 0
    for (; at < running.length; at++) {
      const one = running[at]!
      if (one.state === 'ended') continue
      if (one.at + slowMs > now || !places.hasSlowRoom() || !all.hasSlowRoom()) break
      one.state = 'slow'
      for (const each of [places, all]) each.setApart(one.health)
    }
    running.splice(0, at)
  }

  const callUp = (now: number) => {
    for (let top = timers.peek(); top && top.at <= now; top = timers.peek()) {
      timers.pop()
      const { destination, at } = top
      // A later offer was earlier in time, and has had its turn.
      if (destination.ready || destination.turnAt !== at) continue
      destination.ready = true
      ready.add({ account: destination.account, lane: destination.health, destination })
    }
  }

  return {
    get(lane: Lane): DestinationState {
      const key = laneKey(lane)
      let found = destinations.get(key)
      if (!found) {
        found = {
          ...{ account: lane.account, destination: lane.destination, health: 'unknown', breakers: createBreakers() },
          ...{ busy: new Set(), sequences: new Set(), running: 0, runningAgain: 0, sinceAgain: 0 },
          ...{ turnAt: Number.POSITIVE_INFINITY, ready: false },
        }
        destinations.set(key, found)
      }
      return found
    },

    /** Something is due there at that time; an earlier turn stays. */
    offer(destination: DestinationState, at: number) {
      if (destination.ready || at >= destination.turnAt) return
      destination.turnAt = at
      timers.push({ at, destination })
    },

    /** The next that may start something now. Its turn is over: who takes it offers it again. */
    take(now: number): DestinationState | undefined {
      for (const account of accounts.values()) setSlowApart(account, now)
      callUp(now)
      for (const health of HEALTHS) {
        // Among many that were never tried, the newest need not wait for all that came before.
        const newest = health === 'unknown' && !fromBack
        const next = ready.take(health, { serves: account => roomOf(accountOf(account), health) > 0, newest })
        if (!next) continue
        fromBack = newest
        const { destination } = next
        destination.ready = false
        destination.turnAt = Number.POSITIVE_INFINITY
        return destination
      }
      return undefined
    },

    /** How many more attempts may start there, by its account and its health. */
    room: ({ account, health }: Pick<DestinationState, 'account' | 'health'>): number =>
      roomOf(accountOf(account), health),

    /** Marks an attempt as begun; the function that it returns marks the end, which it may do again. */
    begin({ account: id, health }: Pick<DestinationState, 'account' | 'health'>, now: number): () => void {
      const { places, running } = accountOf(id)
      const one: TimedAttempt = { at: now, health, state: 'young' }
      running.push(one)
      for (const each of [places, all]) each.enter(health)
      return () => {
        if (one.state === 'ended') return
        for (const each of [places, all]) each.leave(health, one.state === 'slow')
        one.state = 'ended'
      }
    },

    /** The time of the next turn if no attempt ends and nothing is offered before. */
    nextAt(): number {
      const slowAt = [...accounts.values()].map(({ places, running }) => {
        const oldest = places.hasSlowRoom() ? running.find(({ state }) => state === 'young') : undefined
        return oldest ? oldest.at + slowMs : Number.POSITIVE_INFINITY
      })
      return Math.min(
        timers.peek()?.at ?? Number.POSITIVE_INFINITY,
        ...(ready.size > 0 && all.hasSlowRoom() ? slowAt : []),
      )
    },

    /** Destinations that nothing is known of but that they are well are forgotten. */
    forget(destination: DestinationState) {
      if (!destination.ready && destination.turnAt === Number.POSITIVE_INFINITY && destination.busy.size === 0)
        destinations.delete(laneKey(destination))
    },

    size: () => destinations.size,
  }
}

const laneKey = ({ account, destination }: Lane): string => `${account} ${destination}`

type Concurrency = ReturnType<typeof createConcurrency>

/** At most `SLOW_FACTOR * total` attempts may be slow. */
const SLOW_FACTOR = 4
/** Shares of `total`: of those that fail, and of those together with the unknown. */
const FAILING_SHARE = 1 / 4
const DOUBTFUL_SHARE = 3 / 4

/**
 * Places for attempts under way, of one account or of all together. The worse two classes are kept from taking every place, so that
 * however many receivers are dead, one that works finds room. What takes long is counted apart, so that hanging receivers take none.
 */
const createConcurrency = (total: number) => {
  const young: Record<DestinationHealth, number> = { well: 0, unknown: 0, failing: 0 }
  let slow = 0
  return {
    /** How many more attempts of that class may start. */
    room(health: DestinationHealth): number {
      const { well, unknown, failing } = young
      const all = total - well - unknown - failing
      if (health === 'well') return all
      const doubtful = Math.min(all, Math.ceil(total * DOUBTFUL_SHARE) - unknown - failing)
      return health === 'unknown' ? doubtful : Math.min(doubtful, Math.ceil(total * FAILING_SHARE) - failing)
    },
    enter: (health: DestinationHealth) => void young[health]++,
    leave(health: DestinationHealth, wasSlow: boolean) {
      if (wasSlow) slow--
      else young[health]--
    },
    /** Whether another attempt may be counted as slow. */
    hasSlowRoom: () => slow < total * SLOW_FACTOR,
    setApart(health: DestinationHealth) {
      young[health]--
      slow++
    },
  }
}
