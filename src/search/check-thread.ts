import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort } from 'node:worker_threads'
import { type Failure, toFailure } from '../lib/failure.ts'
import { damaged } from '../sqlite/damage.ts'
import { checkPages } from '../sqlite/pages.ts'

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
  try {
    const pages = await walk(store, hasteMs)
    return { store, failure: pages.length > 0 ? toFailure(damaged(store, pages)) : null }
  } catch (error) {
    // One that was removed meanwhile is not searched either.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { store, failure: null }
    return { store, failure: toFailure(error) }
  }
}

const walk = async (store: string, hasteMs: number): Promise<number[]> => {
  const steps = checkPages(store)
  const started = performance.now()
  for (;;) {
    const begun = performance.now()
    const { done, value } = steps.next()
    if (done) return value?.damaged ?? []
    // Searches need not wait for the rest.
    if (value.damaged.length > 0) return value.damaged
    const now = performance.now()
    if (now - started > hasteMs) await sleep((now - begun) * (1 / SHARE - 1))
  }
}
