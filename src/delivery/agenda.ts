import { type Breaker, createBreaker } from './breaker.ts'

/**
 * Who is next: destinations with something due, served in turn. Those known to work go before those never tried, and these before those
 * that failed last; the worse two classes are kept from taking every place, so that however many receivers are dead, one that works
 * finds room.
 */

const HEALTHS = ['well', 'unknown', 'failing'] as const
export type Health = (typeof HEALTHS)[number]

export interface Destination {
  readonly name: string
  readonly breaker: Breaker
  health: Health
  /** Deliveries that are under way, or whose outcome is not committed yet. */
  readonly busy: Set<number>
  /** Their lines: what has the same one waits. */
  readonly lines: Set<string>
  /** Attempts under way. */
  running: number
  /** When it has its turn; infinite where nothing is known to be due. */
  turnAt: number
  /** Has its turn now. */
  ready: boolean
}

export interface Agenda {
  get(name: string): Destination
  /** Something is due there at that time; an earlier turn stays. */
  offer(destination: Destination, at: number): void
  /** The next that may start something now. Its turn is over: who takes it offers it again. */
  take(now: number): Destination | undefined
  /** How many more attempts of that class may start. */
  room(health: Health): number
  /** Marks an attempt as begun; the function that it returns marks the end, which it may do again. */
  begin(health: Health, now: number): () => void
  /** When something is to be done next without anything happening before. */
  nextAt(): number
  /** Destinations that nothing is known of but that they are well are forgotten. */
  forget(destination: Destination): void
  size(): number
}

export interface AgendaOptions {
  /** Attempts at once, of those that began a short while ago. */
  total: number
  /** An attempt that has run longer is waited for apart, so that hanging receivers take no places. */
  slowMs?: number
}

/** So many times `total` may be slow. */
const SLOW_FACTOR = 4
/** Shares of `total`: of those that fail, and of those together with the unknown. */
const FAILING_SHARE = 1 / 4
const DOUBTFUL_SHARE = 3 / 4

interface Running {
  at: number
  health: Health
  state: 'young' | 'slow' | 'ended'
}

export const createAgenda = ({ total, slowMs = 1_000 }: AgendaOptions): Agenda => {
  const destinations = new Map<string, Destination>()
  const timers = createHeap()
  const ready: Record<Health, Destination[]> = { well: [], unknown: [], failing: [] }
  const young: Record<Health, number> = { well: 0, unknown: 0, failing: 0 }
  let running: Running[] = []
  let slow = 0
  let fromBack = false

  const room = (health: Health): number => {
    const { well, unknown, failing } = young
    const all = total - well - unknown - failing
    if (health === 'well') return all
    const doubtful = Math.min(all, Math.ceil(total * DOUBTFUL_SHARE) - unknown - failing)
    return health === 'unknown' ? doubtful : Math.min(doubtful, Math.ceil(total * FAILING_SHARE) - failing)
  }

  const setSlowApart = (now: number) => {
    let at = 0
    for (; at < running.length; at++) {
      const one = running[at]!
      if (one.state === 'ended') continue
      if (one.at + slowMs > now || slow >= total * SLOW_FACTOR) break
      one.state = 'slow'
      young[one.health]--
      slow++
    }
    if (at > 0) running = running.slice(at)
  }

  return {
    get(name) {
      let found = destinations.get(name)
      if (!found) {
        found = {
          name,
          breaker: createBreaker(),
          health: 'unknown',
          busy: new Set(),
          lines: new Set(),
          running: 0,
          turnAt: Number.POSITIVE_INFINITY,
          ready: false,
        }
        destinations.set(name, found)
      }
      return found
    },

    offer(destination, at) {
      if (destination.ready || at >= destination.turnAt) return
      destination.turnAt = at
      timers.push({ at, destination })
    },

    take(now) {
      setSlowApart(now)
      for (let top = timers.peek(); top && top.at <= now; top = timers.peek()) {
        timers.pop()
        const { destination, at } = top
        if (destination.ready || destination.turnAt !== at) continue
        destination.ready = true
        ready[destination.health].push(destination)
      }
      for (const health of HEALTHS) {
        const list = ready[health]
        if (list.length === 0 || room(health) <= 0) continue
        // Among many that were never tried, the newest need not wait for all that came before.
        fromBack = health === 'unknown' && !fromBack
        const destination = (fromBack ? list.pop() : list.shift())!
        destination.ready = false
        destination.turnAt = Number.POSITIVE_INFINITY
        return destination
      }
      return undefined
    },

    room,

    begin(health, now) {
      const one: Running = { at: now, health, state: 'young' }
      running.push(one)
      young[health]++
      return () => {
        if (one.state === 'slow') slow--
        else if (one.state === 'young') young[health]--
        one.state = 'ended'
      }
    },

    nextAt() {
      const waiting = HEALTHS.some(health => ready[health].length > 0)
      const oldest = waiting && slow < total * SLOW_FACTOR ? running.find(({ state }) => state === 'young') : undefined
      return Math.min(
        timers.peek()?.at ?? Number.POSITIVE_INFINITY,
        oldest ? oldest.at + slowMs : Number.POSITIVE_INFINITY,
      )
    },

    forget(destination) {
      if (!destination.ready && destination.turnAt === Number.POSITIVE_INFINITY && destination.busy.size === 0)
        destinations.delete(destination.name)
    },

    size: () => destinations.size,
  }
}

interface Timer {
  at: number
  destination: Destination
}

/** The earliest first. A timer that a later offer has overtaken stays until its time, and is passed over then. */
const createHeap = () => {
  const heap: Timer[] = []
  const swap = (a: number, b: number) => {
    const kept = heap[a]!
    heap[a] = heap[b]!
    heap[b] = kept
  }
  return {
    peek: () => heap[0],
    push(timer: Timer) {
      let at = heap.push(timer) - 1
      for (let up = (at - 1) >> 1; at > 0 && heap[up]!.at > heap[at]!.at; at = up, up = (at - 1) >> 1) swap(at, up)
    },
    pop() {
      const last = heap.pop()
      if (!last || heap.length === 0) return
      heap[0] = last
      for (let at = 0; ; ) {
        const [left, right] = [2 * at + 1, 2 * at + 2]
        let least = at
        if (left < heap.length && heap[left]!.at < heap[least]!.at) least = left
        if (right < heap.length && heap[right]!.at < heap[least]!.at) least = right
        if (least === at) return
        swap(at, least)
        at = least
      }
    },
  }
}
