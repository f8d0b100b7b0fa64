import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort } from 'node:worker_threads'
import type { Failure } from '../lib/failure.ts'
import { checkStore } from './check-store.ts'

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
