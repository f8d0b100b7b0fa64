import { allowed, type Breaker, type Turn } from '../lib/scheduling/breaker.ts'
import type { Due, Queue } from './ledger/queue.ts'
import type { DestinationState } from './scheduler.ts'

/** The deliveries to send next to a destination. */
export interface NextDue {
  due: Due
  turn: Turn
  /** The open breaker that this attempt probes, if any. */
  probe: Breaker | undefined
}

/** Both times of `Clock`: the ledger uses `now`, breakers use `elapsed`, which no change of the clock affects. */
export interface ClockTimes {
  now: number
  elapsed: number
}

/** While others wait, one of so many attempts is for what has failed before. */
const AGAIN_IN = 4

/**
 * The next deliveries of a destination, one by one: what was never tried goes first, so that what a receiver cannot digest holds nothing
 * up. Whoever takes one marks it as busy before asking for the next.
 */
export const createNextDue = (
  store: { due: Queue['due'] },
  destination: DestinationState,
  { now, elapsed }: ClockTimes,
  room: number,
  most: number,
) => {
  const { breakers, busy, sequences } = destination
  const limit = busy.size + room
  const waiting: Record<Turn, readonly Due[]> = {
    first: store.due(destination, 'first', now, limit),
    // Nothing has failed where nothing is known of a destination.
    again: destination.health === 'unknown' ? [] : store.due(destination, 'again', now, limit),
  }
  const free = ({ id, sequence }: Due) => !busy.has(id) && !sequences.has(sequence)
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
