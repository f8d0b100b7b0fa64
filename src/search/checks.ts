import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, type Worker } from 'node:worker_threads'
import { ChainsieveError, fromTransferredError, type TransferredError, toTransferredError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { startWorker } from '../lib/runtime.ts'
import { repeatEvery } from '../lib/scheduling/interval.ts'
import { DAY_MS } from '../lib/time.ts'
import { damagedStore, exchanged } from '../sqlite/damage.ts'
import { checkPages, checkQuickly, fileIdentity, rawFile, sizeOnDisk } from '../sqlite/verify-pages.ts'

/** Stores up to this size are checked as a whole before their first answer: some 20 ms. */
const SMALL_STORE = 24 * 2 ** 20
/** Time during which the first check of a larger store runs at full speed. */
const HASTE_MS = 1_000
/** Delay before the first check, which lets first answers go ahead. */
const CHECK_AFTER_MS = 250
/** Interval of checks that open files are still those on disk. */
const FILES_LOOK_MS = 2_000

export type StoreChecks = ReturnType<typeof startChecks>

/**
 * Checks stores at start and then daily, refuses answers from damaged ones and logs damage once.
 * Large stores answer during the check: their rows have checksums that each read verifies.
 */
export const startChecks = (stores: () => ReadonlyMap<string, string>, log: Log) => {
  const damage = new Map<string, Error>()
  const checked = new Set<string>()
  let worker: Worker | undefined
  let toCheck: CheckTask[] = []
  let starting: NodeJS.Timeout | undefined
  /** Tasks that the thread has not answered. */
  let open = 0
  // Searches report stores that cannot be listed.
  const listed = (): ReadonlyMap<string, string> => {
    try {
      return stores()
    } catch {
      return new Map()
    }
  }

  const found = (store: string, error: Error | null) => {
    if (error instanceof ChainsieveError && error.code === 'store_damaged') {
      damage.set(store, error)
      log.error('Stopped answering from a store', { store, error })
    } else if (error) log.warn('Failed to check a store', { store, error })
  }

  const start = () => {
    starting = undefined
    // Opens files before the thread starts, which can only reuse such descriptors; see rawFile.
    for (const { store } of toCheck) if (sizeOnDisk(store) > 0) rawFile(store)
    worker = startWorker('checker', {}, { trackUnmanagedFds: false })
    worker.on('message', ({ store, failure }: Checked) => {
      found(store, failure && fromTransferredError(failure))
      // An idle thread takes some 15 MB.
      if (--open === 0) stop()
    })
    worker.on('error', error => {
      log.error('Stopped checking stores until tomorrow', { error })
      worker = undefined
    })
    worker.unref()
    open = toCheck.length
    for (const task of toCheck) worker.postMessage(task)
    toCheck = []
  }
  const stop = () => {
    void worker?.terminate()
    worker = undefined
  }

  const ask = (task: CheckTask) => {
    if (damage.has(task.store)) return
    if (worker) {
      open++
      worker.postMessage(task)
      return
    }
    toCheck.push(task)
    starting ??= setTimeout(start, CHECK_AFTER_MS).unref()
  }
  const checkFirst = (store: string) => {
    checked.add(store)
    const failure = sizeOnDisk(store) > SMALL_STORE ? checkShortly(store) : checkAtOnce(store)
    found(store, failure && fromTransferredError(failure))
    if (sizeOnDisk(store) > SMALL_STORE) ask({ store, hasteMs: HASTE_MS })
  }

  /** Networks whose file was removed or replaced: connections still read the abandoned file. */
  const lost = new Map<string, Error>()
  const known = new Map<string, { store: string; identity: string }>()
  const know = (network: string, store: string) => {
    const identity = known.has(network) ? undefined : fileIdentity(store)
    if (identity !== undefined) known.set(network, { store, identity })
  }
  const lookAtFiles = () => {
    for (const [network, store] of listed()) know(network, store)
    for (const [network, { store, identity }] of known) {
      const now = fileIdentity(store)
      if (now === identity || lost.has(network)) continue
      const error = exchanged(store, now !== undefined)
      lost.set(network, error)
      log.error('Stopped answering from a store', { store, error })
    }
  }
  const looking = repeatEvery(FILES_LOOK_MS, lookAtFiles, { log, doing: 'look at the files of stores', atOnce: true })

  const atStart = new Set(listed().values())
  for (const store of atStart) if (sizeOnDisk(store) > SMALL_STORE) checkFirst(store)
  const daily = setInterval(() => {
    for (const store of listed().values()) ask({ store, hasteMs: 0 })
  }, DAY_MS)
  daily.unref()

  return {
    /** Why networks can no longer be answered: their files were removed or replaced. */
    lost: lost as ReadonlyMap<string, Error>,
    /** Throws if the store is damaged or was exchanged. */
    check(network: string, store: string | undefined) {
      if (store !== undefined) {
        know(network, store)
        // A store that is created while the program runs had no time to be damaged.
        if (atStart.has(store) && !checked.has(store)) checkFirst(store)
      }
      const error = (store && damage.get(store)) || lost.get(network)
      if (error) throw error
    },
    async close() {
      looking()
      clearInterval(daily)
      clearTimeout(starting)
      await worker?.terminate()
    },
  }
}

export interface CheckTask {
  store: string
  /** Time at full speed, in milliseconds; then the check leaves the disk idle most of the time. */
  hasteMs: number
}
/** `failure` is null if all pages are intact. */
export interface Checked {
  store: string
  failure: TransferredError | null
}
/** Share of time that a paced check uses, which leaves three quarters of some 500 MB/s. */
const DISK_SHARE = 1 / 4
/** The one thread that checks stores, one after another, while they are searched. */
export const runChecker = () => {
  let last = Promise.resolve()
  parentPort!.on('message', (task: CheckTask) => {
    last = last.then(() => checkPaced(task)).then(checked => parentPort!.postMessage(checked))
  })
}
const checkPaced = async ({ store, hasteMs }: CheckTask): Promise<Checked> => {
  const started = performance.now()
  const steps = checkStore(store)
  for (;;) {
    const begun = performance.now()
    const { done, value } = steps.next()
    if (done) return { store, failure: value }
    const now = performance.now()
    if (now - started > hasteMs) await sleep((now - begun) * (1 / DISK_SHARE - 1))
  }
}
/** Checks all pages of a store, step by step: the fault, or null. */
export function* checkStore(store: string): Generator<void, TransferredError | null> {
  try {
    const steps = checkPages(store)
    for (;;) {
      const { done, value } = steps.next()
      const pages = value?.damaged ?? []
      // Searches need not wait for the rest.
      if (pages.length > 0) return toTransferredError(damagedStore(store, pages))
      if (done) return null
      yield
    }
  } catch (error) {
    // A store removed by now is not searched either.
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? null : toTransferredError(error)
  }
}
export const checkAtOnce = (store: string): TransferredError | null => {
  const steps = checkStore(store)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}
/** A quick check. */
export const checkShortly = (store: string): TransferredError | null => {
  try {
    checkQuickly(store)
    return null
  } catch (error) {
    return toTransferredError(error)
  }
}
