import { createFairQueue } from '../lib/scheduling/queues.ts'

const LOOP_TURN_MS = 4
/** As many wait at once, of all and of one account: at most some 50 ms. */
const MAX_WAITING_TASKS = 256
const MAX_WAITING_OF_ONE = 128

export type LoopBudget = ReturnType<typeof createLoopBudget>

/**
 * The time that answers take of the main thread, turn by turn of its event loop: whatever else is ready then waits no longer. What does not
 * fit into one turn waits for the next ones, where accounts take turns.
 */
export const createLoopBudget = () => {
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
    while (spent < LOOP_TURN_MS && runNext());
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
    isFree: (): boolean => queue.size === 0 && spent < LOOP_TURN_MS,
    /** So much of it was used. */
    spend(ms: number) {
      spent += ms
      endLater()
    },
    /** Calls `run`, which throws nothing, when it is the account's turn; false where too many wait. */
    wait(account: number, run: () => void): boolean {
      if (queue.size >= MAX_WAITING_TASKS || queue.waiting(account) >= MAX_WAITING_OF_ONE) return false
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
