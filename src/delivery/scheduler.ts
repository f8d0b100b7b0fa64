import { type Breakers, createBreakers } from '../lib/scheduling/circuit-breaker.ts'
import { createFairQueue, createHeap, type Queued } from '../lib/scheduling/queues.ts'

const HEALTHS = ['well', 'unknown', 'failing'] as const
export type DestinationHealth = (typeof HEALTHS)[number]

/** A destination of one account: no account blocks another. */
export interface Lane {
  account: number
  destination: string
}

export interface DestinationState extends Lane {
  readonly breakers: Breakers
  health: DestinationHealth
  /** Running deliveries, and those whose outcome is not committed. */
  readonly busy: Set<number>
  /** Their sequences; other deliveries of a sequence wait. */
  readonly sequences: Set<string>
  /** Running attempts. */
  running: number
  /** Running retries. */
  runningAgain: number
  /** First tries since the last retry. */
  sinceAgain: number
  /** Time of its next turn by `clock.elapsed`; infinite if nothing is due. */
  turnAt: number
  ready: boolean
}

interface SchedulerOptions {
  /** Concurrent attempts, without slow ones. */
  total: number
  /** The same per account; default `total`. */
  byAccount?: number
  /** Longer attempts count as slow, so hanging receivers take no slots. */
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
 * Chooses the next due destination: working ones first, then unknown, then failing ones. Accounts
 * of the same health take turns, and none gets more than its share of slots.
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
      // Superseded by an earlier turn.
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

    /** Schedules a turn, unless there is an earlier one. */
    offer(destination: DestinationState, at: number) {
      if (destination.ready || at >= destination.turnAt) return
      destination.turnAt = at
      timers.push({ at, destination })
    },

    /** Takes the next destination that may start something; its taker offers it again. */
    take(now: number): DestinationState | undefined {
      for (const account of accounts.values()) setSlowApart(account, now)
      callUp(now)
      for (const health of HEALTHS) {
        // Alternates the newest with the oldest, so new ones need not wait for all others.
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

    /** Free slots of its account for its health. */
    room: ({ account, health }: Pick<DestinationState, 'account' | 'health'>): number =>
      roomOf(accountOf(account), health),

    /** Begins an attempt; the returned function ends it and may be called twice. */
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

    /** Time of the next turn if nothing changes before. */
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

    /** Evicts an idle destination. */
    forget(destination: DestinationState) {
      if (!destination.ready && destination.turnAt === Number.POSITIVE_INFINITY && destination.busy.size === 0)
        destinations.delete(laneKey(destination))
    },

    size: () => destinations.size,
  }
}

const laneKey = ({ account, destination }: Lane): string => `${account} ${destination}`

type Concurrency = ReturnType<typeof createConcurrency>

const SLOW_FACTOR = 4
/** Shares of `total`: of failing attempts, and of failing and unknown ones together. */
const FAILING_SHARE = 1 / 4
const DOUBTFUL_SHARE = 3 / 4

/**
 * Counts slots of running attempts, of one account or of all. Failing and unknown destinations
 * cannot take all slots, so working ones find room; slow attempts are counted separately.
 */
const createConcurrency = (total: number) => {
  const young: Record<DestinationHealth, number> = { well: 0, unknown: 0, failing: 0 }
  let slow = 0
  return {
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
    hasSlowRoom: () => slow < total * SLOW_FACTOR,
    setApart(health: DestinationHealth) {
      young[health]--
      slow++
    },
  }
}
