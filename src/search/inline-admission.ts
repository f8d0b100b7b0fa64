import { hash } from 'node:crypto'
import { createFairQueue } from '../lib/scheduling/queues.ts'

/** A shape that had to be handed over each time is tried once in so many times. */
const MAX_SKIPPED = 63
const MAX_SHAPES = 2_000

/** Answers in a row after which a shape is known to be cheap. */
const CHEAP_ANSWERS = 8
/** Queries of a shape count as long from this average on, in milliseconds. */
const LONG_MS = 0.5
/** Weight of one query in the average, and its cap in ms: one GC pause makes no shape long. */
const WEIGHT = 0.25
const MAX_COUNTED_MS = 1.5
/** One in this many queries of a long shape is tried anyway: they may have become short. */
const LOOK_AGAIN = 16
/** Budget for failed attempts: share of all time, and milliseconds at once. */
const LOSSES = { all: { share: 0.25, burstMs: 80 }, account: { share: 0.1, burstMs: 40 } }

export type InlineAdmission = ReturnType<typeof createInlineAdmission>

/**
 * Chooses queries that the main thread tries itself. A handover wastes its time: it then skips the
 * shape for a while, and limits the loss overall and per account. Reliably cheap shapes still run.
 */
export const createInlineAdmission = (now: () => number = () => performance.now()) => {
  /** Shapes handed over lately: how many queries to skip, and how many skips are left. */
  const dear = new Map<string, { skips: number; left: number }>()
  const loss = createLoss(LOSSES.all, now)
  const byAccount = new Map<number, Loss>()
  /** Consecutive answers by shape, counted since the first handover. */
  const cheap = new Map<string, number>()
  /** Shapes with a long query: average time, and queries passed on since the last answer. */
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
    /** Records an answer and its processor time. */
    answered(shape: () => string, ms: number) {
      average(shape, ms)
      if (dear.size === 0) return
      const key = shape()
      dear.delete(key)
      if (cheap.size >= MAX_SHAPES) cheap.clear()
      cheap.set(key, (cheap.get(key) ?? 0) + 1)
    },
    /** Records a handover and the time spent before it. */
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

/** The key of queries that differ in numbers, hashes and white space alone. */
export const queryShape = (target: string, body: string): string => {
  const shape = `${target} ${body.replace(/\b(?:0x[\da-f]*|\d+)/gi, '0').replace(/\s+/g, '')}`
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
 * Limits the time of answers per turn of the main thread's event loop, so other events wait no
 * longer. Further answers wait for the next turns, where accounts alternate.
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
    /** Whether there is time left in this turn, and no answer waits. */
    isFree: (): boolean => queue.size === 0 && spent < LOOP_TURN_MS,
    /** Records used time. */
    spend(ms: number) {
      spent += ms
      endLater()
    },
    /** Calls `run`, which must not throw, on the account's turn; false if too many wait. */
    wait(account: number, run: () => void): boolean {
      if (queue.size >= MAX_WAITING_TASKS || queue.waiting(account) >= MAX_WAITING_OF_ONE) return false
      queue.add({ account, lane: 'cheap', run })
      endLater()
      return true
    },
    /** Runs all waiting answers at once. */
    close() {
      while (runNext());
    },
  }
}
