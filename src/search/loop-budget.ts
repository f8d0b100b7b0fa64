import { createFairQueue } from '../lib/scheduling/queues.ts'

const TURN_MS = 4
/** As many wait at once, of all and of one account: at most some 50 ms. */
const MOST = 256
const MOST_OF_ONE = 128

export type Turns = ReturnType<typeof createTurns>

/**
 * The time that answers take of the main thread, turn by turn of its event loop: whatever else is ready then waits no longer. What does not
 * fit into one turn waits for the next ones, where accounts take turns.
 */
export const createTurns = () => {
  const queue = createFairQueue<{ account: number; lane: 'cheap'; run(): void }>()
  let spent = 0
  let ending = false

  const endLater = () => {
    if (ending) return
    ending = true
    setImmediate(endTurn)
  }
  const endTurn = () => {
    ending = false
    spent = 0
    while (spent < TURN_MS && runNext());
    if (queue.size > 0) endLater()
  }
  const runNext = (): boolean => {
    const task = queue.take('cheap')
    if (!task) return false
    task.run()
    return true
  }

  return {
    /** Whether there is time left in this turn, and nobody waits for it. */
    isFree: (): boolean => queue.size === 0 && spent < TURN_MS,
    /** So much of it was used. */
    spend(ms: number) {
      spent += ms
      endLater()
    },
    /** Calls `run`, which throws nothing, when it is the account's turn; false where too many wait. */
    wait(account: number, run: () => void): boolean {
      if (queue.size >= MOST || queue.waiting(account) >= MOST_OF_ONE) return false
      queue.add({ account, lane: 'cheap', run })
      endLater()
      return true
    },
    /** Lets all that wait run at once. */
    close() {
      while (runNext());
    },
  }
}
