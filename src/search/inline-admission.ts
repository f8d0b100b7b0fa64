import { hash } from 'node:crypto'
import { createFairQueue } from '../lib/scheduling/queues.ts'

/** A shape that had to be handed over each time is tried once in so many times. */
const MAX_SKIPPED = 63
const MAX_SHAPES = 2_000

/** Answers in a row after which a shape is known to be cheap. */
const CHEAP_ANSWERS = 8

/** From so many milliseconds on, on average, queries of a shape are long. */
const LONG_MS = 0.5

/** The weight of one query in the average, and its greatest value in milliseconds: a garbage collection makes no shape a long one. */
const WEIGHT = 0.25
const MAX_COUNTED_MS = 1.5

/** One in so many of a long shape is answered all the same: its queries may have become short. */
const LOOK_AGAIN = 16

/** Time that failed attempts may take: a share of all time, and milliseconds at once. */
const LOSSES = { all: { share: 0.25, burstMs: 80 }, account: { share: 0.1, burstMs: 40 } }

export type InlineAdmission = ReturnType<typeof createInlineAdmission>

/**
 * Which queries the main thread tries to answer itself. One that it has to hand over has cost it time for nothing: it leaves those of
 * the same shape alone for a while, and loses no more than a small share of its time that way, in all and by account. Those that it has
 * answered again and again are tried all the same.
 */
export const createInlineAdmission = (now: () => number = () => performance.now()) => {
  /** Shapes that were handed over lately: how often they are to be left alone, and how often yet. */
  const dear = new Map<string, { skips: number; left: number }>()
  const loss = createLoss(LOSSES.all, now)
  const byAccount = new Map<number, Loss>()
  /** Answers in a row, of shapes that were answered since the first one was handed over. */
  const cheap = new Map<string, number>()
  /** Average time of shapes of which one took long, and how many were passed on since one was answered. */
  const long = new Map<string, { ms: number; passed: number }>()

  const average = (shape: () => string, ms: number) => {
    if (ms < LONG_MS && long.size === 0) return
    const key = shape()
    const before = long.get(key)?.ms ?? 0
    const now = before + (Math.min(ms, MAX_COUNTED_MS) - before) * WEIGHT
    long.delete(key)
    if (now < LONG_MS * WEIGHT) return
    long.set(key, { ms: now, passed: 0 })
    if (long.size > MAX_SHAPES) long.delete(long.keys().next().value!)
  }

  const lossOf = (account: number): Loss => {
    let own = byAccount.get(account)
    if (!own) {
      own = createLoss(LOSSES.account, now)
      byAccount.set(account, own)
    }
    return own
  }
  const hasLost = (account: number): boolean => loss.isOver() || (byAccount.get(account)?.isOver() ?? false)

  return {
    /** `shape` gives what queries that cost the same have in common. */
    mayTry(account: number, shape: () => string): boolean {
      if (dear.size === 0) return true
      const key = shape()
      if (hasLost(account)) return (cheap.get(key) ?? 0) >= CHEAP_ANSWERS
      const known = dear.get(key)
      if (!known || known.left === 0) return true
      known.left--
      return false
    },
    /** Whether earlier queries of the shape took long: a thread answers it where others wait. */
    isLong(shape: () => string): boolean {
      if (long.size === 0) return false
      const known = long.get(shape())
      if (!known || known.ms < LONG_MS) return false
      known.passed = (known.passed + 1) % LOOK_AGAIN
      return known.passed !== 0
    },
    /** It took so many milliseconds of the processor. */
    answered(shape: () => string, ms: number) {
      average(shape, ms)
      if (dear.size === 0) return
      const key = shape()
      dear.delete(key)
      if (cheap.size >= MAX_SHAPES) cheap.clear()
      cheap.set(key, (cheap.get(key) ?? 0) + 1)
    },
    /** It took so many milliseconds. */
    handedOver(account: number, shape: () => string, ms: number) {
      loss.add(ms)
      lossOf(account).add(ms)
      const key = shape()
      cheap.delete(key)
      const skips = Math.min(MAX_SKIPPED, 2 * (dear.get(key)?.skips ?? 0) + 1)
      dear.delete(key)
      dear.set(key, { skips, left: skips })
      if (dear.size > MAX_SHAPES) dear.delete(dear.keys().next().value!)
    },
  }
}

/** The key of queries that differ in numbers and hashes alone. */
export const queryShape = (target: string, body: string): string => {
  const shape = `${target} ${body.replace(/\b(?:0x[\da-f]*|\d+)/gi, '0')}`
  return shape.length > SHORT_SHAPE ? hash('sha1', shape, 'base64') : shape
}

/** Letters of a shape that takes less time and memory as it is. */
const SHORT_SHAPE = 500

type Loss = ReturnType<typeof createLoss>

/** The debt, which shrinks as time passes. */
const createLoss = ({ share, burstMs }: { share: number; burstMs: number }, now: () => number) => {
  let lost = 0
  let at = now()
  const settle = () => {
    const current = now()
    lost = Math.max(0, lost - (current - at) * share)
    at = current
  }
  return {
    add(ms: number) {
      settle()
      lost += ms
    },
    isOver(): boolean {
      if (lost === 0) return false
      settle()
      return lost >= burstMs
    },
  }
}

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
