import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort } from 'node:worker_threads'
import { type Failure, toFailure } from '../lib/errors.ts'
import { damaged } from '../sqlite/damage.ts'
import { checkPages, checkQuickly } from '../sqlite/pages.ts'

export interface CheckTask {
  store: string
  /** Time that it may take as fast as it can; then it leaves the disk to others for most of the time. */
  hasteMs: number
}

/** `failure` is null where all pages are as they were written. */
export interface Checked {
  store: string
  failure: Failure | null
}

/** Of the time, once haste is over, that a check takes: a disk gives some 500 MB/s, of which it leaves three quarters. */
const SHARE = 1 / 4

/** The one thread that checks stores while they are searched, one after the other. */
export const runChecker = () => {
  let last = Promise.resolve()
  parentPort!.on('message', (task: CheckTask) => {
    last = last.then(() => check(task)).then(checked => parentPort!.postMessage(checked))
  })
}

const check = async ({ store, hasteMs }: CheckTask): Promise<Checked> => {
  const started = performance.now()
  const steps = checkStore(store)
  for (;;) {
    const begun = performance.now()
    const { done, value } = steps.next()
    if (done) return { store, failure: value }
    const now = performance.now()
    if (now - started > hasteMs) await sleep((now - begun) * (1 / SHARE - 1))
  }
}

/** What is wrong with a store; null where all its pages are as they were written. Between two steps of reading, whoever asks may rest. */
export function* checkStore(store: string): Generator<void, Failure | null> {
  try {
    const steps = checkPages(store)
    for (;;) {
      const { done, value } = steps.next()
      const pages = value?.damaged ?? []
      // Searches need not wait for the rest.
      if (pages.length > 0) return toFailure(damaged(store, pages))
      if (done) return null
      yield
    }
  } catch (error) {
    // One that was removed meanwhile is not searched either.
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? null : toFailure(error)
  }
}

/** The same without a pause. */
export const checkAtOnce = (store: string): Failure | null => {
  const steps = checkStore(store)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** What can be told of it at once. */
export const lookQuickly = (store: string): Failure | null => {
  try {
    checkQuickly(store)
    return null
  } catch (error) {
    return toFailure(error)
  }
}
