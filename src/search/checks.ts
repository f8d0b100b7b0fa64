import { ChainsieveError } from '../lib/errors.ts'
import { fromFailure } from '../lib/failure.ts'
import type { Log } from '../lib/log.ts'
import { startWorker } from '../lib/runtime.ts'
import type { Checked, CheckTask } from './check-thread.ts'
import type { Pool, PoolOptions } from './pool.ts'

export interface ChecksOptions {
  stores: PoolOptions['stores']
  /** Told of what is found damaged, once. */
  log: Log
}

/** How long an answer waits for the first check of its store: what is up to a GB or so is checked before it is searched. */
const WAIT_MS = 1_000
const DAY_MS = 86_400_000

/** A pool that answers from no store that was found damaged. Stores are checked at the start, and then once a day. */
export const checkedPool = (pool: Pool, { stores, log }: ChecksOptions): Pool => {
  const checks = startChecks(stores, log)
  const pass = (network: string): Promise<void> | undefined => {
    const store = stores(network).get(network)
    return store === undefined ? undefined : checks.pass(store)
  }
  const after =
    <T extends { network: string }, A>(ask: (request: T) => Promise<A>) =>
    async (request: T): Promise<A> => {
      const checking = pass(request.network)
      if (checking !== undefined) await checking
      return ask(request)
    }
  return {
    ...pool,
    search: after(pool.search),
    request: after(pool.request),
    suggest: after(pool.suggest),
    similar: after(pool.similar),
    get: after(pool.get),
    async ranges(network) {
      await pass(network)
      return pool.ranges(network)
    },
    async close() {
      await Promise.all([pool.close(), checks.close()])
    },
  }
}

const startChecks = (stores: PoolOptions['stores'], log: Log) => {
  const damage = new Map<string, Error>()
  const first = new Map<string, Waiting>()
  // A search tells of what cannot be listed.
  const listed = (): string[] => {
    try {
      return [...stores().values()]
    } catch {
      return []
    }
  }
  // What it has opened of a store stays open; see rawFile.
  const worker = startWorker('checker', {}, { trackUnmanagedFds: false })

  const ask = (store: string, hasteMs: number) => {
    if (!damage.has(store)) worker.postMessage({ store, hasteMs } satisfies CheckTask)
  }
  worker.on('message', ({ store, failure }: Checked) => {
    const error = failure && fromFailure(failure)
    if (error instanceof ChainsieveError && error.code === 'store_damaged') {
      damage.set(store, error)
      log.error('Answers no more from a store', { store, error })
    } else if (error) log.warn('Failed to check a store', { store, error })
    first.get(store)?.end()
  })
  worker.on('error', error => {
    for (const { end } of first.values()) end()
    log.error('Stopped checking stores, until the next start', { error })
  })
  worker.unref()

  for (const store of listed()) {
    first.set(store, waitAtMost(WAIT_MS))
    ask(store, WAIT_MS)
  }
  const daily = setInterval(() => {
    for (const store of listed()) ask(store, 0)
  }, DAY_MS)
  daily.unref()

  return {
    /** Rejects where the store was found damaged; undefined where there is nothing to wait for. */
    pass(store: string): Promise<void> | undefined {
      const waiting = first.get(store)
      if (!waiting && !damage.has(store)) return undefined
      return Promise.resolve(waiting?.until).then(() => {
        first.delete(store)
        const error = damage.get(store)
        if (error) throw error
      })
    },
    async close() {
      clearInterval(daily)
      for (const { end } of first.values()) end()
      await worker.terminate()
    },
  }
}

interface Waiting {
  until: Promise<void>
  end(): void
}

const waitAtMost = (ms: number): Waiting => {
  const { promise: until, resolve } = Promise.withResolvers<void>()
  // Not let go: the thread that checks does not keep a command alive which waits for it.
  const timer = setTimeout(resolve, ms)
  const end = () => {
    clearTimeout(timer)
    resolve()
  }
  return { until, end }
}
